import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { violationsOf } from '../../proofs/simulation/invariants/all.ts'
import { kindOf } from '../../proofs/simulation/invariants/raw-items.ts'
import type { Change, Item } from '../../sandbox/aws/table/change.ts'
import type { Changes, Debit, Facts } from '../../shared/domain/debits/debit.ts'
import { exceptionKinds, type ReportException } from '../../shared/domain/debits/exception.ts'
import { statuses } from '../../shared/domain/debits/lifecycle.ts'
import { type Refund, refundStatuses } from '../../shared/domain/debits/refund.ts'
import type { FeeSchedule } from '../../shared/domain/providers/fee-schedule.ts'
import {
  type Batch,
  batchStatuses,
  type Line,
  type Totals,
} from '../../shared/domain/settlement/batch.ts'
import type { Funding } from '../../shared/domain/settlement/funding.ts'
import type { Day } from '../../shared/domain/time.ts'
import type { Attempt } from '../../shared/domain/webhooks/attempt.ts'
import { type Delivery, deliveryStatuses } from '../../shared/domain/webhooks/delivery.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import type { writeEntry } from '../../shared/store/debits/debit-item.ts'
import { tableName } from '../../shared/store/table.ts'
import { observe } from '../proofs/simulation/observe.ts'
import type { Any, Run } from '../proofs/simulation/observed-run.ts'
import { still } from '../support/examples.ts'
import { type Field, fieldsIn, replaced, wrongValues } from '../support/falsify.ts'
import { useTable } from '../support/tables.ts'

const COMPARED = 'the reconciliation or the ledger compares it'
const INDEX = 'it places the item in a list'
const LOCK = 'it counts writes for the optimistic lock'
const KEY =
  'the bank deduplicates by it: the simulator compares it with the requests to banks (26, 39)'
const SAID =
  'only its bank knows it: the simulator compares it with the reports and replies (14, 31, 45)'
const HTTP = 'it describes one request: the simulator compares it with the requests (13, 17, 33)'
const CHOSEN =
  'operators may change it: the simulator compares it with the settings of the time (16, 41)'
const RESTORED = 'only restores write it'
const PARTLY = 'the reconciliation compares it where another item repeats it'
const SHOWN = 'people read it, and nothing follows from it'
const USE = 'it counts use or bounds the lifetime: no money depends on it'

type Rows = Readonly<Record<string, string>>
type Reasons = Readonly<Record<string, readonly string[]>>
type Words<T extends string> = T extends `${infer W} ${infer Rest}` ? W | Words<Rest> : T
type Missing<Names, R extends Reasons> = Exclude<Names, Words<R[keyof R][number]>>

/** Returns the reason of each field, by its path. A missing name of the type does not compile. */
const rows =
  <Names extends string = never>(prefix = '') =>
  <const R extends Reasons>(
    reasons: [Missing<Names, R>] extends [never] ? R : { missing: Missing<Names, R> },
  ): Rows =>
    Object.fromEntries(
      Object.entries(reasons as Reasons).flatMap(([reason, paths]) =>
        paths
          .flatMap((path) => path.split(' '))
          .filter((path) => path !== '')
          .map((path) => [prefix + path, reason]),
      ),
    )

type Column = Exclude<keyof Line, 'type' | 'net'>
const COLUMNS = ['reference partnerReference bankReference bank completedAt gross fee'] as const

/** By kind of item. */
const fields: Record<string, Rows> = {
  debit: {
    ...rows<Exclude<keyof Facts, 'uuid'>>()({
      [COMPARED]: [
        'reference provider partnerReference bank.identifier phone amount narration metadata',
        'countedOn byTime',
      ],
      [INDEX]: ['byStatus byCustomer'],
      'a bank may be renamed': ['bank bank.name'],
      [CHOSEN]: ['providerName'],
      [USE]: ['expiresAt'],
    }),
    ...rows<Exclude<keyof Debit, 'facts' | 'settledChunk' | 'adjustedChunk'>>()({
      [COMPARED]: [
        'status version history settledIn adjustedIn approval approval.by approval.rid',
        'reversalRequest reversalRequest.rid',
      ],
      'it is not an event': ['approval.at reversalRequest.at reversalRequest.by'],
      'no debit of the day is erased': ['erasedAt'],
    }),
    ...rows<keyof ReturnType<typeof writeEntry>>('history.')({
      [COMPARED]: ['type at by rid set'],
      [RESTORED]: ['gen'],
    }),
    ...rows<keyof Changes>('history.set.')({
      [COMPARED]: ['fee'],
      [PARTLY]: ['bankReference accountNumber metadata refund'],
      [SAID]: ['approvalMethod errorMessage errorCode customerName'],
    }),
  },
  claim: rows()({ [COMPARED]: ['reference request'] }),
  'day total': rows()({
    [COMPARED]: ['amountTotal'],
    [USE]: ['expiresAt charges invalidAccounts refusedPrompts unwantedPrompts'],
  }),
  lines: {
    ...rows()({ [COMPARED]: ['debits adjustments'], [USE]: ['linesInLane'] }),
    ...rows<Column>('debits.')({ [COMPARED]: COLUMNS }),
    ...rows<Column>('adjustments.')({ [COMPARED]: COLUMNS }),
  },
  batch: {
    ...rows<keyof Batch>()({
      [COMPARED]: [
        'id provider currency date status createdAt sealedAt completedFrom reportedAt processedAt',
        'completedAt failedAt failure bankReference paid paidTo outstanding offsets offsetBy totals',
        'feeSchedule byStatus payOn',
      ],
      [INDEX]: ['byTime work due n'],
      [KEY]: ['uuid attempt failed'],
      [CHOSEN]: ['paidTo.bank paidTo.accountNumber paidTo.accountName'],
      [RESTORED]: ['generation completedGeneration'],
      [USE]: ['lanes sentAt'],
      'only an operator knows it': ['paidBy'],
      [LOCK]: ['version'],
    }),
    ...rows<keyof FeeSchedule>('feeSchedule.')({
      [COMPARED]: ['basisPoints fixed minimum maximum'],
    }),
    ...rows<keyof Totals>('totals.')({ [COMPARED]: ['count debits gross fee adjustments net'] }),
  },
  refund: rows<keyof Refund>()({
    [COMPARED]: [
      'reference debitUuid provider bank amount debitBankReference accountNumber origin reason status',
      'createdAt processedAt completedAt failedAt failure bankReference byStatus',
    ],
    [INDEX]: ['byTime'],
    [CHOSEN]: ['providerName'],
    [KEY]: ['uuid failed'],
    [USE]: ['sentAt notedAt expiresAt'],
    [LOCK]: ['version'],
  }),
  exception: rows<keyof ReportException>()({
    [COMPARED]: ['reference kind provider bank amount by status'],
    [INDEX]: ['byStatus byTime'],
    [HTTP]: ['requestId at'],
    [SAID]: ['code report'],
    [USE]: ['expiresAt'],
    [SHOWN]: ['details details.status request request.kind request.respondBy'],
    'an operator decided it, and the ledger compares the amount': [
      'resolvedAt resolvedBy note isAccepted',
    ],
  }),
  delivery: {
    ...rows<keyof Delivery>()({
      [COMPARED]: [
        'reference n provider event occurredAt status attemptCount last nextAttemptAt deliveredAt',
        'failedAt',
      ],
      [RESTORED]: ['generation'],
      [CHOSEN]: ['attemptsMax'],
      'several values are correct': ['reason autoRetries'],
      [USE]: ['expiresAt'],
    }),
    ...rows<keyof Attempt>('last.')({
      [COMPARED]: ['number at responseCode cause'],
      [PARTLY]: ['milliseconds'],
      [HTTP]: ['id sentAs'],
      [SHOWN]: ['sentAt address responseBody'],
    }),
  },
  receipt: {
    ...rows()({ [COMPARED]: ['reference provider events'], [USE]: ['expiresAt'] }),
    ...rows('events.')({ [COMPARED]: ['n event occurredAt'], [CHOSEN]: ['attemptsMax'] }),
    ...rows<Exclude<keyof Attempt, 'number' | 'cause'>>('events.attempt.')({
      [COMPARED]: ['at responseCode'],
      [HTTP]: ['id milliseconds sentAs'],
      [SHOWN]: ['sentAt address responseBody'],
    }),
  },
  attempt: {
    ...rows()({ [HTTP]: ['n'], [USE]: ['expiresAt'] }),
    ...rows<keyof Attempt>('attempt.')({
      [HTTP]: ['id number at sentAs responseCode'],
      [SHOWN]: ['sentAt milliseconds address responseBody cause'],
    }),
  },
  'feed-page': rows()({
    'the simulator compares the feed with the events (14)': ['entries'],
    [INDEX]: ['page lastAt'],
    [USE]: ['expiresAt'],
  }),
  'missed-account': rows()({ [USE]: ['expiresAt'] }),
  funding: rows<keyof Funding>()({
    [COMPARED]: ['amount corrections'],
    'it is the word of an operator': ['bank reference date recordedAt recordedBy'],
  }),
  ledger: rows()({ [COMPARED]: ['balances day'] }),
  funds: rows()({ [COMPARED]: ['cash'] }),
}

/** Kinds without money, or that a later version of the table computes again. */
const OTHERS = new Set([
  ...'credential sweep account provider payee webhook webhook-health bank connector'.split(' '),
  ...'access change hash-key window'.split(' '),
])

const STATUSES: Record<string, readonly string[]> = {
  debit: statuses,
  exception: statuses,
  batch: Object.keys(batchStatuses),
  refund: Object.keys(refundStatuses),
  delivery: Object.keys(deliveryStatuses),
}

const DAYS = ['2026-11-23', '2026-11-22', '2026-11-21', '2026-11-20'] as Day[]
const runtime = still({ now: () => new Date('2026-11-24T12:00:00.000Z'), newId: randomUUID })

const kindIn = (item: Item): string => {
  const kind = kindOf(item)
  return kind === 'another' ? String(item.entity ?? item.pk.split('#')[0]?.toLowerCase()) : kind
}

let observed: Run
let items: Item[] = []

beforeAll(async () => {
  observed = (await observe())()
  // A receipt without events has nothing that a view shows.
  items = observed.items.filter(
    (item: Any) => !kindIn(item).startsWith('reconciliation') && item.events?.length !== 0,
  )
}, 120_000)

/** Replaces the texts of lines by rows with columns, or back. */
const withRows = (item: Item, change: (rows: unknown) => unknown): Item => ({
  ...item,
  ...Object.fromEntries(
    ['debits', 'adjustments'].flatMap((type) => (type in item ? [[type, change(item[type])]] : [])),
  ),
})

const columns = COLUMNS[0].split(' ')

const readRows = (item: Item): Item =>
  withRows(item, (text) =>
    String(text)
      .split('\n')
      .map((row) =>
        Object.fromEntries(JSON.parse(row).map((cell: unknown, n: number) => [columns[n], cell])),
      ),
  )

const writeRows = (item: Item): Item =>
  withRows(item, (rows) =>
    (rows as object[]).map((row) => JSON.stringify(Object.values(row))).join('\n'),
  )

/** The accounts of a ledger are not known before. */
const reasonOf = (kind: string, path: string): string | undefined =>
  fields[kind]?.[path.replace(/^balances\..*/, 'balances')]

const hasDifferences = async (all: readonly Item[]): Promise<boolean> => {
  const table = useTable()
  for (const Item of all) table.run('PutCommand', { TableName: tableName(), Item })
  // The newest day first: a run leaves the balances that the next one begins with.
  for (const date of DAYS) {
    const result = await reconcile(date, runtime)
    if ('differences' in result && result.differences > 0) return true
  }
  return false
}

/** Returns copies of an item, each with another wrong value of a field. */
const falsified = (item: Item, { place, path, value }: Field): Item[] => {
  const others = path === 'status' || path === 'kind' ? STATUSES[kindIn(item)] : undefined
  const values = path === 'kind' ? Object.keys(exceptionKinds) : (others ?? wrongValues(value))
  // A key of an index and an entry of a list are texts.
  const isText = /^(?:by[A-Z]|work|due)/.test(path) || typeof place.at(-1) === 'number'
  return values
    .filter((wrong) => wrong !== value && !(wrong === null && isText))
    .map((wrong) => writeRows(replaced(readRows(item), place, wrong)))
}

const isReported = async (item: Item, field: Field): Promise<boolean> => {
  for (const wrong of falsified(item, field)) {
    const all = items.map((one) => (one === item ? wrong : one))
    // A run that cannot end has an alarm.
    if (await hasDifferences(all).catch(() => true)) return true
  }
  return false
}

/** Changes the item and the last write of it. */
const isNoticed = (item: Item, field: Field): boolean =>
  falsified(item, field).some((wrong) => {
    const replace = (one: Item) => (one.pk === item.pk && one.sk === item.sk ? wrong : one)
    const last = observed.changes.findLast(({ after }: Change) => after && replace(after) === wrong)
    const changes = observed.changes.map((change: Change) =>
      change === last ? { ...change, after: wrong } : change,
    )
    return violationsOf({ ...observed, items: observed.items.map(replace), changes }).length > 0
  })

test('the reconciliation finds nothing in a correct run', async () => {
  expect(await hasDifferences(items)).toBe(false)
})

test('each kind of stored item has a row for each field, or no money', () => {
  const unknown = items.flatMap((item) => {
    const kind = kindIn(item)
    if (OTHERS.has(kind)) return []
    return [...fieldsIn(readRows(item))].flatMap(({ path }) =>
      /^(?:pk|sk|entity|version)$/.test(path) || reasonOf(kind, path) ? [] : [`${kind} ${path}`],
    )
  })
  expect([...new Set(unknown)]).toEqual([])
})

test('each change of one field is reported, except those with a reason', async () => {
  const reported = new Map<string, boolean>()
  for (const item of items) {
    const kind = kindIn(item)
    for (const field of fieldsIn(readRows(item))) {
      const name = `${kind} ${field.path}`
      const known = `${name} ${item.status ?? ''} ${item.kind ?? ''}`
      if (reasonOf(kind, field.path) !== COMPARED || reported.has(known)) continue
      reported.set(known, await isReported(item, field))
    }
  }
  expect([...reported].filter(([, isOk]) => !isOk).map(([known]) => known)).toEqual([])
}, 120_000)

test('each field that the simulator is said to compare is noticed by one of its invariants', () => {
  const noticed = new Map<string, boolean>()
  for (const item of items) {
    const kind = kindIn(item)
    for (const field of fieldsIn(readRows(item))) {
      const name = `${kind} ${field.path}`
      if (noticed.get(name) || !reasonOf(kind, field.path)?.includes('the simulator')) continue
      noticed.set(name, isNoticed(item, field))
    }
  }
  expect([...noticed].filter(([, isOk]) => !isOk).map(([name]) => name)).toEqual([])
}, 120_000)
