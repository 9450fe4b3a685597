import { globSync, readFileSync } from 'node:fs'
import { functionRows } from '../../infra/definitions/functions.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { newBucket } from '../../sandbox/aws/bucket.ts'
import { type Entry, noJournal } from '../../sandbox/aws/journal.ts'
import { answerCalls, perform, refuseCalls } from '../../sandbox/aws/sdk.ts'
import type { Change, Item } from '../../sandbox/aws/table/change.ts'
import { newTable } from '../../sandbox/aws/table/table.ts'
import { loadFunctions, loadWith } from '../../sandbox/function-host.ts'
import type { Finding } from '../../shared/domain/operator/finding.ts'
import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { real } from '../../shared/runtime.ts'
import { keyOf } from './table-exports.ts'

/** Transactions of which a replica of the table has received some items only, and their failover. */

const WRITES = /\b(?:transact|transactWrites)\(|new TransactWriteCommand\(/

/** Returns `FILE:LINE` of each place of the service that writes a transaction. */
export const transactionSites = (): string[] =>
  globSync('shared/**/*.ts')
    .filter((file) => !file.endsWith('store/transactions.ts'))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, index) => (WRITES.test(line) ? [`${file}:${index + 1}`] : [])),
    )

type WrittenItem = { Item?: Item; Key?: Item }

/** Records the place of each transaction that the service writes from now on. */
export const recordSites = (): ReadonlySet<string> => {
  const sites = new Set<string>()
  refuseCalls(({ constructor: { name }, input }) => {
    const { TransactItems = [] } = input as { TransactItems?: Record<string, WrittenItem>[] }
    // One write is all or none.
    if (name === 'TransactWriteCommand' && TransactItems.length > 1) {
      const frames = (new Error().stack ?? '').split('\n')
      const frame =
        frames.find((one) => /shared\/(?!store\/(?:transactions|conflicts))/.test(one)) ?? ''
      sites.add(/shared\/[\w/.-]+:\d+/.exec(frame)?.[0] ?? frame)
    }
    return undefined
  })
  return sites
}

/** A transaction with the items before it. Its kind has a word for each item, such as `+debit`. */
export type Transaction = {
  kind: string
  at: number
  before: Map<string, Item>
  changes: readonly Change[]
}

const nameOf = ({ before, after }: Change): string => {
  const { entity, sk } = (after ?? before) as Item
  const sign = before ? (after ? '~' : '-') : '+'
  return `${sign}${entity ?? sk.split('#')[0]}`
}

/** The debits of a batch after the first one are torn together. */
const groupsOf = (changes: readonly Change[]): Change[][] => {
  const [debits, others] = [true, false].map((isDebit) =>
    changes.filter((change) => (nameOf(change) === '~debit') === isDebit),
  ) as [Change[], Change[]]
  const [first, ...rest] = debits
  return [
    ...others.map((one) => [one]),
    ...(first ? [[first]] : []),
    ...(rest.length > 0 ? [rest] : []),
  ]
}

const namesOf = (groups: readonly (readonly Change[])[]): string =>
  groups.map((group) => `${group.map(nameOf)[0]}${group.length > 1 ? 's' : ''}`).join(' ')

const apply = (items: Map<string, Item>, changes: readonly Change[]): void => {
  for (const { before, after } of changes) {
    if (after) items.set(keyOf(after), after)
    else items.delete(keyOf(before as Item))
  }
}

/** Returns the last transaction of each kind in a journal. */
export const transactionsIn = (entries: readonly Entry[]): Transaction[] => {
  const items = new Map<string, Item>()
  const byKind = new Map<string, Transaction>()
  for (const entry of entries) {
    if ('item' in entry) items.set(keyOf(entry.item), entry.item)
    if (!('changes' in entry)) continue
    const { changes } = entry
    const kind = namesOf(groupsOf(changes))
    const at = changes[0]?.at ?? 0
    if (changes.length > 1) byKind.set(kind, { kind, at, before: new Map(items), changes })
    apply(items, changes)
  }
  return [...byKind.values()]
}

type TornState = { missing: string; items: Map<string, Item> }

/**
 * Returns each state of a replica that lacks some groups of a transaction, and what it lacks.
 * `whole`: with all and with none of it.
 */
export const tornStates = ({ before, changes }: Transaction) => {
  const groups = groupsOf(changes)
  const without = (missing: readonly Change[][]) => {
    const items = new Map(before)
    apply(items, groups.filter((group) => !missing.includes(group)).flat())
    return { missing: namesOf(missing), items }
  }
  const subsets = Array.from({ length: 2 ** groups.length }, (_, bits) =>
    groups.filter((_group, index) => bits & (1 << index)),
  )
  const whole: [TornState, TornState] = [without([]), without(groups)]
  return { whole, torn: subsets.slice(1, -1).map(without) }
}

const FAILOVER = ['manage-restore', 'manage-debit', 'manage-reconciliation']
const rows = functionRows.filter(({ name }) => FAILOVER.includes(name))

/** Items that the failover itself writes, derived lists, and records of changes. */
const UNCOMPARED = /^(?:RESTORE|RECONCILIATION|LEDGER|FEED|SWEEP|WINDOW|CHANGES)/

const MINUTE_MS = 60_000

type Failover = { items: Map<string, Item>; at: number; providers: readonly string[]; from: Day }

/**
 * Runs the failover on the items of a replica, up to the release: a new generation, repair and
 * reconciliation of each day.
 * @returns what it reports, and the items after it
 */
export const failOver = async ({ items, at, providers, from }: Failover) => {
  const now = new Date(at + MINUTE_MS)
  const options = { definition: tableDefinition, name: String(process.env.TABLE_NAME) }
  const table = newTable({ ...options, now: () => now.getTime() })
  for (const item of items.values()) table.restore(item, item, 0)
  const { calls } = newBucket(noJournal)
  answerCalls(({ constructor: { name }, input }) =>
    perform(() => {
      const call = (calls as unknown as Record<string, (input: object) => object>)[name]
      // Consumers of the queues run after the release.
      return call
        ? call(input)
        : /^SendMessage/.test(name)
          ? { Successful: [] }
          : table.run(name, input)
    }),
  )
  const host = await loadFunctions(rows, loadWith({ ...real, now: () => now }))
  const reports = new Set<string>()
  const call = async (noun: string, verb: string, options: object): Promise<unknown> => {
    const reply = (await host.invoke(`manage-${noun}`, { verb, options })) as OperatorReply
    if ('error' in reply) throw new Error(`${noun} ${verb}: ${reply.error}`)
    return reply.result
  }
  await call('restore', 'begin', { generation: '2' })
  for (let date = from; date <= dayOf(now); date = dayAfter(date)) {
    for (const provider of providers.filter((id) =>
      items.has(keyOf({ pk: `PROVIDER#${id}`, sk: 'PROVIDER' })),
    ))
      await call('debit', 'repair', { provider, date })
    const run = await call('reconciliation', 'run', { date })
    for (const { number, examples } of (run as { invariants: Finding[] }).invariants)
      for (const { difference } of examples) reports.add(`${number}: ${difference}`)
  }
  const compared = [...table.items()].filter(({ pk }) => !UNCOMPARED.test(pk))
  const state = compared.map((item) => JSON.stringify({ ...item, revision: null })).sort()
  return { reports: [...reports], state: state.join('\n') }
}
