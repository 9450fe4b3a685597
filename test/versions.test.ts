import { readFileSync } from 'node:fs'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import * as v from 'valibot'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LATER, REPLACED } from '../proofs/simulation/invariants/operations.ts'
import { loadFunctions } from '../sandbox/function-host.ts'
import { afterReply } from '../shared/domain/banks/health.ts'
import { sendRefund } from '../shared/domain/debits/refund.ts'
import { debitUuid } from '../shared/domain/ids.ts'
import { openDay } from '../shared/ledger/day.ts'
import { scopeOf } from '../shared/operator/bulk.ts'
import { messages, type QueueName } from '../shared/queues/messages.ts'
import { putAccount } from '../shared/store/banks/banks.ts'
import { bankHealth, changeBankHealth } from '../shared/store/banks/health.ts'
import { listStatements } from '../shared/store/banks/statements.ts'
import { waitingPages } from '../shared/store/banks/waiting.ts'
import { findBankDebit, findByOwnReference } from '../shared/store/debits/debits.ts'
import { findLaterErasure } from '../shared/store/debits/later-erasures.ts'
import { findRefund, replaceRefund } from '../shared/store/debits/refunds.ts'
import { accessPages } from '../shared/store/operator/accesses.ts'
import { claimApproval, finishApproval } from '../shared/store/operator/approvals.ts'
import { listOutcomes } from '../shared/store/operator/bulks.ts'
import { findCustomerHash } from '../shared/store/operator/customer-hash.ts'
import { findRestore } from '../shared/store/operator/restores.ts'
import { leasedCounter } from '../shared/store/rate-limit.ts'
import { findBatch, replaceBatch } from '../shared/store/settlement/batches.ts'
import { acquireLanes, findBuild } from '../shared/store/settlement/build-lease.ts'
import { findFunds } from '../shared/store/settlement/funding.ts'
import { findClosing, putClosing } from '../shared/store/settlement/ledger-days.ts'
import { linesOf } from '../shared/store/settlement/lines.ts'
import {
  completePart,
  endRun,
  findPart,
  findRun,
} from '../shared/store/settlement/reconciliations.ts'
import { findSweepProgress, putSweepProgress, sweptBefore } from '../shared/store/sweep-progress.ts'
import { type Item, keyOf, read, table, tableName } from '../shared/store/table.ts'
import { findAttempt, findDelivery, replaceDelivery } from '../shared/store/webhooks/deliveries.ts'
import { changeHealth } from '../shared/store/webhooks/health.ts'
import { findRecovery, putPage } from '../shared/store/webhooks/recoveries.ts'
import { still } from './support/examples.ts'
import { listNewest } from './support/newest-events.ts'
import { useFreshTable } from './support/tables.ts'

/**
 * Two versions run at the same time (docs/architecture.md#two-versions-run-at-the-same-time).
 * `test/versions` has one item of each kind, one message of each queue, and their views, of an
 * earlier version.
 */

const NOW = new Date('2026-11-22T18:00:00.000Z')
const PHONE = '+233244444444'
const runtime = still({ now: () => NOW })
Object.assign(process.env, { SEALING_KEY: 'sandbox', LOCAL_PEERS: '127.0.0.1' })
beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

// biome-ignore lint/suspicious/noExplicitAny: stored items and views have any members
type Any = any
type StoredItem = Item & { pk: string; sk: string }

const stored = (name: string): Any => JSON.parse(readFileSync(`test/versions/${name}.json`, 'utf8'))

const items: StoredItem[] = stored('items')
const itemAt = (sk: string): Any => items.find((item) => item.sk.startsWith(sk))
const [settled, open] = items
  .filter(({ sk }) => sk === 'DEBIT')
  .map(({ reference }): Any => reference)
const provider = itemAt('PROVIDER').id
const batch = itemAt('BATCH').id
const recovery = itemAt('RECOVERY').id
const uuid = debitUuid(settled)

const functions = await loadFunctions()

const operate = async (noun: string, verb: string, options: object): Promise<unknown> => {
  const event = { verb, options, actor: 'arn:aws:iam::111111111111:user/kofi' }
  const reply: Any = await functions.invoke(`manage-${noun}`, event)
  if (reply.error) throw new Error(`${noun} ${verb}: ${reply.error}`)
  return reply.result
}

/** The beginning of the id of the stored request for approval. */
const APPROVAL = '20261122T'

const load = async (more: object = {}): Promise<void> => {
  await useFreshTable()
  for (const item of items) {
    await table.send(new PutCommand({ TableName: tableName(), Item: { ...item, ...more } }))
  }
}

/** Reads each kind of item as the code does. */
const views: Record<string, () => Promise<unknown>> = {
  debit: () => operate('debit', 'show', { reference: settled }),
  openDebit: () => operate('debit', 'show', { reference: open }),
  delivery: () => operate('delivery', 'list', { reference: settled }),
  attempt: async () => findAttempt({ ...(await delivery()), last: null } as Any, 1),
  exception: () => operate('exception', 'show', { reference: settled }),
  refund: () => findRefund(settled),
  uuid: async () => (await findBankDebit(itemAt('DEBIT').bank.identifier, uuid))?.facts.reference,
  claim: async () => (await findByOwnReference(provider, 'golden-1'))?.facts.reference,
  limits: async () => {
    const { daily_limit, overrides }: Any = await operate('limit', 'show', { provider })
    return { daily_limit, overrides }
  },
  provider: () => operate('provider', 'show', { provider }),
  webhook: () => operate('webhook', 'show', { provider }),
  recovery: () => findRecovery(provider, recovery),
  feed: () => listNewest(provider, 10),
  credential: () => operate('credential', 'list', { provider }),
  bank: () => operate('bank', 'show', { bank: 'GOLD' }),
  connector: () => operate('connector', 'show', { bank: 'GOLD' }),
  health: () => bankHealth('HLTH', NOW),
  waiting: () => Array.fromAsync(waitingPages('GOLD', { after: new Date(0), pageSize: 10 })),
  access: async () => {
    const pages = accessPages('4zq8m1T0xYb2kLwVnR7d9A', { from: '0', before: '9999' })
    return (await Array.fromAsync(pages))
      .flat()
      .map(({ access: { at, by, noun, verb } }) => ({ ...{ at, by, noun, verb } }))
  },
  laterErasure: () => findLaterErasure(keyOf(itemAt('LATER'))),
  customer: () => operate('customer', 'list', { phone: PHONE }),
  batch: () => operate('settlement', 'show', { batch }),
  lines: () => Array.fromAsync(linesOf(batch)),
  build: () => findBuild(provider, itemAt('BUILD').date),
  funding: () => operate('funding', 'list', {}),
  calendar: () => operate('calendar', 'show', { year: '2026' }),
  statements: () => listStatements(itemAt('2026-11-20#GOLD').date),
  funds: () => findFunds(),
  reconciliation: () => findRun('2026-11-21'),
  reconciliationPart: () => findPart('2026-11-21', 'golden'),
  ledger: () => findClosing(itemAt('2026-11-21').day),
  sweep: async () => sweptBefore(await findSweepProgress(), provider),
  restore: () => findRestore(),
  approval: () => operate('approval', 'list', {}),
  bulk: async () => {
    const { bulk } = itemAt('PART#000000')
    return { scope: await scopeOf(bulk), outcomes: [...(await listOutcomes(bulk))] }
  },
  change: () => operate('change', 'list', {}),
  hashKey: () => findCustomerHash(PHONE),
}
const delivery = async (): Promise<Any> => findDelivery(settled, 0)

const withoutLater = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, member) => (name in LATER ? undefined : member)))

const show = async (): Promise<Any> => {
  const shown: Record<string, unknown> = {}
  for (const [name, view] of Object.entries(views)) shown[name] = await view()
  return JSON.parse(JSON.stringify(shown))
}

/** Updates the item whose sort key begins with the name, as the code does. */
const updates: Record<string, () => Promise<unknown>> = {
  DEBIT: () => failOpen(),
  DAY: () => failOpen(),
  DELIVERY: async () =>
    replaceDelivery(await delivery(), { ...(await delivery()), attemptsMax: 9 }),
  EXCEPTION: () => operate('exception', 'resolve', { reference: settled, note: 'Agreed' }),
  REFUND: async () => {
    const refund: Any = await findRefund(settled)
    return replaceRefund(refund, sendRefund(refund, NOW), [], runtime)
  },
  WEBHOOK: async () => {
    await operate('webhook', 'rotate-secret', { provider })
    await operate('webhook', 'set', { provider, url: 'http://127.0.0.1:9/renamed' })
  },
  WEBHOOK_HEALTH: () => changeHealth(provider, (health) => ({ ...health, slowSince: NOW })),
  RECOVERY: async () => {
    const started: Any = await findRecovery(provider, recovery)
    return putPage({ ...started, page: started.page + 1 })
  },
  PROVIDER: () => operate('provider', 'update', { provider, name: 'Renamed' }),
  GOLD: () => operate('bank', 'update', { bank: 'GOLD', name: 'Renamed' }),
  CONNECTOR: () =>
    operate('bank', 'update', { bank: 'GOLD', 'connector-url': 'http://127.0.0.1:9/new' }),
  CREDENTIAL: () => operate('credential', 'revoke', { id: itemAt('CREDENTIAL').pk.split('#')[1] }),
  BATCH: async () => {
    const found: Any = await findBatch(batch)
    return replaceBatch(found, found)
  },
  BUILD: () => acquireLanes(itemAt('BUILD'), runtime),
  HLTH: () =>
    changeBankHealth(
      itemAt('HLTH').sk,
      (health) => afterReply(health, { at: NOW, isPrompt: true }),
      NOW,
    ),
  RUN: async () => endRun((await findRun('2026-11-21')) as Any, NOW),
  PART: async () =>
    completePart(
      (await findPart('2026-11-21', 'golden')) as Any,
      { findings: '{}', rest: [] },
      runtime,
    ),
  FUNDS: () =>
    operate('funding', 'record', {
      ...{ bank: 'GOLD', amount: '1.00', reference: 'R', date: '2026-11-21' },
    }),
  RESTORE: () => operate('restore', 'release', {}),
  [itemAt(APPROVAL).sk]: () =>
    operate('approval', 'deny', { id: itemAt(APPROVAL).sk, reason: 'No' }),
  WINDOW: () => {
    const [, operation, owner, start] = itemAt('WINDOW').pk.split('#')
    return leasedCounter()(`${operation}#${owner}`, 500, new Date(start * 1_000))
  },
}

/** Replaces derived items, and accounts, which only operators write. */
const replacements: typeof updates = {
  PAYEE: () => operate('provider', 'update', { provider, 'settlement-account': 'none' }),
  [itemAt('2026-11-21').sk]: () => putClosing({ day: itemAt('2026-11-21').day, balances: {} }),
  SWEEP: () => putSweepProgress({ until: NOW, behind: new Map() }),
  ACCOUNT: () => {
    const { customerName, accountType, status } = itemAt('ACCOUNT')
    const account = { customerName, accountNumber: '1041001999', accountType, status }
    return putAccount(PHONE, 'GCB', account, () => [], runtime)
  },
}

const failOpen = () =>
  operate('debit', 'fail', { reference: open, 'bank-reference': 'B', reason: 'R' })

/** Updates an item that a later version wrote, and returns it. */
const updatedBy = async (sk: string, update: () => Promise<unknown>): Promise<Any> => {
  await load(LATER)
  const item = items.find((one) => one.sk.startsWith(sk) && one.reference !== settled) ?? itemAt(sk)
  const key = { pk: item.pk, sk: item.sk }
  const before = await read(key)
  await update()
  const after = await read(key)
  expect(after).not.toEqual(before)
  return after
}

test('every kind of item in docs/table.md has a stored item', () => {
  const rows = readFileSync('docs/table.md', 'utf8').matchAll(
    /^\| [\w ]+ \| `([A-Z][^`]+)`, `([^`]+)`/gm,
  )
  const patterns = [...rows].map(([, pk = '', sk = '']) =>
    [pk, sk].map((key) => `${key.replaceAll(/<[^>]+>/g, '[^#]+')}(?:#[^#]+)*`).join(' '),
  )
  const keys = items.map(({ pk, sk }) => `${pk} ${sk}`)
  const missing = patterns.filter((one) => !keys.some((key) => new RegExp(`^${one}$`).test(key)))
  expect(patterns.length).toBeGreaterThan(25)
  expect(missing).toEqual([])
})

test('the items of an earlier version are shown as that version showed them', async () => {
  await load()
  expect(await show()).toMatchObject(stored('views'))
})

test('an attribute of a later version changes no view and is shown to no operator', async () => {
  await load()
  const shown = await show()
  await load(LATER)
  const later = await show()
  expect(withoutLater(later)).toEqual(shown)
  const withIt = Object.keys(later).filter((name) =>
    JSON.stringify(later[name]).includes('addedLater'),
  )
  // Read from the store, where an object keeps unknown attributes.
  expect(withIt).toEqual([
    'refund',
    'recovery',
    'health',
    'build',
    'statements',
    'reconciliation',
    'reconciliationPart',
    'ledger',
    'restore',
  ])
})

test('an exception of a kind of a later version is shown and noted, and allows no refund', async () => {
  await load()
  const kind = 'later_kind'
  const exception = { ...itemAt('EXCEPTION'), kind }
  await table.send(new PutCommand({ TableName: tableName(), Item: exception }))
  const shown = [{ reference: settled, kind, meaning: null }]
  expect(await operate('exception', 'list', {})).toMatchObject(shown)
  await expect(operate('exception', 'refund', { reference: settled })).rejects.toThrow(
    'no open exception of this debit allows a refund',
  )
  const { entries } = await openDay(exception.at.slice(0, 10))
  const types = (await Array.fromAsync(entries)).map(({ type }) => type)
  expect(types).toEqual(['completion', 'fees', 'reversal', 'refund'])
  const noted = await operate('exception', 'resolve', { reference: settled, note: 'Agreed' })
  expect(noted).toMatchObject([{ ...shown[0], note: 'Agreed' }])
})

test('a granted call that an earlier version has made and not ended is neither made nor ended again', async () => {
  const { sk: id } = itemAt(APPROVAL)
  const until = new Date(NOW.getTime() + 1_000)
  const outcomes = async (more: object) => {
    await load({ decision: 'granted', ...more })
    const claimed = await claimApproval({ id, claim: 'worker', at: NOW, until })
    return [claimed, await finishApproval({ id }, { doneAt: NOW }, runtime)]
  }
  expect(await outcomes({})).toEqual([true, true])
  expect(await outcomes({ hasEffect: true })).toEqual([false, false])
})

test.each(Object.entries(updates))('an update of %s keeps unknown attributes', async (...row) => {
  expect(await updatedBy(...row)).toMatchObject(LATER)
})

test('the simulator lets the replaced items lose unknown attributes, and no updated one', () => {
  const isReplaced = (sk: string): boolean => REPLACED.has(itemAt(sk).entity)
  expect(Object.keys(updates).filter(isReplaced)).toEqual([])
  expect(Object.keys(replacements).filter((sk) => !isReplaced(sk))).toEqual([])
})

test.each(Object.entries(replacements))(
  'a replacement of %s keeps no attribute of a later version',
  async (...row) => {
    expect(await updatedBy(...row)).not.toMatchObject(LATER)
  },
)

test.each(Object.keys(messages) as QueueName[])(
  'a message of %s is read with and without a field of a later version',
  (queue) => {
    const message = stored('messages')[queue]
    expect(v.parse(messages[queue], message)).toEqual(message)
    expect(v.parse(messages[queue], { ...message, ...LATER })).toEqual(message)
  },
)
