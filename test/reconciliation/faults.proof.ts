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
  type ADay,
  aDay,
  at,
  batchOf,
  charged,
  completed,
  DAY_AFTER,
  damage,
  demo,
  differences,
  lateCompletionOf,
  moved,
  other,
  TODAY,
  TOMORROW,
  told,
} from './one-day.ts'

/** Whatever is planted in the table itself is found, and by the one invariant that it breaks. */

beforeEach(useFreshTable)

/** One sealed batch with one line, and sums that fit it. */
const plantBatch = async (debit: Debit, date: Day): Promise<void> => {
  const line = { ...debitLine({ ...debit, history: withCompletion(debit) }, undefined) }
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

/** The index does not show it to any run. */
const loseItsPlace = (debit: Debit): Promise<void> => damage(debitKey(debit), 'REMOVE #work, due')

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
  what: string,
  plant: (day: ADay) => Promise<unknown>,
  // `also`: another invariant that the same fault breaks.
  looked?: { date?: Day; now?: Date; also?: Invariant },
]

const faults: Fault[] = [
  [
    1,
    'another amount than was accepted',
    ({ otherFailed }) =>
      damage(keys.uuid(otherFailed.facts.uuid), 'SET amount = :amount', { amount: 1 }),
  ],
  [1, 'a debit that is gone', ({ otherFailed }) => remove(debitKey(otherFailed))],
  [
    1,
    'a debit that cannot be read',
    ({ otherFailed }) => damage(debitKey(otherFailed), 'SET metadata = :no', { no: '{' }),
  ],
  [
    1,
    'a line of a debit that is gone',
    ({ otherSettled }) => remove(debitKey(otherSettled)),
    { date: TOMORROW },
  ],
  [4, 'an open debit whose clocks have run out', () => charged({ provider: other })],
  [
    4,
    'an outcome that came late',
    async () => moved(await charged({ provider: other }), 'failed', at(TODAY, '12:12:01')),
  ],
  [
    5,
    'a reversal of what had failed',
    ({ otherFailed }) => appendEntry(otherFailed, 'reversed', 'operator'),
  ],
  [
    6,
    'a failure after a completion',
    ({ otherSettled }) => appendEntry(otherSettled, 'failed', 'bank:GCB'),
  ],
  [9, 'a uuid that points nowhere', ({ done }) => remove(keys.uuid(done.facts.uuid))],
  [
    9,
    'a uuid of two debits',
    ({ done, otherFailed }) =>
      damage(debitKey(otherFailed), 'SET #uuid = :uuid', { uuid: done.facts.uuid }),
  ],
  [
    9,
    'a reference of another shape',
    () => charged({ provider: other, reference: 'DCS-20261121-lower1' as never }).then(end),
  ],
  [
    10,
    "a provider's reference of another debit",
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
    'a status that no event led to',
    ({ otherFailed }) => damage(debitKey(otherFailed), 'SET #status = :no', { no: 'pending' }),
  ],
  [
    13,
    'a record of another event',
    ({ done }) => damage(recordOf(done), 'SET event = :event', { event: 'failed' }),
  ],
  [
    13,
    'an attempt that was not counted',
    ({ done }) => damage(recordOf(done), 'SET attemptCount = :two', { two: 2 }),
  ],
  [15, 'an event that was never tried', ({ done }) => remove(recordOf(done))],
  [
    15,
    'an attempt that is long overdue',
    async () => {
      const failing = await moved(await charged(), 'failed', at(TODAY, '12:02:00'))
      await told(failing, [503])
    },
  ],
  [
    15,
    'more attempts than are allowed',
    ({ done }) => damage(recordOf(done), 'SET attemptsMax = :two', { two: 2 }),
  ],
  [
    20,
    'a total that is not the sum',
    () => damage(keys.dayTotal(demo, TODAY), 'SET amountTotal = :no', { no: 1 }),
  ],
  [20, 'a total that is gone', () => remove(keys.dayTotal(demo, TODAY))],
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
    'a completed debit that no run has settled',
    async ({ done }) => {
      await damage(debitKey(done), 'SET #version = #version - :one REMOVE settledIn', { one: 1 })
    },
  ],
  [22, 'a line that is gone', ({ done, batch }) => remove(lineKey(batch, done))],
  [22, 'a second line', ({ done }) => plantBatch(done, TODAY)],
  [
    22,
    'a completed debit of another day that no run has settled',
    () => completed({ provider: other }),
    { date: DAY_AFTER },
  ],
  [
    22,
    'a debit charged before midnight and completed after it, whose place was lost',
    async () => {
      const debit = await charged({ provider: other }, at(TODAY, '23:58:00'))
      const done = await moved(debit, 'completed', at(TOMORROW, '00:03:00'))
      await loseItsPlace(done)
    },
    { date: TOMORROW, now: at(DAY_AFTER, '02:00:01') },
  ],
  [23, 'a line of a failed debit', ({ otherFailed }) => plantBatch(otherFailed, TODAY)],
  [
    23,
    'a line of a debit that was reversed before',
    ({ takenBackEarly }) => plantBatch(takenBackEarly, TOMORROW),
    { date: TOMORROW },
  ],
  [
    24,
    'a sum that is not that of its lines',
    ({ batch }) => damage(keys.batch(batch), 'SET totals.fee = :fee', { fee: 7 }),
    { date: TOMORROW },
  ],
  [
    24,
    'a line whose net is not its gross less its fee',
    ({ batch, done }) => damage(lineKey(batch, done), 'SET net = :net', { net: 1 }),
    { date: TOMORROW },
  ],
  [
    25,
    'another amount than was completed',
    ({ batch, done }) => damage(lineKey(batch, done), 'SET gross = :gross', { gross: 99_99 }),
  ],
  [
    26,
    'a line that left a sealed batch',
    ({ batch, done }) => remove(lineKey(batch, done)),
    // The debit of the day before has no line any more.
    { date: TOMORROW, also: 22 },
  ],
  [
    26,
    'more paid than its net',
    ({ batch }) =>
      damage(keys.batch(batch), 'SET #status = :status, paid = :paid', {
        status: 'processing',
        paid: 999_99,
      }),
    { date: TOMORROW },
  ],
  [
    26,
    'a payment that makes good a batch that does not exist',
    ({ batch }) =>
      complete(batch, {
        paid: 18_50,
        offsets: [{ batch: 'STL-20261120-NOSUCH', amount: 81_50 }],
      }),
    { date: TOMORROW },
  ],
  [
    26,
    'a payment that makes good a batch that is not below zero',
    ({ batch, otherBatch }) =>
      complete(batch, { paid: 18_50, offsets: [{ batch: otherBatch, amount: 81_50 }] }),
    { date: TOMORROW },
  ],
  [
    26,
    'a batch below zero of which less is outstanding than was made good',
    ({ below }) => damage(keys.batch(below), 'SET outstanding = :none', { none: 0 }),
    { date: DAY_AFTER },
  ],
  [
    26,
    'a batch below zero that another makes good, and that lacks all of it yet',
    ({ batch, below }) =>
      complete(batch, { paid: 90_00, offsets: [{ batch: below, amount: 10_00 }] }),
    { date: DAY_AFTER },
  ],
  [
    26,
    'a batch below zero that a batch made good which does not say so',
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
    'a payment that is in progress for weeks',
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
    'a payment that failed, the day after its day and until it is retried',
    ({ batch }) =>
      damage(keys.batch(batch), 'SET #status = :failed, failedAt = :at', {
        failed: 'failed',
        at: `${DAY_AFTER}T00:00:02.000Z`,
      }),
    { date: DAY_AFTER },
  ],
  [
    26,
    'a batch that lost its place among those to be paid',
    ({ batch }) =>
      damage(keys.batch(batch), 'SET outstanding = :none REMOVE #work, due', { none: 0 }),
    { date: '2026-11-30' as Day, now: at('2026-12-01' as Day, '02:00:00') },
  ],
  [
    27,
    'a reversed debit whose line was not taken back',
    ({ takenBack }) =>
      damage(debitKey(takenBack), 'SET #version = #version - :one REMOVE adjustedIn', { one: 1 }),
  ],
  [
    27,
    'an adjustment that is gone',
    ({ takenBack, below }) => remove(keys.line(below, 'adjustment', takenBack.facts.reference)),
  ],
  [
    27,
    'an adjustment of what was not reversed',
    ({ takenBack }) =>
      damage(debitKey(takenBack), 'SET #status = :status', { status: 'completed' }),
    { date: DAY_AFTER },
  ],
  [
    27,
    'a debit reversed two days later, whose place was lost',
    async ({ otherSettled }) => {
      await moved(otherSettled, 'reversed', at(DAY_AFTER, '09:00:00'))
      await loseItsPlace(otherSettled)
    },
    { date: DAY_AFTER },
  ],
  [
    29,
    'a fee that neither its bank nor the schedule says, in sums that fit it',
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
    'a fee of another schedule than that of the batch',
    ({ batch }) =>
      damage(keys.batch(batch), 'SET feeSchedule = :schedule', {
        schedule: { basisPoints: 150, fixed: 0 },
      }),
    { date: TOMORROW },
  ],
  [
    31,
    'a late completion of what had not failed',
    ({ done }) => putException(lateCompletionOf(done, NOON)),
  ],
  [
    33,
    'a change that names no request',
    ({ done }) => damage(debitKey(done), 'REMOVE #history[0].rid'),
  ],
  [
    33,
    'a change by a bank whose debit it is not',
    ({ done }) => damage(debitKey(done), 'SET #history[2].#by = :by', { by: 'bank:ECO' }),
  ],
  [
    39,
    'a reversed debit without a refund',
    ({ takenBack }) => remove(keys.refund(takenBack.facts.reference)),
  ],
  [
    39,
    'a refund of another amount',
    ({ takenBack }) =>
      damage(keys.refund(takenBack.facts.reference), 'SET amount = :one', { one: 1 }),
    { date: TOMORROW },
  ],
  [
    39,
    'a refund that its bank has had for three days',
    ({ takenBack }) =>
      damage(
        keys.refund(takenBack.facts.reference),
        'SET #status = :processing, byStatus = :due, byTime = :since, processedAt = :since',
        { processing: 'processing', due: keys.refunds('due'), since: `${TODAY}T09:00:00.000Z` },
      ),
    { now: at(DAY_AFTER, '12:00:00') },
  ],
  [
    40,
    'a funding that the cash for payouts does not have',
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

/** All but the balances that reconciliation stores itself. */
const everything = async () =>
  (
    await table.send(new ScanCommand({ TableName: tableName(), ConsistentRead: true }))
  ).Items?.filter(({ entity }) => entity !== 'ledger')

/** Ends what was charged, so that its clocks are no fault. */
const end = (debit: Debit) => moved(debit, 'failed', at(TODAY, '12:02:00'))

describe('a fault in the table is found', () => {
  test.each(faults)('by invariant %i: %s', async (number, _what, plant, looked = {}) => {
    await plant(await aDay())
    // The ledger adds up what the others check one by one.
    const found = (await differences(looked.date ?? TODAY, looked.now)).filter(
      (one) => one.number === number || one.number !== 40,
    )
    const broken = looked.also ? [looked.also, number] : [number]
    expect(found.map((one) => one.number)).toEqual(broken)
    const [example] = found[0]?.examples ?? []
    expect(example).toMatchObject({
      ...(number === 40 ? {} : { provider: expect.stringMatching(/^(?:demo|other)$/) }),
      subject: expect.stringMatching(/^(?:DCS|STL)-|^2026-11-/),
      difference: expect.not.stringContaining('undefined'),
    })
  })

  test('each invariant has a fault that it finds', () => {
    const tried = new Set(faults.map(([number]) => number))
    expect(Object.keys(invariants).map(Number)).toEqual([...tried].sort((a, b) => a - b))
  })

  test('and left as it was', async () => {
    const { done } = await aDay()
    await damage(debitKey(done), 'SET #version = #version + :one', { one: 1 })
    const before = await everything()
    expect(await differences(TODAY)).toHaveLength(1)
    expect(await everything()).toEqual(before)
  })
})
