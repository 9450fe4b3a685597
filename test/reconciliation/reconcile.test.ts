import { beforeEach, expect, test } from 'vitest'
import { manageLimit } from '../../functions/operator/manage-limit.ts'
import { manageProvider } from '../../functions/operator/manage-provider.ts'
import { newRefund } from '../../shared/domain/debits/refund.ts'
import type { BatchId } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { type Day, dayAfter } from '../../shared/domain/time.ts'
import { reconcile } from '../../shared/reconciliation/reconcile.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { refundCreation } from '../../shared/store/debits/refunds.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { findBatch } from '../../shared/store/settlement/batches.ts'
import { put, remove } from '../../shared/store/table.ts'
import { transact } from '../../shared/store/transactions.ts'
import { type FakeBank, fakeBank, type PayoutBehaviour } from '../settlement/fake-bank.ts'
import { pendingDebit, providerId, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { storeDebit, storeRestore } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable, useTable } from '../support/tables.ts'
import {
  at,
  batchOf,
  charged,
  completed,
  DAY_AFTER,
  demo,
  differencesOn,
  exampleDay,
  lateCompletionOf,
  other,
  overwrite,
  putProviders,
  reconcileLater,
  settle,
  TODAY,
  TOMORROW,
  transitioned,
} from './one-day.ts'

let bank: FakeBank
beforeEach(async () => {
  await useFreshTable()
  bank = fakeBank()
})

const checkedOn = async (date: Day) => {
  const { invariants } = await reconcileLater(date)
  return Object.fromEntries(invariants.map(({ number, checked }) => [number, checked]))
}

test('a day counts its checked items and sums the money of its completed debits', async () => {
  await exampleDay()
  // Six debits of two providers. One provider subscribes to three of the events.
  const expected = { 1: 6, 4: 6, 5: 6, 6: 6, 9: 6, 10: 6, 12: 6, 13: 3, 15: 3 }
  const checked = await checkedOn(TODAY)
  expect(checked).toMatchObject({ ...expected, 20: 1, 22: 4, 25: 4, 27: 1, 31: 1 })
  // Three lines, and four debits of the day before.
  expect(await checkedOn(TOMORROW)).toMatchObject({ 1: 0, 22: 7, 23: 3, 24: 2, 26: 2, 29: 3 })
  expect(await checkedOn(DAY_AFTER)).toMatchObject({ 24: 3, 26: 3, 27: 2 })
  const { amounts } = await reconcileLater(TODAY)
  const totals = { completed: 400_00n, settled: 300_00n, unsettled: 0n, reversed: 100_00n }
  expect(amounts).toMatchObject(totals)
})

/** Work in progress, the last time without a difference, and the invariant after it. */
const inProgress: [string, plant: () => Promise<unknown>, Date, Date, number][] = [
  [
    'a completed debit until the end of the next run',
    () => completed({ provider: other }),
    at(TOMORROW, '01:59:59.999'),
    at(TOMORROW, '02:00:00'),
    22,
  ],
  [
    'a reversal until the end of the next run',
    async () => {
      const done = await completed({ provider: other })
      await settle(TOMORROW)
      await transitioned(done, 'reversed', at(TOMORROW, '09:00:00'))
    },
    at(DAY_AFTER, '01:59:59.999'),
    at(DAY_AFTER, '02:00:00'),
    27,
  ],
  [
    'a batch that is being built',
    () => put(keys.batch(batchOf(TODAY).id), 'batch', toBatchItem(batchOf(TODAY))),
    at(TODAY, '02:00:01'),
    at(TODAY, '02:00:01.001'),
    26,
  ],
  [
    'an open debit until its timeouts',
    () => charged({ provider: other }),
    at(TODAY, '12:12:00'),
    at(TODAY, '12:12:00.001'),
    4,
  ],
]

test.each(inProgress)('a run finds no difference for %s', async (_, plant, last, first, number) => {
  await putProviders()
  await plant()
  expect(await differencesOn(TODAY, last)).toEqual([])
  expect(await differencesOn(TODAY, first)).toMatchObject([{ number }])
})

test.each([
  ['held it when it was charged', '11:50:00', '12:39:00', [], []],
  ['held it when it was charged, and still holds others', '11:50:00', null, [other], []],
  ['was released before its charge', '11:50:00', '11:59:59', [], [4]],
  ['began after its outcome', '12:40:01', null, [], [4]],
])(
  'a debit that ended after forty minutes is a difference unless a restore held it: the restore %s',
  async (_, begun, released, providers, numbers) => {
    await putProviders()
    await transitioned(await charged({ provider: other }), 'failed', at(TODAY, '12:40:00'))
    const releasedAt = released ? at(TODAY, released) : null
    await storeRestore(2, { begunAt: at(TODAY, begun), releasedAt, released: providers })
    expect((await differencesOn(TODAY)).map(({ number }) => number)).toEqual(numbers)
  },
)

test('a refund in progress for two days is a difference unless a restore holds it', async () => {
  const { reversed } = await exampleDay()
  const since = at(TODAY, '09:00:00').toISOString()
  const index = { byStatus: keys.refunds('due'), byTime: since }
  const begun = { status: 'processing', processedAt: since, completedAt: null, bankReference: null }
  await overwrite(keys.refund(reversed.facts.reference), { ...begun, ...index })
  const now = at(DAY_AFTER, '12:00:00')
  const late = `has a refund that is processing since ${since}`
  const find = async () => JSON.stringify(await differencesOn(TODAY, now))
  await storeRestore(2, { begunAt: at(TODAY, '20:00:00') })
  expect(await find()).not.toContain(late)
  await storeRestore(2, { releasedAt: at(DAY_AFTER, '11:00:00') })
  expect(await find()).toContain(late)
})

test('an event before its attempt or before its subscription causes no difference', async () => {
  await putProviders()
  await transitioned(await charged(), 'failed', at(TODAY, '12:02:00'))
  expect(await differencesOn(TODAY, at(TODAY, '13:02:00'))).toEqual([])
  expect(await differencesOn(TODAY, at(TODAY, '13:02:00.001'))).toMatchObject([{ number: 15 }])
  const later = at(TODAY, '12:02:01').toISOString()
  const settings = { since: at(TODAY, '00:00:00').toISOString() }
  for (const subscribed of ['transaction.failed', 'transaction.completed']) {
    await overwrite(keys.webhook(demo), { ...settings, subscribedAt: { [subscribed]: later } })
    expect(await differencesOn(TODAY)).toHaveLength(subscribed === 'transaction.failed' ? 0 : 1)
  }
  await overwrite(keys.webhook(demo), { since: later })
  expect(await differencesOn(TODAY)).toEqual([])
})

test('a refund of a late completion has the bank reference of the report', async () => {
  await putProviders()
  const failure = { bankReference: 'TRY-1', errorMessage: 'No' }
  const charge = await charged({ provider: other })
  const failed = await transitioned(charge, 'failed', at(TODAY, '12:02:00'), failure)
  await putException(lateCompletionOf(failed, at(TODAY, '13:00:00')))
  const cause = { origin: 'late_completion', reason: 'Late', at: at(TODAY, '14:00:00') } as const
  const refund = newRefund(failed, { ...cause, debitBankReference: 'B-1' })
  expect(refund.debitBankReference).toBe('B-1')
  await transact([refundCreation(refund)], still())
  expect(await differencesOn(TODAY, at(TODAY, '15:00:00'))).toEqual([])
})

test('a charge that is written while its day is read causes no difference', async () => {
  await putProviders()
  await charged()
  const restore = aroundTableCalls(async (name, next) => {
    if (name !== 'BatchGet') return next()
    restore()
    const debits = await next()
    await charged()
    return debits
  })
  expect(await differencesOn(TODAY, at(TODAY, '12:00:05'))).toEqual([])
  await overwrite(keys.dayTotal(demo, TODAY), { amountTotal: 1 })
  expect(await differencesOn(TODAY, at(TODAY, '12:00:05'))).toMatchObject([{ number: 20 }])
})

test('a charge that the index does not list yet is read from the feed, and each debit is counted once', async () => {
  let lag = 0
  useTable({ indexLag: () => lag })
  await putProviders()
  for (const time of ['10:00:00', '11:00:00']) await charged({}, at(TODAY, time))
  lag = 60_000
  const { partnerReference } = (await charged()).facts
  const runtime = still({ now: () => at(TODAY, '12:00:05') })
  const found = async (id: string) => {
    const result = await reconcile(TODAY, runtime, { id, sliceMax: 1 })
    if ('id' in result) throw new Error('The run has not ended')
    return result.invariants.flatMap(({ number, checked, differences }) =>
      number === 10 || differences > 0 ? [[number, checked, differences]] : [],
    )
  }
  // The two others are open for more than ten minutes.
  expect(await found(`${TODAY}#1`)).toEqual([
    [4, 3, 2],
    [10, 3, 0],
  ])
  await remove(keys.partnerReference(demo, partnerReference))
  expect(await found(`${TODAY}#2`)).toContainEqual([10, 3, 1])
})

test('a daily limit that is lowered below what was used causes no difference', async () => {
  await putProviders()
  await charged()
  const excess = async (date: Day) =>
    (await differencesOn(date)).filter(({ number }) => number === 20)
  for (const [limit, time] of [
    ['99.99', '18:00:00'],
    ['1.00', '19:00:00'],
  ] as const) {
    const manage = manageLimit(still({ now: () => at(TODAY, time) }))
    const options = { provider: demo, 'daily-limit': limit }
    expect(await manage({ verb: 'set', options, actor: 'local:ama' })).not.toHaveProperty('error')
    expect(await excess(TODAY)).toEqual([])
  }
  // No charge of the next day had a higher limit.
  await charged({ countedOn: TOMORROW }, at(TOMORROW, '12:00:00'))
  expect(await excess(TOMORROW)).toHaveLength(1)
})

test('a first daily limit causes no difference for debits before it, and excuses no other provider', async () => {
  await putProviders()
  const created = providerId('created')
  const limit = async (provider: ProviderId, amount: string, when: Date, verb = 'set') => {
    const runtime = still({ now: () => when })
    const manage = verb === 'set' ? manageLimit(runtime) : manageProvider(runtime)
    const options = { provider, 'daily-limit': amount, ...(verb === 'create' && { name: 'New' }) }
    const call = { verb, options, actor: 'local:ama' } as never
    expect(await manage(call)).not.toHaveProperty('error')
  }
  const excess = async (date: Day) =>
    (await differencesOn(date)).flatMap(({ number, examples }) =>
      number === 20 ? examples.map(({ provider }) => provider) : [],
    )
  await charged({ provider: other, countedOn: TODAY })
  await limit(other, '1.00', at(TODAY, '18:00:00'))
  expect(await excess(TODAY)).toEqual([])
  await limit(created, '1.00', at(TOMORROW, '10:00:00'), 'create')
  await limit(demo, '60000.00', at(TOMORROW, '11:00:00'))
  for (const provider of [created, other]) {
    await charged({ provider, countedOn: TOMORROW }, at(TOMORROW, '12:00:00'))
  }
  expect(await excess(TOMORROW)).toEqual([created, other])
})

test('a debit that was completed a month ago and has no line is a difference', async () => {
  await putProviders()
  const { facts } = await completed()
  const month = dayAfter(TODAY, 30)
  const example = { subject: facts.reference, difference: 'is completed, but not settled' }
  expect(await differencesOn(month, at(dayAfter(month), '02:00:05'))).toMatchObject([
    { number: 22, examples: [example] },
  ])
})

test('a fee at the minimum, between the bounds or at the maximum of its schedule, or above its amount, causes no difference', async () => {
  await putProviders()
  const feeSchedule = { basisPoints: 150, fixed: 0, minimum: 1_00, maximum: 2_00 }
  await overwrite(keys.provider(other), { feeSchedule })
  for (const [amount, fee] of [[50_00], [100_00], [200_00], [50_00, 50_01]] as const) {
    const debit = await charged({ provider: other, amount: pesewas(amount) })
    const changes = fee ? { fee: pesewas(fee) } : {}
    await transitioned(debit, 'completed', at(TODAY, '12:01:00'), changes)
  }
  expect((await load(await settle(TOMORROW))).totals?.fee).toBe(54_50)
  expect(await differencesOn(TOMORROW)).toEqual([])
})

test('a refused report of a completed, failed or reversed debit causes no difference', async () => {
  const { done, declined, reversed } = await exampleDay()
  for (const debit of [done, declined, reversed]) {
    const refused = { kind: 'refused_report', status: debit.status } as const
    await putException({ ...lateCompletionOf(debit, at(TODAY, '14:00:00')), ...refused })
  }
  expect(await differencesOn(TODAY)).toEqual([])
})

test('an accepted debit that is lost is found in a feed of more than five hundred pages', async () => {
  await putProviders()
  const { reference } = (await charged({ provider: other })).facts
  const lastAt = at(TODAY, '13:00:00').toISOString()
  for (let page = 1_000_000; page < 1_000_500; page += 1)
    await put(keys.feedPage(other, page), 'feed-page', { page, entries: [], lastAt })
  expect(await differencesOn(TODAY, at(TODAY, '12:00:05'))).toEqual([])
  await remove(keys.debit(reference))
  const lost = { number: 1, examples: [{ subject: reference, difference: 'does not exist' }] }
  expect(await differencesOn(TODAY, at(TODAY, '12:00:05'))).toMatchObject([lost])
})

test('a finding counts all differences and lists 100 examples', async () => {
  await putProviders()
  const open = Array.from({ length: 120 }, () => pendingDebit({ provider: other }))
  await Promise.all(open.map(storeDebit))
  const { invariants } = await reconcileLater(TODAY)
  const late = invariants.find(({ number }) => number === 4)
  expect([late?.checked, late?.differences, late?.examples.length]).toEqual([120, 120, 100])
})

const load = async (id: BatchId): Promise<Batch> => (await findBatch(id)) as Batch

const depsAt = (when: Date) => ({
  runtime: still({ now: () => when }),
  connectors: bank.connectors,
})

/** Pays a batch on the day after. */
const pay = async (id: BatchId, time: string, behaviour: PayoutBehaviour = 'pay') => {
  bank.behaviours.push(behaviour)
  return granted(await payBatch(id, depsAt(at(DAY_AFTER, time)))).status
}

/** Settles a paid batch, a later one below zero with its adjustment, and one that can offset it. */
const belowZero = async () => {
  await putProviders()
  const reversed = await completed({ provider: other })
  const first = await settle(TOMORROW)
  await pay(first, '00:00:01')
  await transitioned(reversed, 'reversed', at(TOMORROW, '09:00:00'))
  const below = await settle(DAY_AFTER)
  for (const _ of [1, 2]) await completed({ provider: other })
  const later = await settle(DAY_AFTER)
  return { first, below, later }
}

const day = (text: string) => text as Day
/** Returns what the night after a day finds. */
const found = async (date: Day) =>
  (await differencesOn(date, at(dayAfter(date), '02:00:01'))).flatMap(({ number, examples }) =>
    examples.map(({ subject, difference }) => [number, subject, difference]),
  )

/** Without the ledger, which changes with the batches. */
const foundInBatches = async (date: Day) => (await found(date)).filter(([number]) => number !== 40)

test('the offsets of a batch older than the list are compared, too', async () => {
  const { below, later } = await belowZero()
  await overwrite(keys.batch(later), { 'totals.net': 10_00, 'totals.gross': 10_00 })
  await pay(later, '23:00:00', 'pay later')
  expect((await load(below)).outstanding).toBe(-88_50)
  const inTwoMonths = day('2027-01-23')
  expect(await foundInBatches(inTwoMonths)).toEqual([])
  await overwrite(keys.batch(below), { outstanding: -80_00 })
  expect(await foundInBatches(inTwoMonths)).toEqual([
    [26, below, 'it lacks 88.50, but 80.00 is outstanding'],
  ])
})

test('a batch is reported once its payout is in progress for more than two days', async () => {
  const { first } = await belowZero()
  const open = { status: 'processing', completedAt: null, bankReference: null }
  await overwrite(keys.batch(first), open)
  const since = '2026-11-23T00:00:01.000Z'
  expect(await differencesOn(DAY_AFTER, at(day('2026-11-25'), '00:00:01'))).toEqual([])
  expect(await differencesOn(DAY_AFTER, at(day('2026-11-25'), '00:00:02'))).toMatchObject([
    { examples: [{ difference: `its payout is in progress since ${since}` }] },
  ])
})

test('a batch is reported once it is due for more than a week', async () => {
  const { later } = await belowZero()
  const last = day('2026-11-30')
  const due = '2026-11-24T00:00:00.000Z'
  expect(await found(last)).toContainEqual([
    26,
    later,
    `it is due since ${due}, but its payout has not begun`,
  ])
  expect(await found(dayAfter(last, -2))).toEqual([])
})

test('a batch that cannot be checked hides no other', async () => {
  const { below, later } = await belowZero()
  await overwrite(keys.batch(below), { 'totals.count': undefined })
  await pay(later, '23:30:00', 'reject')
  const subjects = (await foundInBatches(DAY_AFTER)).map(([, subject]) => subject)
  expect(new Set(subjects)).toEqual(new Set([below, later]))
})
