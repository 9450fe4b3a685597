import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { debitLine } from '../../shared/domain/settlement/line.ts'
import type { Day } from '../../shared/domain/time.ts'
import { type Invariant, invariants } from '../../shared/reconciliation/invariants.ts'
import { real } from '../../shared/runtime.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { type Key, keys } from '../../shared/store/keys.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { toBatchItem, toLineItem } from '../../shared/store/settlement/batch-item.ts'
import { put, table, tableName } from '../../shared/store/table.ts'
import { demoProvider, gcb, NOON } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  at,
  attempted,
  batchOf,
  charged,
  completed,
  DAY_AFTER,
  damage,
  demo,
  differencesOn,
  type ExampleDay,
  exampleDay,
  lateCompletionOf,
  other,
  TODAY,
  TOMORROW,
  transitioned,
} from './one-day.ts'

beforeEach(useFreshTable)

/** Stores a sealed batch with one line and its sums. */
const plantBatch = async (debit: Debit, date: Day): Promise<void> => {
  const line = debitLine({ ...debit, history: withCompletion(debit) }, undefined)
  const sealedAt = at(date, '00:00:20')
  const { gross, fee, net } = line
  const totals = { count: 1, debits: 1, gross, fee, adjustments: 0 as typeof net, net }
  const batch = { ...batchOf(date), sealedAt, reportedAt: sealedAt, totals }
  await put(keys.batch(batch.id), 'batch', toBatchItem(batch))
  await put(keys.line(batch.id, 'debit', line.reference), 'line', toLineItem(batch.id, line))
}

const withCompletion = ({ history }: Debit): Debit['history'] => [
  ...history,
  { type: 'completed', at: NOON, by: 'bank:GCB', requestId: 'r', changes: {} },
]

const debitKey = ({ facts }: Debit): Key => keys.debit(facts.reference)
const lineKey = (batch: Batch['id'], { facts }: Debit): Key =>
  keys.line(batch, 'debit', facts.reference)
const recordOf = ({ facts, history }: Debit): Key =>
  keys.delivery(facts.reference, history.length - 1)

const remove = async (Key: Key): Promise<void> => {
  await table.send(new DeleteCommand({ TableName: tableName(), Key }))
}

const removeFromIndex = (debit: Debit): Promise<void> =>
  damage(debitKey(debit), 'REMOVE #work, due')

const complete = (batch: Batch['id'], payment: object): Promise<void> =>
  damage(
    keys.batch(batch),
    'SET #status = :status, paid = :paid, offsets = :offsets, processedAt = :at, completedAt = :at, bankReference = :reference',
    {
      status: 'completed',
      at: `${DAY_AFTER}T00:00:02.000Z`,
      reference: 'GCB-PAY-1',
      ...payment,
    },
  )

const appendEntry = (debit: Debit, type: string, by: string): Promise<void> =>
  damage(
    debitKey(debit),
    'SET #history = list_append(#history, :entries), #status = :type, #version = #version + :one',
    { entries: [{ type, at: NOON.getTime() + 700_000, by, rid: 'r' }], type, one: 1 },
  )

type Fault = [
  number: Invariant,
  name: string,
  plant: (day: ExampleDay) => Promise<unknown>,
  // `also`: another invariant that the same fault breaks.
  options?: { date?: Day; now?: Date; also?: Invariant },
]

const faults: Fault[] = [
  [
    1,
    'an amount other than the accepted one',
    ({ otherFailed }) =>
      damage(keys.uuid(otherFailed.facts.uuid), 'SET amount = :amount', { amount: 1 }),
  ],
  [1, 'a missing debit', ({ otherFailed }) => remove(debitKey(otherFailed))],
  [
    1,
    'an unreadable debit',
    ({ otherFailed }) => damage(debitKey(otherFailed), 'SET metadata = :no', { no: '{' }),
  ],
  [
    1,
    'a line of a missing debit',
    ({ otherSettled }) => remove(debitKey(otherSettled)),
    { date: TOMORROW },
  ],
  [4, 'an open debit after its timeouts', () => charged({ provider: other })],
  [
    4,
    'a late outcome',
    async () => transitioned(await charged({ provider: other }), 'failed', at(TODAY, '12:12:01')),
  ],
  [
    5,
    'a reversal of a failed debit',
    ({ otherFailed }) => appendEntry(otherFailed, 'reversed', 'operator'),
  ],
  [
    6,
    'a failure after a completion',
    ({ otherSettled }) => appendEntry(otherSettled, 'failed', 'bank:GCB'),
  ],
  [9, 'a uuid that points to nothing', ({ done }) => remove(keys.uuid(done.facts.uuid))],
  [
    9,
    'a uuid of two debits',
    ({ done, otherFailed }) =>
      damage(debitKey(otherFailed), 'SET #uuid = :uuid', { uuid: done.facts.uuid }),
  ],
  [
    9,
    'a malformed reference',
    () => charged({ provider: other, reference: 'DCS-20261121-lower1' as never }).then(end),
  ],
  [
    10,
    "a provider's reference that points to another debit",
    ({ done, declined: { facts } }) =>
      damage(
        keys.partnerReference(facts.provider, facts.partnerReference),
        'SET #reference = :reference',
        { reference: done.facts.reference },
      ),
  ],
  [
    12,
    'a change without an event',
    ({ done }) => damage(debitKey(done), 'SET #version = #version + :one', { one: 1 }),
  ],
  [
    12,
    'a status without an event',
    ({ otherFailed }) => damage(debitKey(otherFailed), 'SET #status = :no', { no: 'pending' }),
  ],
  [
    13,
    'a record of another event',
    ({ done }) => damage(recordOf(done), 'SET event = :event', { event: 'failed' }),
  ],
  [
    13,
    'an attempt count that is not the last number',
    ({ done }) => damage(recordOf(done), 'SET attemptCount = :two', { two: 2 }),
  ],
  [15, 'an event that was never tried', ({ done }) => remove(recordOf(done))],
  [
    15,
    'an overdue attempt',
    async () => {
      const failing = await transitioned(await charged(), 'failed', at(TODAY, '12:02:00'))
      await attempted(failing, [503])
    },
  ],
  [
    15,
    'more attempts than allowed',
    ({ done }) => damage(recordOf(done), 'SET attemptsMax = :two', { two: 2 }),
  ],
  [
    20,
    'a total that is not the sum',
    () => damage(keys.dayTotal(demo, TODAY), 'SET amountTotal = :no', { no: 1 }),
  ],
  [20, 'a missing total', () => remove(keys.dayTotal(demo, TODAY))],
  [
    20,
    'a sum over the limit',
    () =>
      changeProvider(
        demoProvider.id,
        () => ({ ...demoProvider, dailyLimit: pesewas(199_99) }),
        noWrites,
        real,
      ),
  ],
  [
    22,
    'an unsettled completed debit',
    async ({ done }) => {
      await damage(debitKey(done), 'SET #version = #version - :one REMOVE settledIn', { one: 1 })
    },
  ],
  [22, 'a missing line', ({ done, batch }) => remove(lineKey(batch, done))],
  [22, 'a second line', ({ done }) => plantBatch(done, TODAY)],
  [
    22,
    'an unsettled completed debit of another day',
    () => completed({ provider: other }),
    { date: DAY_AFTER },
  ],
  [
    22,
    'a debit completed after midnight that the index lost',
    async () => {
      const debit = await charged({ provider: other }, at(TODAY, '23:58:00'))
      const done = await transitioned(debit, 'completed', at(TOMORROW, '00:03:00'))
      await removeFromIndex(done)
    },
    { date: TOMORROW, now: at(DAY_AFTER, '02:00:01') },
  ],
  [23, 'a line of a failed debit', ({ otherFailed }) => plantBatch(otherFailed, TODAY)],
  [
    23,
    'a line of a debit reversed before',
    ({ reversedEarly }) => plantBatch(reversedEarly, TOMORROW),
    { date: TOMORROW },
  ],
  [
    24,
    'a total that is not the sum of the lines',
    ({ batch }) => damage(keys.batch(batch), 'SET totals.fee = :fee', { fee: 7 }),
    { date: TOMORROW },
  ],
  [
    24,
    'a net that is not gross less fee',
    ({ batch, done }) => damage(lineKey(batch, done), 'SET net = :net', { net: 1 }),
    { date: TOMORROW },
  ],
  [
    25,
    'an amount other than the completed one',
    ({ batch, done }) => damage(lineKey(batch, done), 'SET gross = :gross', { gross: 99_99 }),
  ],
  [
    26,
    'a line missing from a sealed batch',
    ({ batch, done }) => remove(lineKey(batch, done)),
    { date: TOMORROW, also: 22 },
  ],
  [
    26,
    'a payout above the net',
    ({ batch }) =>
      damage(keys.batch(batch), 'SET #status = :status, paid = :paid', {
        status: 'processing',
        paid: 999_99,
      }),
    { date: TOMORROW },
  ],
  [
    26,
    'an offset of a missing batch',
    ({ batch }) =>
      complete(batch, {
        paid: 18_50,
        offsets: [{ batch: 'STL-20261120-NOSUCH', amount: 81_50 }],
      }),
    { date: TOMORROW },
  ],
  [
    26,
    'an offset of a batch above zero',
    ({ batch, otherBatch }) =>
      complete(batch, { paid: 18_50, offsets: [{ batch: otherBatch, amount: 81_50 }] }),
    { date: TOMORROW },
  ],
  [
    26,
    'an outstanding amount of zero without offsets',
    ({ below }) => damage(keys.batch(below), 'SET outstanding = :none', { none: 0 }),
    { date: DAY_AFTER },
  ],
  [
    26,
    'an outstanding amount that ignores an offset',
    ({ batch, below }) =>
      complete(batch, { paid: 90_00, offsets: [{ batch: below, amount: 10_00 }] }),
    { date: DAY_AFTER },
  ],
  [
    26,
    'an offsetting batch that does not name the offset',
    ({ below, batch }) =>
      damage(
        keys.batch(below),
        'SET #status = :completed, outstanding = :none, offsetBy = :batch, completedAt = :at',
        { completed: 'completed', none: 0, batch, at: `${DAY_AFTER}T01:00:00.000Z` },
      ),
    { date: DAY_AFTER },
  ],
  [
    26,
    'a payout in progress for weeks',
    ({ batch }) =>
      damage(keys.batch(batch), 'SET #status = :processing, paid = :paid, processedAt = :at', {
        processing: 'processing',
        paid: 100_00,
        at: `${DAY_AFTER}T00:00:01.000Z`,
      }),
    { date: '2026-12-10' as Day, now: at('2026-12-11' as Day, '02:00:00') },
  ],
  [
    26,
    'a failed payout without a retry',
    ({ batch }) =>
      damage(keys.batch(batch), 'SET #status = :failed, failedAt = :at', {
        failed: 'failed',
        at: `${DAY_AFTER}T00:00:02.000Z`,
      }),
    { date: DAY_AFTER },
  ],
  [
    26,
    'a due batch that the index lost',
    ({ batch }) =>
      damage(keys.batch(batch), 'SET outstanding = :none REMOVE #work, due', { none: 0 }),
    { date: '2026-11-30' as Day, now: at('2026-12-01' as Day, '02:00:00') },
  ],
  [
    27,
    'a reversed debit without an adjustment',
    ({ reversed }) =>
      damage(debitKey(reversed), 'SET #version = #version - :one REMOVE adjustedIn', { one: 1 }),
  ],
  [
    27,
    'a missing adjustment line',
    ({ reversed, below }) => remove(keys.line(below, 'adjustment', reversed.facts.reference)),
  ],
  [
    27,
    'an adjustment of a completed debit',
    ({ reversed }) => damage(debitKey(reversed), 'SET #status = :status', { status: 'completed' }),
    { date: DAY_AFTER },
  ],
  [
    27,
    'a debit reversed two days later that the index lost',
    async ({ otherSettled }) => {
      await transitioned(otherSettled, 'reversed', at(DAY_AFTER, '09:00:00'))
      await removeFromIndex(otherSettled)
    },
    { date: DAY_AFTER },
  ],
  [
    29,
    'a wrong fee in totals that match it',
    async ({ otherBatch, otherSettled }) => {
      const key = lineKey(otherBatch, otherSettled)
      await damage(key, 'SET fee = :fee, net = :net', { fee: 40_00, net: 60_00 })
      await damage(keys.batch(otherBatch), 'SET totals.fee = :fee, totals.net = :net', {
        fee: 41_50,
        net: 158_50,
      })
    },
    { date: TOMORROW },
  ],
  [
    29,
    'a fee of another schedule',
    ({ batch }) =>
      damage(keys.batch(batch), 'SET feeSchedule = :schedule', {
        schedule: { basisPoints: 150, fixed: 0 },
      }),
    { date: TOMORROW },
  ],
  [
    31,
    'a late completion of a completed debit',
    ({ done }) => putException(lateCompletionOf(done, NOON)),
  ],
  [
    33,
    'a change without a request',
    ({ done }) => damage(debitKey(done), 'REMOVE #history[0].rid'),
  ],
  [
    33,
    'a change by another bank',
    ({ done }) => damage(debitKey(done), 'SET #history[2].#by = :by', { by: 'bank:ECO' }),
  ],
  [
    39,
    'a reversed debit without a refund',
    ({ reversed }) => remove(keys.refund(reversed.facts.reference)),
  ],
  [
    39,
    'a refund of another amount',
    ({ reversed }) =>
      damage(keys.refund(reversed.facts.reference), 'SET amount = :one', { one: 1 }),
    { date: TOMORROW },
  ],
  [
    39,
    'a refund in progress for three days',
    ({ reversed }) =>
      damage(
        keys.refund(reversed.facts.reference),
        'SET #status = :processing, byStatus = :due, byTime = :since, processedAt = :since',
        { processing: 'processing', due: keys.refunds('due'), since: `${TODAY}T09:00:00.000Z` },
      ),
    { now: at(DAY_AFTER, '12:00:00') },
  ],
  [
    40,
    'a funding that the cash does not include',
    () =>
      put(keys.funding(gcb.identifier, 'R-1'), 'funding', {
        bank: 'GCB',
        reference: 'R-1',
        amount: 100,
        date: TODAY,
        recordedAt: NOON.toISOString(),
        recordedBy: 'local:ama',
      }),
  ],
]

/** Returns all items except the balances that reconciliation stores. */
const readTable = async () =>
  (
    await table.send(new ScanCommand({ TableName: tableName(), ConsistentRead: true }))
  ).Items?.filter(({ entity }) => entity !== 'ledger')

/** Ends a debit, so that its timeout is not a second fault. */
const end = (debit: Debit) => transitioned(debit, 'failed', at(TODAY, '12:02:00'))

describe('a fault in the table', () => {
  test.each(faults)('breaks only invariant %i: %s', async (number, _, plant, options = {}) => {
    await plant(await exampleDay())
    // Most faults change the ledger, too.
    const found = (await differencesOn(options.date ?? TODAY, options.now)).filter(
      (finding) => finding.number === number || finding.number !== 40,
    )
    const expected = options.also ? [options.also, number] : [number]
    expect(found.map((finding) => finding.number)).toEqual(expected)
    const [example] = found[0]?.examples ?? []
    expect(example).toMatchObject({
      ...(number === 40 ? {} : { provider: expect.stringMatching(/^(?:demo|other)$/) }),
      subject: expect.stringMatching(/^(?:DCS|STL)-|^2026-11-/),
      difference: expect.not.stringContaining('undefined'),
    })
  })

  test('exists for each invariant', () => {
    const tested = new Set(faults.map(([number]) => number))
    expect(Object.keys(invariants).map(Number)).toEqual([...tested].sort((a, b) => a - b))
  })

  test('is not repaired', async () => {
    const { done } = await exampleDay()
    await damage(debitKey(done), 'SET #version = #version + :one', { one: 1 })
    const damaged = await readTable()
    expect(await differencesOn(TODAY)).toHaveLength(1)
    expect(await readTable()).toEqual(damaged)
  })
})
