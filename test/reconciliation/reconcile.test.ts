import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Debit } from '../../shared/domain/debit.ts'
import { type Batch, type Day, openBatch } from '../../shared/domain/settlement.ts'
import { debitLine } from '../../shared/domain/settlement-line.ts'
import { type Invariant, invariants } from '../../shared/reconciliation/invariants.ts'
import { toBatchItem, toLineItem } from '../../shared/store/batch-item.ts'
import { toDebitItem } from '../../shared/store/debit-item.ts'
import { putLateCompletion } from '../../shared/store/late-completions.ts'
import { putPartner } from '../../shared/store/partners.ts'
import { type Key, keys, put, table, tableName } from '../../shared/store/table.ts'
import { demoPartner, NOON, pendingDebit } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  type ADay,
  aDay,
  at,
  charged,
  completed,
  DAY_AFTER,
  damage,
  demo,
  LATER,
  moved,
  other,
  putProviders,
  reconciled,
  settled,
  TODAY,
  TOMORROW,
  told,
} from './one-day.ts'

/** A day is held against what must hold (hazards, Invariants): what is right shows nothing. */

beforeEach(useFreshTable)

const differences = async (date: Day, now = LATER) => {
  const { invariants: found } = await reconciled(date, now)
  return found
    .filter((one) => one.differences > 0)
    .map(({ number, examples }) => ({ number, examples }))
}

const figures = async (date: Day) => {
  const { invariants: found } = await reconciled(date)
  return Object.fromEntries(found.map(({ number, checked }) => [number, checked]))
}

describe('a clean day', () => {
  test('shows no difference in its debits, nor in the batches of the days after', async () => {
    await aDay()
    for (const day of [TODAY, TOMORROW, DAY_AFTER]) expect(await differences(day), day).toEqual([])
  })

  test('says how much was looked at', async () => {
    await aDay()
    // Six debits of two providers; one of these wants to be told of three outcomes.
    expect(await figures(TODAY)).toMatchObject({
      1: 6,
      4: 6,
      5: 6,
      6: 6,
      9: 6,
      10: 6,
      12: 6,
      13: 3,
      15: 3,
      20: 1,
      22: 4,
      25: 4,
      27: 1,
      31: 1,
    })
    expect(await figures(TOMORROW)).toMatchObject({ 1: 0, 22: 3, 23: 3, 24: 2, 26: 2 })
    expect(await figures(DAY_AFTER)).toMatchObject({ 24: 1, 26: 1, 27: 1 })
  })

  test('says where the money of its completed debits is', async () => {
    await aDay()
    const { money } = await reconciled(TODAY)
    expect(money).toEqual({
      completed: 400_00n,
      settled: 300_00n,
      unsettled: 0n,
      reversed: 100_00n,
    })
  })

  test('that is empty shows none', async () => {
    expect(await differences(TODAY)).toEqual([])
  })
})

describe('what is right at rest only is no difference', () => {
  test('an open debit within its clock, and an event that is to be told', async () => {
    await putProviders()
    await charged()
    const processing = await moved(await charged(), 'processing', at(TODAY, '12:00:02'))
    const done = await moved(processing, 'completed', at(TODAY, '12:01:00'))
    await told(done, [503])
    await moved(await charged(), 'failed', at(TODAY, '12:02:00'))
    expect(await differences(TODAY, at(TODAY, '12:05:00'))).toEqual([])
  })

  test('a completed debit that no run could have seen, or whose run is not done', async () => {
    await putProviders()
    await completed({ partner: other })
    expect(await differences(TODAY, at(TODAY, '23:59:59'))).toEqual([])
    expect(await differences(TODAY, at(TOMORROW, '01:59:59'))).toEqual([])
    expect(await differences(TODAY, at(TOMORROW, '02:00:01'))).toMatchObject([{ number: 22 }])
  })

  test('a reversal whose line the next run takes back', async () => {
    await putProviders()
    const done = await completed({ partner: other })
    await settled(TOMORROW, { give: [done] })
    await moved(done, 'reversed', at(TOMORROW, '09:00:00'))
    expect(await differences(TODAY, at(TOMORROW, '23:00:00'))).toEqual([])
    expect(await differences(TODAY, at(DAY_AFTER, '02:00:01'))).toMatchObject([{ number: 27 }])
  })

  test('a batch that is being built', async () => {
    await putProviders()
    await put(keys.batch(batchOf(TODAY).id), 'batch', toBatchItem(batchOf(TODAY)))
    expect(await differences(TODAY, at(TODAY, '01:00:00'))).toEqual([])
    expect(await differences(TODAY, at(TODAY, '03:00:00'))).toMatchObject([{ number: 26 }])
  })

  test('an event that happened before the webhook was set as it is', async () => {
    await putProviders()
    await moved(await charged(), 'failed', at(TODAY, '12:02:00'))
    expect(await differences(TODAY)).toMatchObject([{ number: 15 }])
    await damage(keys.webhook(demo), 'SET since = :since', {
      since: at(TODAY, '12:02:01').toISOString(),
    })
    expect(await differences(TODAY)).toEqual([])
  })
})

/** A batch of the other provider that nothing of the service has built. */
const batchOf = (date: Day): Batch =>
  openBatch({
    id: `STL-${date.replaceAll('-', '')}-ZZZZZZ` as Batch['id'],
    uuid: '0f7f4c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e' as Batch['uuid'],
    partner: other,
    date,
    n: 9,
    createdAt: at(date, '00:00:01'),
  })

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
  looked?: { date?: Day; now?: Date },
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
  [4, 'an open debit whose clocks have run out', () => charged({ partner: other })],
  [
    4,
    'an outcome that came late',
    async () => moved(await charged({ partner: other }), 'failed', at(TODAY, '12:12:01')),
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
    () => charged({ partner: other, reference: 'DCS-20261121-lower1' as never }).then(end),
  ],
  [
    10,
    "a provider's reference of another debit",
    ({ done, declined: { facts } }) =>
      damage(
        keys.partnerReference(facts.partner, facts.partnerReference),
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
    () => putPartner({ ...demoPartner, dailyLimit: 199_99 as typeof demoPartner.dailyLimit }),
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
    () => completed({ partner: other }),
    { date: DAY_AFTER },
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
    { date: TOMORROW },
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
    31,
    'a late completion of what had not failed',
    ({ done }) =>
      putLateCompletion(
        done,
        { status: 'completed', bank_reference: 'B', approval_method: 'ussd' },
        { at: NOON, by: 'bank:GCB', requestId: 'x' },
      ),
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
]

const everything = async () =>
  (await table.send(new ScanCommand({ TableName: tableName(), ConsistentRead: true }))).Items

/** Ends what was charged, so that its clocks are no fault. */
const end = (debit: Debit) => moved(debit, 'failed', at(TODAY, '12:02:00'))

describe('a fault in the table is found', () => {
  test.each(faults)('by invariant %i: %s', async (number, _what, plant, looked = {}) => {
    await plant(await aDay())
    const found = await differences(looked.date ?? TODAY, looked.now)
    expect(found.map((one) => one.number)).toEqual([number])
    const [example] = found[0]?.examples ?? []
    expect(example).toMatchObject({
      provider: expect.stringMatching(/^(?:demo|other)$/),
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

test('a hundred examples are listed, and all are counted', async () => {
  await putProviders()
  const open = Array.from({ length: 120 }, () => pendingDebit({ partner: other }))
  await Promise.all(open.map((debit) => put(debitKey(debit), 'debit', toDebitItem(debit))))
  const { invariants: found } = await reconciled(TODAY)
  const late = found.find(({ number }) => number === 4)
  expect([late?.checked, late?.differences, late?.examples.length]).toEqual([120, 120, 100])
})
