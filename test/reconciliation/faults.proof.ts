import { ScanCommand } from '@aws-sdk/lib-dynamodb'
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
import { put, remove, table, tableName } from '../../shared/store/table.ts'
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
  overwrite,
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

const removeFromIndex = (debit: Debit): Promise<void> =>
  damage(debitKey(debit), 'REMOVE #work, due')

const skipVersion = (debit: Debit): Promise<void> =>
  damage(debitKey(debit), 'SET #version = #version + :one', { one: 1 })

const unlink = (debit: Debit, attribute: 'settledIn' | 'adjustedIn'): Promise<void> =>
  damage(debitKey(debit), `SET #version = #version - :one REMOVE ${attribute}`, { one: 1 })

const complete = (batch: Batch['id'], payment: { paid: number; offsets: object[] }) => {
  const when = `${DAY_AFTER}T00:00:02.000Z`
  const end = { processedAt: when, completedAt: when, bankReference: 'GCB-PAY-1' }
  return overwrite(keys.batch(batch), { status: 'completed', ...end, ...payment })
}

const appendEntry = (debit: Debit, type: string, by: string): Promise<void> =>
  damage(
    debitKey(debit),
    'SET #history = list_append(#history, :entries), #status = :type, #version = #version + :one',
    { entries: [{ type, at: NOON.getTime() + 700_000, by, rid: 'r' }], type, one: 1 },
  )

type Plant = (day: ExampleDay) => Promise<unknown>

/** The reconciled day. `also`: another invariant that the same fault breaks. */
type Finding = { date: Day; now?: Date; also?: Invariant }

const fault = (number: Invariant, name: string, finding: Day | Finding, plant: Plant) =>
  [number, name, typeof finding === 'string' ? { date: finding } : finding, plant] as const

/** The invariant, the name, the day that finds it, and the change. */
const faults = [
  fault(1, 'an amount other than the accepted one', TODAY, ({ otherFailed }) =>
    overwrite(keys.uuid(otherFailed.facts.uuid), { amount: 1 }),
  ),
  fault(1, 'a missing debit', TODAY, ({ otherFailed }) => remove(debitKey(otherFailed))),
  fault(1, 'an unreadable debit', TODAY, ({ otherFailed }) =>
    overwrite(debitKey(otherFailed), { metadata: '{' }),
  ),
  fault(1, 'a line of a missing debit', TOMORROW, ({ otherSettled }) =>
    remove(debitKey(otherSettled)),
  ),
  fault(4, 'an open debit after its timeouts', TODAY, () => charged({ provider: other })),
  fault(4, 'a late outcome', TODAY, async () =>
    transitioned(await charged({ provider: other }), 'failed', at(TODAY, '12:12:01')),
  ),
  fault(5, 'a reversal of a failed debit', TODAY, ({ otherFailed }) =>
    appendEntry(otherFailed, 'reversed', 'operator'),
  ),
  fault(6, 'a failure after a completion', TODAY, ({ otherSettled }) =>
    appendEntry(otherSettled, 'failed', 'bank:GCB'),
  ),
  fault(9, 'a uuid that points to nothing', TODAY, ({ done }) =>
    remove(keys.uuid(done.facts.uuid)),
  ),
  fault(9, 'a uuid of two debits', TODAY, ({ done, otherFailed }) =>
    overwrite(debitKey(otherFailed), { uuid: done.facts.uuid }),
  ),
  fault(9, 'a malformed reference', TODAY, () =>
    charged({ provider: other, reference: 'DCS-20261121-lower1' as never }).then(end),
  ),
  fault(
    10,
    "a provider's reference that points to another debit",
    TODAY,
    ({ done, declined: { facts } }) =>
      overwrite(keys.partnerReference(facts.provider, facts.partnerReference), {
        reference: done.facts.reference,
      }),
  ),
  fault(12, 'a change without an event', TODAY, ({ done }) => skipVersion(done)),
  fault(12, 'a status without an event', TODAY, ({ otherFailed }) =>
    overwrite(debitKey(otherFailed), { status: 'pending' }),
  ),
  fault(13, 'a record of another event', TODAY, ({ done }) =>
    overwrite(recordOf(done), { event: 'failed' }),
  ),
  fault(13, 'an attempt count that is not the last number', TODAY, ({ done }) =>
    overwrite(recordOf(done), { attemptCount: 2 }),
  ),
  fault(15, 'an event that was never tried', TODAY, ({ done }) => remove(recordOf(done))),
  fault(15, 'an overdue attempt', TODAY, async () => attempted(await end(await charged()), [503])),
  fault(15, 'more attempts than allowed', TODAY, ({ done }) =>
    overwrite(recordOf(done), { attemptsMax: 2 }),
  ),
  fault(20, 'a total that is not the sum', TODAY, () =>
    overwrite(keys.dayTotal(demo, TODAY), { amountTotal: 1 }),
  ),
  fault(20, 'a missing total', TODAY, () => remove(keys.dayTotal(demo, TODAY))),
  fault(20, 'a sum over the limit', TODAY, () =>
    changeProvider(demo, () => ({ ...demoProvider, dailyLimit: pesewas(199_99) }), noWrites, real),
  ),
  fault(22, 'an unsettled completed debit', TODAY, ({ done }) => unlink(done, 'settledIn')),
  fault(22, 'a missing line', TODAY, ({ done, batch }) => remove(lineKey(batch, done))),
  fault(22, 'a second line', TODAY, ({ done }) => plantBatch(done, TODAY)),
  fault(22, 'an unsettled completed debit of another day', DAY_AFTER, () =>
    completed({ provider: other }),
  ),
  fault(
    22,
    'a debit completed after midnight that the index lost',
    { date: TOMORROW, now: at(DAY_AFTER, '02:00:01') },
    async () => {
      const debit = await charged({ provider: other }, at(TODAY, '23:58:00'))
      await removeFromIndex(await transitioned(debit, 'completed', at(TOMORROW, '00:03:00')))
    },
  ),
  fault(23, 'a line of a failed debit', TODAY, ({ otherFailed }) => plantBatch(otherFailed, TODAY)),
  fault(23, 'a line of a debit reversed before', TOMORROW, ({ reversedEarly }) =>
    plantBatch(reversedEarly, TOMORROW),
  ),
  fault(24, 'a total that is not the sum of the lines', TOMORROW, ({ batch }) =>
    overwrite(keys.batch(batch), { 'totals.fee': 7 }),
  ),
  fault(24, 'a net that is not gross less fee', TOMORROW, ({ batch, done }) =>
    overwrite(lineKey(batch, done), { net: 1 }),
  ),
  fault(25, 'an amount other than the completed one', TODAY, ({ batch, done }) =>
    overwrite(lineKey(batch, done), { gross: 99_99 }),
  ),
  fault(26, 'a line missing from a sealed batch', { date: TOMORROW, also: 22 }, ({ batch, done }) =>
    remove(lineKey(batch, done)),
  ),
  fault(26, 'a payout above the net', TOMORROW, ({ batch }) =>
    overwrite(keys.batch(batch), { status: 'processing', paid: 999_99 }),
  ),
  fault(26, 'an offset of a missing batch', TOMORROW, ({ batch }) =>
    complete(batch, { paid: 18_50, offsets: [{ batch: 'STL-20261120-NOSUCH', amount: 81_50 }] }),
  ),
  fault(26, 'an offset of a batch above zero', TOMORROW, ({ batch, otherBatch }) =>
    complete(batch, { paid: 18_50, offsets: [{ batch: otherBatch, amount: 81_50 }] }),
  ),
  fault(26, 'an outstanding amount of zero without offsets', DAY_AFTER, ({ below }) =>
    overwrite(keys.batch(below), { outstanding: 0 }),
  ),
  fault(26, 'an outstanding amount that ignores an offset', DAY_AFTER, ({ batch, below }) =>
    complete(batch, { paid: 90_00, offsets: [{ batch: below, amount: 10_00 }] }),
  ),
  fault(26, 'an offsetting batch that does not name the offset', DAY_AFTER, ({ below, batch }) => {
    const completedAt = `${DAY_AFTER}T01:00:00.000Z`
    const offset = { status: 'completed', outstanding: 0, offsetBy: batch, completedAt }
    return overwrite(keys.batch(below), offset)
  }),
  fault(
    26,
    'a payout in progress for weeks',
    { date: '2026-12-10' as Day, now: at('2026-12-11' as Day, '02:00:00') },
    ({ batch }) => {
      const processedAt = `${DAY_AFTER}T00:00:01.000Z`
      return overwrite(keys.batch(batch), { status: 'processing', paid: 100_00, processedAt })
    },
  ),
  fault(26, 'a failed payout without a retry', DAY_AFTER, ({ batch }) =>
    overwrite(keys.batch(batch), { status: 'failed', failedAt: `${DAY_AFTER}T00:00:02.000Z` }),
  ),
  fault(
    26,
    'a due batch that the index lost',
    { date: '2026-11-30' as Day, now: at('2026-12-01' as Day, '02:00:00') },
    ({ batch }) =>
      damage(keys.batch(batch), 'SET outstanding = :none REMOVE #work, due', { none: 0 }),
  ),
  fault(27, 'a reversed debit without an adjustment', TODAY, ({ reversed }) =>
    unlink(reversed, 'adjustedIn'),
  ),
  fault(27, 'a missing adjustment line', TODAY, ({ reversed, below }) =>
    remove(keys.line(below, 'adjustment', reversed.facts.reference)),
  ),
  fault(27, 'an adjustment of a completed debit', DAY_AFTER, ({ reversed }) =>
    overwrite(debitKey(reversed), { status: 'completed' }),
  ),
  fault(
    27,
    'a debit reversed two days later that the index lost',
    DAY_AFTER,
    async ({ otherSettled }) => {
      await transitioned(otherSettled, 'reversed', at(DAY_AFTER, '09:00:00'))
      await removeFromIndex(otherSettled)
    },
  ),
  fault(
    29,
    'a wrong fee in totals that match it',
    TOMORROW,
    async ({ otherBatch, otherSettled }) => {
      await overwrite(lineKey(otherBatch, otherSettled), { fee: 40_00, net: 60_00 })
      await overwrite(keys.batch(otherBatch), { 'totals.fee': 41_50, 'totals.net': 158_50 })
    },
  ),
  fault(29, 'a fee of another schedule', TOMORROW, ({ batch }) =>
    overwrite(keys.batch(batch), { feeSchedule: { basisPoints: 150, fixed: 0 } }),
  ),
  fault(31, 'a late completion of a completed debit', TODAY, ({ done }) =>
    putException(lateCompletionOf(done, NOON)),
  ),
  fault(33, 'a change without a request', TODAY, ({ done }) =>
    damage(debitKey(done), 'REMOVE #history[0].rid'),
  ),
  fault(33, 'a change by another bank', TODAY, ({ done }) =>
    overwrite(debitKey(done), { 'history[2].by': 'bank:ECO' }),
  ),
  fault(39, 'a reversed debit without a refund', TODAY, ({ reversed }) =>
    remove(keys.refund(reversed.facts.reference)),
  ),
  fault(39, 'a refund of another amount', TOMORROW, ({ reversed }) =>
    overwrite(keys.refund(reversed.facts.reference), { amount: 1 }),
  ),
  fault(
    39,
    'a refund in progress for three days',
    { date: TODAY, now: at(DAY_AFTER, '12:00:00') },
    ({ reversed }) => {
      const since = `${TODAY}T09:00:00.000Z`
      const index = { byStatus: keys.refunds('due'), byTime: since }
      const refund = { status: 'processing', processedAt: since, ...index }
      return overwrite(keys.refund(reversed.facts.reference), refund)
    },
  ),
  fault(40, 'a funding that the cash does not include', TODAY, () =>
    put(keys.funding(gcb.identifier, 'R-1'), 'funding', {
      bank: 'GCB',
      reference: 'R-1',
      amount: 100,
      date: TODAY,
      recordedAt: NOON.toISOString(),
      recordedBy: 'local:ama',
    }),
  ),
]

/** Returns all items except the balances that reconciliation stores. */
const readTable = async () =>
  (
    await table.send(new ScanCommand({ TableName: tableName(), ConsistentRead: true }))
  ).Items?.filter(({ entity }) => entity !== 'ledger')

/** Ends a debit, so that its timeout is not a second fault. */
const end = (debit: Debit) => transitioned(debit, 'failed', at(TODAY, '12:02:00'))

describe('a fault in the table', () => {
  test.each(faults)('breaks only invariant %i: %s', async (number, _, finding, plant) => {
    await plant(await exampleDay())
    // Most faults change the ledger, too.
    const differences = (await differencesOn(finding.date, finding.now)).filter(
      (difference) => difference.number === number || difference.number !== 40,
    )
    const expected = finding.also ? [finding.also, number] : [number]
    expect(differences.map((difference) => difference.number)).toEqual(expected)
    const [example] = differences[0]?.examples ?? []
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
    await skipVersion(done)
    const damaged = await readTable()
    expect(await differencesOn(TODAY)).toHaveLength(1)
    expect(await readTable()).toEqual(damaged)
  })
})
