import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, test } from 'vitest'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { addLine, type Batch, noTotals } from '../../shared/domain/settlement/batch.ts'
import { debitLine } from '../../shared/domain/settlement/line.ts'
import type { Day } from '../../shared/domain/time.ts'
import { invariants } from '../../shared/reconciliation/findings.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { type Key, keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { chunkId, toChunkItem } from '../../shared/store/settlement/chunk-item.ts'
import { keyOf, put, readCollection, remove, table, tableName } from '../../shared/store/table.ts'
import { fund } from '../settlement/one-provider.ts'
import { alterRow, FEE, GROSS } from '../support/chunk-rows.ts'
import { demoProvider, NOON } from '../support/examples.ts'
import { storeProvider } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  alter,
  at,
  attempted,
  batchOf,
  charged,
  completed,
  DAY_AFTER,
  demo,
  differencesOn,
  type ExampleDay,
  exampleDay,
  lateCompletionOf,
  other,
  removeFromIndex,
  overwrite as set,
  TODAY,
  TOMORROW,
  transitioned,
} from './one-day.ts'

beforeEach(useFreshTable)

/** Stores a sealed batch with one line and its sums. */
const plantBatch = async (debited: Debit, date: Day): Promise<void> => {
  const completion = { type: 'completed', at: NOON, by: 'bank:GCB', requestId: 'r' } as const
  const history = [...debited.history, { ...completion, changes: {} }]
  const line = debitLine({ ...debited, history }, undefined)
  const sealedAt = at(date, '00:00:20')
  const totals = addLine(noTotals, line)
  const batch = { ...batchOf(date), sealedAt, reportedAt: sealedAt, totals }
  await put(keys.batch(batch.id), 'batch', toBatchItem(batch))
  const id = chunkId(0, 1)
  const chunk = toChunkItem(batch.id, { id, lines: [line], linesInLane: 1 })
  await put(keys.chunk(batch.id, id), 'lines', chunk)
}

const debit = ({ facts }: Debit): Key => keys.debit(facts.reference)
const refund = ({ facts }: Debit): Key => keys.refund(facts.reference)
const batchKey = (id: string): Key => keys.batch(id as Batch['id'])
/** Changes the row of a line. Without a new row, removes it. */
const alterLine = async (
  batch: Batch['id'],
  { facts }: Debit,
  change: Parameters<typeof alterRow>[2],
  type: 'debits' | 'adjustments' = 'debits',
): Promise<void> => {
  for (const chunk of await readCollection(keys.chunks(batch))) {
    if (!chunk[type]) continue
    await alter(keyOf(chunk), (item) =>
      Object.assign(item, { [type]: alterRow(item[type], facts.reference, change) }),
    )
  }
}

const removeLine = (batch: Batch['id'], one: Debit, attribute?: 'adjustments') =>
  alterLine(batch, one, () => undefined, attribute)
const record = ({ facts, history }: Debit): Key =>
  keys.delivery(facts.reference, history.length - 1)

const skipVersion = (one: Debit): Promise<void> =>
  alter(debit(one), (item) => Object.assign(item, { version: item.version + 1 }))

const unlink = (one: Debit, attribute: 'settledIn' | 'adjustedIn'): Promise<void> =>
  alter(debit(one), (item) =>
    Object.assign(item, { version: item.version - 1, [attribute]: undefined }),
  )

const complete = (batch: string, paid: number, other: string, amount: number) => {
  const when = `${DAY_AFTER}T00:00:02.000Z`
  const end = { processedAt: when, completedAt: when, bankReference: 'GCB-PAY-1', paid }
  return set(batchKey(batch), { ...end, status: 'completed', offsets: [{ batch: other, amount }] })
}

const appendEntry = (one: Debit, type: string, by: string): Promise<void> =>
  alter(debit(one), (item) => {
    item.history.push({ type, at: NOON.getTime() + 700_000, by, rid: 'r' })
    Object.assign(item, { status: type, version: item.version + 1 })
  })

/** Returns a fault for each member of a row that repeats its debit, and for both kinds of lines. */
const repeated = (): Changes =>
  Object.fromEntries(
    Object.entries({
      "provider's reference": [1, 'another'],
      "bank's reference": [2, 'GCB-9'],
      bank: [3, 'ECO'],
      'completion time': [4, NOON.getTime()],
    }).flatMap(([name, [index, value]]) => [
      [
        `50 a line with another ${name}`,
        (d: ExampleDay) => alterLine(d.batch, d.done, (row) => row.with(index as number, value)),
      ],
      [
        `50 an adjustment with another ${name}`,
        (d: ExampleDay) =>
          alterLine(d.below, d.reversed, (row) => row.with(index as number, value), 'adjustments'),
      ],
    ]),
  )

const linesOf = (faults: Changes, type: 'line' | 'adjustment'): Changes =>
  Object.fromEntries(Object.entries(faults).filter(([name]) => name.includes(type)))

const alterAdjustment = (
  { below, reversed }: ExampleDay,
  change: Parameters<typeof alterRow>[2],
): Promise<void> => alterLine(below, reversed, change, 'adjustments')

/** Ends a debit, so that its timeout is not a second fault. */
const end = (one: Debit) => transitioned(one, 'failed', at(TODAY, '12:02:00'))

const chargeOther = (when?: Date) => charged({ provider: other }, when)

type Changes = Record<string, (day: ExampleDay) => Promise<unknown>>

/** The reconciled day, and changes with the invariants that they break. */
const faults: [date: Day, changes: Changes, now?: Date][] = [
  [
    TODAY,
    {
      '1 an amount other than the accepted one': (d) => set(debit(d.otherFailed), { amount: 1 }),
      '1 a missing debit': (d) => remove(debit(d.otherFailed)),
      '1 an unreadable debit': (d) => set(debit(d.otherFailed), { metadata: '{' }),
      '4 an open debit after its timeouts': () => chargeOther(),
      '4 a late outcome': async () =>
        transitioned(await chargeOther(), 'failed', at(TODAY, '12:12:01')),
      '5 a reversal of a failed debit': (d) => appendEntry(d.otherFailed, 'reversed', 'operator'),
      '6 a failure after a completion': (d) => appendEntry(d.otherSettled, 'failed', 'bank:GCB'),
      '9 a malformed reference': () =>
        charged({ provider: other, reference: 'DCS-20261121-lower1' as never }).then(end),
      "10 a provider's reference that points to another debit": ({ done, declined: { facts } }) =>
        set(keys.partnerReference(facts.provider, facts.partnerReference), {
          reference: done.facts.reference,
        }),
      '12 a change without an event': (d) => skipVersion(d.done),
      '12 a status without an event': (d) => set(debit(d.otherFailed), { status: 'pending' }),
      '13 a record of another event': (d) => set(record(d.done), { event: 'failed' }),
      '13 an attempt count that is not the last number': (d) =>
        set(record(d.done), { attemptCount: 2 }),
      '15 an event that was never tried': (d) => remove(record(d.done)),
      '15 an overdue attempt': async () => attempted(await end(await charged()), [503]),
      '15 more attempts than allowed': (d) => set(record(d.done), { attemptsMax: 2 }),
      '20 a total that is not the sum': () => set(keys.dayTotal(demo, TODAY), { amountTotal: 1 }),
      '20 a total above the sum': () => set(keys.dayTotal(demo, TODAY), { amountTotal: 1e9 }),
      '20 a missing total': () => remove(keys.dayTotal(demo, TODAY)),
      '20 a sum over the limit': () =>
        storeProvider({ ...demoProvider, dailyLimit: pesewas(199_99) }),
      '22 an unsettled completed debit': (d) => unlink(d.done, 'settledIn'),
      '22 a missing line': (d) => removeLine(d.batch, d.done),
      '22 a second line': (d) => plantBatch(d.done, TODAY),
      '23 a line of a failed debit': (d) => plantBatch(d.otherFailed, TODAY),
      '25 an amount other than the completed one': (d) =>
        alterLine(d.batch, d.done, (row) => row.with(GROSS, 99_99)),
      '27 a reversed debit without an adjustment': (d) => unlink(d.reversed, 'adjustedIn'),
      '27 a missing adjustment line': ({ reversed, below }) =>
        removeLine(below, reversed, 'adjustments'),
      '27 an adjustment with another fee': (d) =>
        alterAdjustment(d, (row) => row.with(FEE, row[FEE] + 1)),
      '27 an adjustment with another amount and the same net': (d) =>
        alterAdjustment(d, (row) => row.with(GROSS, row[GROSS] + 1).with(FEE, row[FEE] + 1)),
      ...repeated(),
      '31 a late completion of a completed debit': (d) =>
        putException(lateCompletionOf(d.done, NOON)),
      '31 a request for a reversal that is lost': ({ done }) =>
        alter(debit(done), (item) => {
          item.reversalRequest = { at: NOON.getTime(), by: 'provider:demo', rid: 'r' }
          item.version += 1
        }),
      // The hash in the claim needs the id of the charge's request.
      '1,33 a change without a request': (d) => set(debit(d.done), { 'history.0.rid': undefined }),
      '33 a change by another bank': (d) => set(debit(d.done), { 'history.2.by': 'bank:ECO' }),
      '39 a reversed debit without a refund': (d) => remove(refund(d.reversed)),
      '40 a funding that the cash does not include': () =>
        fund(1_00, NOON, { reference: 'R-1' }).then(() => set(keys.funds, { cash: 0 })),
    },
  ],
  [
    TOMORROW,
    {
      '1 a line of a missing debit': (d) => remove(debit(d.otherSettled)),
      '22,26 a line missing from a sealed batch': (d) => removeLine(d.batch, d.done),
      '23 a line of a debit reversed before': (d) => plantBatch(d.reversedEarly, TOMORROW),
      '24 a total that is not the sum of the lines': (d) =>
        set(batchKey(d.batch), { 'totals.fee': 7 }),
      '26 a payout above the net': (d) =>
        set(batchKey(d.batch), { status: 'processing', paid: 999_99 }),
      '26 an offset of a missing batch': (d) =>
        complete(d.batch, 18_50, 'STL-20261120-NOSUCH', 81_50),
      '26 an offset of a batch above zero': (d) => complete(d.batch, 18_50, d.otherBatch, 81_50),
      '29 a wrong fee in totals that match it': async ({ otherBatch, otherSettled }) => {
        await alterLine(otherBatch, otherSettled, (row) => row.with(FEE, 40_00))
        await set(batchKey(otherBatch), { 'totals.fee': 41_50, 'totals.net': 158_50 })
      },
      ...linesOf(repeated(), 'line'),
      '29 a fee of another schedule': (d) =>
        set(batchKey(d.batch), { feeSchedule: { basisPoints: 150, fixed: 0 } }),
      '39 a refund of another amount': (d) => set(refund(d.reversed), { amount: 1 }),
    },
  ],
  [
    DAY_AFTER,
    {
      '24 a total of a batch that is sealed and paid on a later day': (d) => {
        const sealedAt = `${DAY_AFTER}T12:00:00.000Z`
        const when = `${DAY_AFTER}T13:00:00.000Z`
        const end = { processedAt: when, completedAt: when, bankReference: 'GCB-PAY-1' }
        const paidTo = { bank: 'GCB', accountNumber: '1041001001', accountName: 'Demo' }
        const payout = { status: 'completed', paid: 100_00, paidTo, 'totals.fee': 7 }
        return set(batchKey(d.batch), { sealedAt, reportedAt: sealedAt, ...end, ...payout })
      },
      '39 a debit of an earlier day reversed without a refund': (d) => remove(refund(d.reversed)),
      '39 a failed refund without an exception': ({ reversed }) => {
        const end = { failedAt: `${TOMORROW}T09:00:00.000Z`, failure: 'No', completedAt: null }
        const index = { byStatus: keys.refunds('due'), bankReference: null }
        return set(refund(reversed), { status: 'failed', ...end, ...index })
      },
      '22 an unsettled completed debit of another day': () => completed({ provider: other }),
      '26 an outstanding amount of zero without offsets': (d) =>
        set(batchKey(d.below), { outstanding: 0 }),
      '26 an outstanding amount that ignores an offset': (d) =>
        complete(d.batch, 90_00, d.below, 10_00),
      '26 an offsetting batch that does not name the offset': ({ below, batch }) => {
        const offset = { status: 'completed', outstanding: 0, offsetBy: batch }
        return set(batchKey(below), { ...offset, completedAt: `${DAY_AFTER}T01:00:00.000Z` })
      },
      '26 a failed payout without a retry': (d) =>
        set(batchKey(d.batch), { status: 'failed', failedAt: `${DAY_AFTER}T00:00:02.000Z` }),
      ...linesOf(repeated(), 'adjustment'),
      '24,27 an adjustment with another fee, checked by its batch': (d) =>
        alterAdjustment(d, (row) => row.with(FEE, row[FEE] + 1)),
      '27 an adjustment of a completed debit': (d) =>
        set(debit(d.reversed), { status: 'completed' }),
      '27 a debit reversed two days later that the index lost': async ({ otherSettled }) => {
        await transitioned(otherSettled, 'reversed', at(DAY_AFTER, '09:00:00'))
        await removeFromIndex(otherSettled)
      },
    },
  ],
  [
    TOMORROW,
    {
      '22 a debit completed after midnight that the index lost': async () => {
        const late = await chargeOther(at(TODAY, '23:58:00'))
        await removeFromIndex(await transitioned(late, 'completed', at(TOMORROW, '00:03:00')))
      },
    },
    at(DAY_AFTER, '02:00:01'),
  ],
  [
    '2026-12-10' as Day,
    {
      '26 a payout in progress for weeks': ({ batch }) => {
        const processedAt = `${DAY_AFTER}T00:00:01.000Z`
        return set(batchKey(batch), { status: 'processing', paid: 100_00, processedAt })
      },
      '26 a due batch that the index lost': ({ batch }) =>
        set(batchKey(batch), { outstanding: 0, work: undefined, due: undefined }),
    },
    at('2026-12-11' as Day, '02:00:00'),
  ],
  [
    TODAY,
    {
      '39 a refund in progress for three days': ({ reversed }) => {
        const since = `${TODAY}T09:00:00.000Z`
        const index = { byStatus: keys.refunds('due'), byTime: since }
        return set(refund(reversed), { status: 'processing', processedAt: since, ...index })
      },
    },
    at(DAY_AFTER, '12:00:00'),
  ],
]

const rows = faults.flatMap(([date, changes, now]) =>
  Object.entries(changes).map(([name, plant]) => {
    const [numbers = ''] = name.split(' ')
    return { name, expected: numbers.split(',').map(Number), date, now, plant }
  }),
)

test.each(rows)('a fault breaks only invariant $name', async ({ expected, date, now, plant }) => {
  await plant(await exampleDay())
  // Most faults change the ledger, too.
  const differences = (await differencesOn(date, now)).filter(
    ({ number }) => number !== 40 || expected.includes(40),
  )
  expect(differences.map(({ number }) => number)).toEqual(expected)
  const [example] = differences[0]?.examples ?? []
  expect(example).toMatchObject({
    ...(expected.includes(40) ? {} : { provider: expect.stringMatching(/^(?:demo|other)$/) }),
    subject: expect.stringMatching(/^(?:DCS|STL)-|^2026-11-/),
    difference: expect.not.stringContaining('undefined'),
  })
})

test('each invariant has a fault', () => {
  const tested = new Set(rows.flatMap(({ expected }) => expected))
  expect(Object.keys(invariants).map(Number)).toEqual([...tested].sort((a, b) => a - b))
})

test('the reconciliation repairs nothing', async () => {
  /** All items except those that reconciliation stores. */
  const readTable = async () => {
    const scan = new ScanCommand({ TableName: tableName(), ConsistentRead: true })
    return (await table.send(scan)).Items?.filter(
      ({ pk }) => !/^(?:LEDGER|RECONCILIATION#)/.test(pk),
    )
  }
  const { done } = await exampleDay()
  await skipVersion(done)
  const damaged = await readTable()
  expect(await differencesOn(TODAY)).toHaveLength(1)
  expect(await readTable()).toEqual(damaged)
})
