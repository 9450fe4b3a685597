import { beforeEach, expect, test } from 'vitest'
import { manageException } from '../../functions/operator/manage-exception.ts'
import { manageLedger } from '../../functions/operator/manage-ledger.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import {
  completeRefund,
  newRefund,
  type Refund,
  sendRefund,
} from '../../shared/domain/debits/refund.ts'
import type { BatchId, Reference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { type Balances, post, trialBalance } from '../../shared/domain/settlement/ledger-entry.ts'
import type { Day } from '../../shared/domain/time.ts'
import { openDay } from '../../shared/ledger/day.ts'
import { closeDay } from '../../shared/reconciliation/close-day.ts'
import { performPart } from '../../shared/reconciliation/perform.ts'
import { resultOf, startRun } from '../../shared/reconciliation/runs.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { completeBatch } from '../../shared/settlement/complete.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { finishBatch, sealBatch } from '../../shared/settlement/seal.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { recordRefundFailure } from '../../shared/store/debits/refund-failures.ts'
import { findRefund, refundCreation, replaceRefund } from '../../shared/store/debits/refunds.ts'
import { keys } from '../../shared/store/keys.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { findClosing, putClosing } from '../../shared/store/settlement/ledger-days.ts'
import { findPart, findRun, partsOf } from '../../shared/store/settlement/reconciliations.ts'
import { keyOf, readCollection, remove } from '../../shared/store/table.ts'
import { transact } from '../../shared/store/transactions.ts'
import { entryView } from '../../shared/views/operator/ledger.ts'
import { fakeBank } from '../settlement/fake-bank.ts'
import {
  at,
  builtBatch,
  completedDebits,
  dayAt,
  fund,
  newProvider,
  openedDebit,
  reverse,
  runtimeAt,
} from '../settlement/one-provider.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { alterRow, BANK } from '../support/chunk-rows.ts'
import { gcb, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import type { Shown } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'
import { lateCompletionOf, overwrite, reconcileLater } from './one-day.ts'

// A resolution records whose data it prints, by a keyed hash.
process.env.SEALING_KEY = 'a text for tests'

useReportShelf()
beforeEach(useFreshTable)

/** Returns what the ledger check finds in the night after a day. */
const found = async (day: number): Promise<string[]> => {
  const now = at('02:00:00', day + 1)
  const { invariants } = await reconcileLater(dayAt(day), now)
  return (invariants.find(({ number }) => number === 40)?.examples ?? []).map(
    ({ difference }) => difference,
  )
}

type SettledDay = { provider: ProviderId; batch: BatchId; reversed: Reference }

/** Completes two debits on day 0, settles both and reverses one on day 1, and pays on day 2. */
const settleDay = async (): Promise<SettledDay> => {
  const feeSchedule = { basisPoints: 150, fixed: pesewas(0) }
  const provider = await newProvider({ feeSchedule, account: '1041001001' })
  const [, second] = await completedDebits(provider, [100_00, 50_00], at('12:00:00'))
  const reversed = second?.facts.reference as Reference
  expect(await found(0)).toEqual([])
  const batch = (await builtBatch(provider)).id
  await reverse(reversed, at('09:00:00', 1))
  await fund(150_00, at('10:00:00', 1), { reference: 'R-1' })
  expect(await found(1)).toEqual([])
  const { connectors } = fakeBank()
  granted(await payBatch(batch, { runtime: runtimeAt('00:10:00', 2), connectors }))
  return { provider, batch, reversed }
}

const readLedger = async (day: number) => {
  const { opening, entries } = await openDay(dayAt(day))
  const closing = new Map(opening)
  const views: string[] = []
  for await (const entry of entries) {
    post(closing, entry)
    views.push(JSON.stringify(entryView(entry)))
  }
  const nonZero = (balances: Balances) =>
    Object.fromEntries([...balances].filter(([, balance]) => balance !== 0).sort())
  expect([trialBalance(opening), trialBalance(closing)]).toEqual([0, 0])
  return { opening: nonZero(opening), closing: nonZero(closing), entries: views.sort() }
}

const dropClosings = async (): Promise<void> => {
  const closing = await findClosing(dayAt(9))
  if (!closing) return
  await remove(keys.ledger(closing.day))
  await dropClosings()
}

test('the ledger agrees with the table on each day, with and without stored balances', async () => {
  const { provider, reversed } = await settleDay()
  const [last, first] = [at('23:59:59.999', 1), at('00:00:00', 2)]
  await putException(lateCompletionOf(await openedDebit(provider, 30_00), last))
  await putException(lateCompletionOf(await openedDebit(provider, 20_00), first))
  const refund = (await findRefund(reversed)) as Refund
  const begun = sendRefund(refund, at('10:00:00', 2))
  const completed = completeRefund(begun, { bankReference: 'B-1', at: at('23:59:59.999', 2) })
  await replaceRefund(refund, completed, [], still())
  await fund(10_00, at('11:00:00', 2), { date: dayAt(0) })
  expect([await found(0), await found(1), await found(2)]).toEqual([[], [], []])
  const days = [0, 1, 2, 3]
  const read = () => Promise.all(days.map(readLedger))
  const stored = await read()
  expect(stored.map(({ opening }) => opening)).toEqual([
    {},
    ...stored.slice(0, -1).map(({ closing }) => closing),
  ])
  expect(stored.map(({ entries }) => entries.length)).toEqual([3, 4, 3, 0])
  await dropClosings()
  expect(await read()).toEqual(stored)
})

const statementOf = (account: string, seconds = 0): Promise<Shown> => {
  let looks = 0
  const wallTime = () => {
    looks += 1
    return at('12:00:00', looks > 2 ? seconds / 86_400 : 0)
  }
  const options = { account, from: dayAt(0), to: dayAt(2) }
  const runtime = { ...runtimeAt('12:00:00', 3), wallTime }
  return manageLedger(runtime)({ verb: 'account', options, actor: 'local:ama' } as never)
}

test('the statement of a provider has its entries, and reads no debit and no batch of other providers', async () => {
  const { provider } = await settleDay()
  const other = await newProvider()
  await completedDebits(other, [30_00], at('12:00:00'))
  const account = `provider_payable:${provider}`
  const all = (await Promise.all([0, 1, 2].map(readLedger))).flatMap(({ entries }) => entries)
  const texts: string[] = []
  const restore = aroundTableCalls(async (_, next) => {
    const reply = await next()
    texts.push(JSON.stringify(reply))
    return reply
  })
  const { result } = await statementOf(account).finally(restore)
  expect(result.entries).toHaveLength(all.filter((text) => text.includes(account)).length)
  expect(texts.join()).not.toContain(other)
})

test('the statement of an account that takes too long names the option that shortens it', async () => {
  await settleDay()
  expect(await statementOf('cash')).toMatchObject({ result: { account: 'cash' } })
  const refused = { error: expect.stringContaining('--to: needs fewer days: the time was up') }
  expect(await statementOf('cash', 900)).toEqual(refused)
})

test('the statement of an account has at most ten thousand entries', async () => {
  const correction = { amount: 2, reason: 'x', at: at('11:00:00', 1).toISOString(), by: 'x' }
  for (const reference of ['R-1', 'R-2', 'R-3', 'R-4']) {
    await fund(1, at('10:00:00', 1), { reference })
    const corrections = Array(2_499).fill(correction)
    await overwrite(keys.funding(gcb.identifier, reference), { corrections })
  }
  expect((await statementOf('cash')).result.entries).toHaveLength(10_000)
  await fund(1, at('12:00:00', 1))
  const error = expect.stringContaining('--to: needs fewer days: over 10000 entries')
  expect(await statementOf('cash')).toEqual({ error })
})

test('a payout by a clock behind that of the builder belongs to the day on which its batch was sealed', async () => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebits(provider, [100_00], at('12:00:00'))
  await fund(150_00, at('13:00:00'), { reference: 'R-1' })
  const { id } = await builtBatch(provider)
  const { connectors } = fakeBank()
  granted(await payBatch(id, { runtime: runtimeAt('23:59:58', 0), connectors }))
  expect([await found(0), await found(1)]).toEqual([[], []])
})

type Fault = [difference: RegExp, plant: (day: SettledDay) => Promise<unknown>]

const faults: Record<string, Fault> = {
  'a batch with twice the payout': [
    /^payouts are 295\.50 in the ledger, but the nets of their batches give 147\.75$/,
    ({ batch }) => overwrite(keys.batch(batch), { paid: 295_50 }),
  ],
  'a batch with another net': [
    /^payouts are 147\.75 in the ledger, but the nets of their batches give 147\.76$/,
    ({ batch }) => overwrite(keys.batch(batch), { 'totals.net': 147_76 }),
  ],
  'a missing refund': [
    /^refunds_payable is -50\.00 in the ledger, but 0\.00 in the table$/,
    ({ reversed }) => remove(keys.refund(reversed)),
  ],
  'a refund of another amount': [
    /^refunds_payable is -50\.00 in the ledger, but -60\.00 in the table$/,
    ({ reversed }) => overwrite(keys.refund(reversed), { amount: 60_00 }),
  ],
  'a missing funding': [
    /^cash is -147\.75 in the ledger, but 2\.25 in the table$/,
    () => remove(keys.funding(gcb.identifier, 'R-1')),
  ],
  'an unreadable funding': [
    /^cannot be derived: /,
    () => overwrite(keys.funding(gcb.identifier, 'R-1'), { corrections: [null] }),
  ],
  'a correction that the cash does not include': [
    /^cash is -7\.75 in the ledger, but 2\.25 in the table$/,
    () => {
      const correction = { amount: 140_00, reason: 'x', at: '2000-01-01T00:00:00.000Z', by: 'x' }
      return overwrite(keys.funding(gcb.identifier, 'R-1'), { corrections: [correction] })
    },
  ],
  'cash without a funding or payout': [
    /^cash is 2\.25 in the ledger, but 2\.26 in the table$/,
    () => overwrite(keys.funds, { cash: 2_26 }),
  ],
  'stored balances that do not add up': [
    /^the opening trial balance is 2\.25$/,
    () => overwrite(keys.ledger(dayAt(1)), { 'balances.fee_income': 0 }),
  ],
  'an adjustment that the index lost': [
    /^provider_payable:\S+ is 50\.00 in the ledger, but 0\.00 in the table$/,
    ({ reversed }) => overwrite(keys.debit(reversed), { work: undefined, due: undefined }),
  ],
}

test.each(Object.entries(faults))('the ledger check reports %s', async (_, [difference, plant]) => {
  await plant(await settleDay())
  expect(await found(2)).toContainEqual(expect.stringMatching(difference))
})

test('the receivable of each bank follows from the debits, not from their lines', async () => {
  const { batch, reversed } = await settleDay()
  for (const chunk of await readCollection(keys.chunks(batch))) {
    const change = (row: unknown[]) => row.with(BANK, 'ECO')
    const debits = alterRow(String(chunk.debits), reversed, change)
    await overwrite(keyOf(chunk), { debits })
  }
  expect((await found(0)).sort()).toEqual([
    'bank_receivable:ECO changed by 50.00 in the ledger, but 0.00 in the table',
    'bank_receivable:GCB changed by 100.00 in the ledger, but 150.00 in the table',
  ])
})

test('the transfer of a provider for its debt causes no difference on any day, and ends what it owes', async () => {
  const provider = await newProvider({ account: '1041001001' })
  const [debit] = await completedDebits(provider, [100_00], at('12:00:00'))
  const deps = { runtime: runtimeAt('00:10:00', 2), connectors: fakeBank().connectors }
  granted(await payBatch((await builtBatch(provider)).id, deps))
  await reverse(debit?.facts.reference as Reference, at('09:00:00', 2))
  const { id } = await builtBatch(provider, 3)
  const owing = async (day: number) => (await closeDay(dayAt(day), at('03:00:00', 6))).owing
  expect(await owing(3)).toMatchObject([{ provider, balance: -100_00n }])
  const transfer = { bankReference: 'T-1', amount: pesewas(100_00) }
  granted(await completeBatch(id, transfer, noWrites, runtimeAt('10:00:00', 4)))
  const { entries, closing } = await readLedger(4)
  expect(entries).toEqual([expect.stringContaining('"type":"provider_payment"')])
  expect(closing).toEqual({ 'bank_receivable:GCB': 100_00, refunds_payable: -100_00 })
  expect(await closeDay(dayAt(4), at('03:00:00', 5))).toMatchObject({ open: [], owing: [] })
  for (const day of [0, 1, 2, 3, 4]) {
    const { invariants } = await reconcileLater(dayAt(day), at('02:00:00', 5))
    const differing = invariants.filter(({ number }) => number === 26 || number === 40)
    expect(differing.flatMap(({ examples }) => examples)).toEqual([])
  }
  await overwrite(keys.batch(id), { paid: -90_00 })
  const lacking = await reconcileLater(dayAt(4), at('02:00:00', 5))
  expect(lacking.invariants.find(({ number }) => number === 26)?.examples).toEqual([
    expect.objectContaining({ difference: 'it lacks 10.00, but 0.00 is outstanding' }),
  ])
})

test('a debit that completes a week after its charge causes no difference', async () => {
  await completedDebits(await newProvider(), [5_00], at('12:00:00', 6))
  expect(await found(6)).toEqual([])
})

test('a late completion that a note and a refund follow causes no difference on any day', async () => {
  const debit = await openedDebit(await newProvider(), 20_00)
  const { reference } = debit.facts
  await putException(lateCompletionOf(debit, at('10:00:00')))
  expect(await found(0)).toEqual([])
  const manage = manageException(runtimeAt('10:00:00', 1))
  const options = { reference, note: 'The bank returned it' }
  expect(await manage({ verb: 'resolve', options, actor: 'local:ama' })).not.toHaveProperty('error')
  expect(await found(1)).toEqual([])
  const cause = { origin: 'late_completion', reason: 'Dispute', at: at('10:00:00', 2) } as const
  const refund = newRefund(debit, cause)
  await transact([refundCreation(refund)], still())
  expect(await found(2)).toEqual([])
  const paid = completeRefund(sendRefund(refund, at('10:00:00', 3)), {
    bankReference: 'B-1',
    at: at('10:00:01', 3),
  })
  await replaceRefund(refund, paid, [], still())
  expect([await found(3), await found(0), await found(1), await found(2)]).toEqual([[], [], [], []])
})

test('a failed refund that a note repays causes no difference on any day', async () => {
  const reference = (await settleDay()).reversed
  const refund = (await findRefund(reference)) as Refund
  const cause = { failure: 'Closed', by: 'bank:GCB' }
  await recordRefundFailure(refund, cause, [], runtimeAt('10:00:00', 2))
  expect(await found(2)).toEqual([])
  const options = { reference, note: 'Repaid in cash' }
  const manage = manageException(runtimeAt('10:00:00', 3))
  expect(await manage({ verb: 'resolve', options, actor: 'local:ama' })).not.toHaveProperty('error')
  expect([await found(3), await found(2)]).toEqual([[], []])
})

test('a late completion that a call resolves after midnight is in the ledger of the new day', async () => {
  const debit = await openedDebit(await newProvider(), 20_00)
  await putException(lateCompletionOf(debit, at('10:00:00')))
  const times = [at('23:59:59'), at('00:00:01', 1)]
  const now = () => (times.length > 1 ? times.shift() : times[0]) as Date
  const options = { reference: debit.facts.reference, note: 'The bank returned it' }
  await manageException(still({ now }))({ verb: 'resolve', options, actor: 'local:ama' })
  expect((await readLedger(0)).closing).toMatchObject({ 'bank_receivable:GCB': 20_00 })
  expect((await readLedger(1)).closing).toEqual({})
})

test.each([
  ['before its settlement', '13:00:00', 0],
  ['after its settlement', '13:00:00', 1],
])('a reversal without a refund %s causes no difference on any day', async (_, time, day) => {
  const provider = await newProvider()
  const [, second] = await completedDebits(provider, [100_00, 50_00], at('12:00:00'))
  const reversal = () =>
    reverse(second?.facts.reference as Reference, at(time, day), { refund: 'none' })
  if (day === 0) await reversal()
  await builtBatch(provider)
  if (day === 1) await reversal()
  expect([await found(0), await found(1), await found(2)]).toEqual([[], [], []])
  const { closing } = await readLedger(2)
  // The bank owes the first debit alone, and the service owes its provider as much.
  expect(closing).toEqual({
    'bank_receivable:GCB': 100_00,
    [`provider_payable:${provider}`]: -100_00,
  })
})

test('a debit that is reversed after midnight, before its settlement, causes no difference on its day', async () => {
  const [debit] = await completedDebits(await newProvider(), [100_00], at('23:59:00'))
  await reverse(debit?.facts.reference as Reference, at('00:00:30', 1))
  expect([await found(0), await found(1)]).toEqual([[], []])
})

test('a run with a part of an earlier version leaves the ledger to the next night', async () => {
  const { provider } = await settleDay()
  const id = `${dayAt(0)}#earlier`
  const runtime = runtimeAt('02:00:00', 1)
  await startRun(id, dayAt(0), runtime)
  const perform = async (key: string) => {
    const [run, part] = await Promise.all([findRun(id), findPart(id, key)])
    if (!run || !part) throw new Error(`There is no part ${key}`)
    await performPart(run, part, runtime, { timeIsUp: () => false })
    return run
  }
  await perform('*')
  const run = await perform(provider)
  const part = await findPart(id, provider)
  const { ledger, ...result } = JSON.parse(String(part?.findings))
  const { collected, ...earlier } = ledger
  expect(collected).toEqual([['bank_receivable:GCB', 150_00]])
  const findings = JSON.stringify({ ...result, ledger: earlier })
  await overwrite(keys.reconciliationPart(id, provider), { findings })
  expect((await resultOf(run)).differences).toBe(0)
})

/** Performs the parts of the night after a day, and calls `work` before its result is computed. */
const foundAfter = async (day: number, work: () => Promise<unknown>) => {
  const [id, runtime] = [`${dayAt(day)}#night`, runtimeAt('02:00:00', day + 1)]
  await startRun(id, dayAt(day), runtime)
  for (;;) {
    const run = await findRun(id)
    if (run?.openParts === 0) {
      await work()
      const { invariants } = await resultOf(run)
      return invariants.find(({ number }) => number === 40)?.examples
    }
    for await (const part of partsOf(id))
      if (run && !part.findings) await performPart(run, part, runtime, { timeIsUp: () => false })
  }
}

test.each([
  // A minute before and after, because clocks differ.
  ['before its provider is read', '01:58:59', true, 0],
  ['just before its provider is read', '01:59:01', false, 0],
  ['while its provider is read', '02:00:30', false, 0],
  ['after its provider is read', '02:01:01', true, 0],
  ['a day later, while its provider is read', '02:00:30', false, 1],
  ['a day later, after its provider is read', '02:01:01', true, 1],
])(
  'an unsettled debit that is reversed %s counts once, or the next night carries it',
  async (_, time, isStored, day) => {
    const provider = await newProvider()
    const [debit] = await completedDebits(provider, [100_00, 50_00], at('12:00:00'))
    if (day === 1) expect(await found(0)).toEqual([])
    const reversal = () => reverse(debit?.facts.reference as Reference, at(time, day + 1))
    const isEarlier = time < '02:00:00'
    if (isEarlier) await reversal()
    expect(await foundAfter(day, async () => isEarlier || reversal())).toEqual([])
    const balances = { 'bank_receivable:GCB': 150_00, [`provider_payable:${provider}`]: -150_00 }
    const last = isStored ? day : day - 1
    const stored = last < 0 ? undefined : { day: dayAt(last), balances }
    expect(await findClosing(dayAt(day))).toEqual(stored)
    expect(await found(day + 1)).toEqual([])
  },
)

test('a reversal while its provider is read leaves the rest of the ledger compared', async () => {
  await settleDay()
  await remove(keys.funding(gcb.identifier, 'R-1'))
  const [debit] = await completedDebits(await newProvider(), [100_00], at('12:00:00'))
  const reversal = () => reverse(debit?.facts.reference as Reference, at('02:00:30', 1))
  const difference = 'cash is 0.00 in the ledger, but 150.00 in the table'
  expect(await foundAfter(0, reversal)).toMatchObject([{ difference }])
})

test.each(['cash without a funding or payout', 'an adjustment that the index lost'])(
  'a fault next to a debit that is reversed while its provider is read is found in the next night: %s',
  async (name) => {
    const day = await settleDay()
    const [debit] = await completedDebits(day.provider, [30_00], at('12:00:00', 2))
    const [difference, plant] = faults[name] as Fault
    await plant(day)
    await foundAfter(2, () => reverse(debit?.facts.reference as Reference, at('02:00:30', 3)))
    expect((await findClosing(dayAt(2)))?.day).toBe(dayAt(1))
    expect(await found(3)).toContainEqual(expect.stringMatching(difference))
  },
)

type During = { day: number; query: number; isSealed: boolean }

/** Builds the batch of the night of a reconciliation before one of the queries that its ledger task makes. */
const reconcileDuringBuild = async (provider: ProviderId, { day, query, isSealed }: During) => {
  const [id, runtime] = [`${dayAt(day)}#during`, runtimeAt('02:00:00', day + 1)]
  await startRun(id, dayAt(day), runtime)
  let [queries, built] = [0, false]
  const build = async (name: string, next: () => Promise<unknown>) => {
    queries += name === 'Query' ? 1 : 0
    if (name === 'Query' && queries === query) {
      await buildBatch({ provider, date: dayAt(day + 1), timeIsUp: () => !isSealed }, runtime)
      built = true
    }
    return next()
  }
  for (;;) {
    const run = await findRun(id)
    if (run?.openParts === 0) {
      expect(built).toBe(true)
      return resultOf(run)
    }
    for await (const part of partsOf(id)) {
      if (!run || part.findings) continue
      const isLedger = JSON.parse(part.tasks)[0]?.type === 'ledger'
      const stop = isLedger ? aroundTableCalls(build) : () => undefined
      await performPart(run, part, runtime, { timeIsUp: () => true })
      stop()
    }
  }
}

test.each(['settled', 'reversed'])(
  'a debit that is %s during a read of the ledger has one completion',
  async (end) => {
    const provider = await newProvider()
    const [debit] = await completedDebits(provider, [100_00], at('12:00:00'))
    const { entries } = await openDay(dayAt(0))
    let hasEnded = false
    aroundTableCalls(async (_, next, text) => {
      if (!hasEnded && text().includes(keys.batches(provider))) {
        hasEnded = true
        if (end === 'settled')
          await buildBatch({ provider, date: dayAt(1) }, runtimeAt('00:00:01', 1))
        else await reverse(debit?.facts.reference as Reference, at('12:05:00'))
      }
      return next()
    })
    const types = (await Array.fromAsync(entries)).map(({ type }) => type)
    expect(types).toEqual(end === 'settled' ? ['completion'] : ['completion', 'reversal'])
    expect(hasEnded).toBe(true)
  },
)

test('a batch that is sealed and not summed yet has its fees in the ledger', async () => {
  const provider = await newProvider({ feeSchedule: { basisPoints: 150, fixed: pesewas(0) } })
  await completedDebits(provider, [100_00], at('12:00:00'))
  const runtime = runtimeAt('00:00:01', 1)
  const request = { provider, date: dayAt(1), timeIsUp: () => true }
  const [batch] = (await buildBatch(request, runtime)).batches as [BatchId]
  await sealBatch(batch, runtime)
  const sealed = await readLedger(1)
  expect(sealed.closing.fee_income).toBe(-1_50)
  await finishBatch(batch, runtime)
  expect(await readLedger(1)).toEqual(sealed)
})

/** Eight lists of unsettled debits are read for their entries, and again for the debt. */
const QUERIES = { 'their entries': 9, 'the debt for them': 17 }

test.each(
  Object.entries(QUERIES).flatMap(([read, query]) =>
    [1, 2].flatMap((day) =>
      ['opened', 'sealed'].map(
        (state) => [day === 1 ? 'the day' : 'an earlier day', state, read, query, day] as const,
      ),
    ),
  ),
)(
  'a batch with debits of %s that is %s after %s were read counts once',
  async (_when, state, _read, query, day) => {
    const provider = await newProvider()
    const [reversed] = await completedDebits(provider, [100_00], at('12:00:00'))
    await builtBatch(provider)
    await completedDebits(provider, [50_00], at('12:00:00', 1))
    await reverse(reversed?.facts.reference as Reference, at('09:00:00', 1))
    const { invariants } = await reconcileDuringBuild(provider, {
      day,
      query,
      isSealed: state === 'sealed',
    })
    expect(invariants.find(({ number }) => number === 40)?.examples).toEqual([])
    const { closing } = await readLedger(day)
    expect((await findClosing(dayAt(day)))?.balances).toEqual(closing)
  },
)

test('a change of the cash while the ledger is compared causes no difference', async () => {
  await newProvider()
  await fund(100_00, at('09:00:00'), { reference: 'R-1' })
  let reads = 0
  aroundTableCalls(async (name, next, text) => {
    if (name === 'Get' && text().includes(keys.funds.pk)) reads += 1
    // Between the read of the fundings and the second read of the cash.
    if (reads === 2) {
      reads += 1
      await fund(5_00, at('02:00:06', 1), { reference: 'R-2' })
    }
    return next()
  })
  expect(await found(0)).toEqual([])
  expect(reads).toBeGreaterThan(2)
  expect((await findClosing(dayAt(0)))?.day).toBe(dayAt(0))
})

test('the offsets of a later payout are undone for the days before it', async () => {
  const provider = await newProvider({ account: '1041001001' })
  const [debit] = await completedDebits(provider, [100_00], at('12:00:00'))
  const pay = async ({ id }: { id: BatchId }, day: number) => {
    const { connectors } = fakeBank()
    return granted(await payBatch(id, { runtime: runtimeAt('00:10:00', day), connectors }))
  }
  await fund(300_00, at('10:00:00'))
  await pay(await builtBatch(provider), 2)
  await reverse(debit?.facts.reference as Reference, at('09:00:00', 2))
  const below = await builtBatch(provider, 3)
  await completedDebits(provider, [90_00], at('12:00:00', 3))
  expect(await pay(await builtBatch(provider, 4), 5)).toMatchObject({
    offsets: [{ batch: below.id, amount: 90_00 }],
  })
  for (const day of [0, 1, 2, 3, 4, 5]) expect(await found(day)).toEqual([])
})

test('a batch that is open or not summed when the night reads it causes no difference', async () => {
  const provider = await newProvider()
  await completedDebits(provider, [100_00], at('12:00:00'))
  const request = { provider, date: dayAt(1), timeIsUp: () => true }
  const { batches } = await buildBatch(request, runtimeAt('00:00:01'))
  expect([await found(0), await found(1)]).toEqual([[], []])
  await overwrite(keys.batch(batches[0] as BatchId), { sealedAt: at('00:00:02', 1).toISOString() })
  expect(await found(0)).toEqual([])
})

test('a fault of the table during the comparison is a fault of the run, and no difference', async () => {
  aroundTableCalls((_, next, text) => {
    if (!text().includes('"FUNDING"')) return next()
    throw Object.assign(new Error('throttled'), { $metadata: {} })
  })
  await expect(found(0)).rejects.toThrow('throttled')
})

test('the balances are stored only for days without a difference', async () => {
  const { batch } = await settleDay()
  await overwrite(keys.batch(batch), { paid: 295_50 })
  expect(await found(2)).not.toEqual([])
  const last = async (): Promise<Day | undefined> => (await findClosing(dayAt(5)))?.day
  expect(await last()).toBe(dayAt(1))
  await overwrite(keys.batch(batch), { paid: 147_75 })
  expect(await found(3)).toEqual([])
  expect(await last()).toBe(dayAt(3))
})

test('the balances of a day are stored an hour after its end', async () => {
  await settleDay()
  for (const [time, stored] of [
    ['00:59:59', 1],
    ['01:00:00', 2],
  ] as const) {
    await reconcileLater(dayAt(2), at(time, 3))
    expect((await findClosing(dayAt(5)))?.day).toBe(dayAt(stored))
  }
})

test('the balances of a day with an exception of a kind of a later version are not stored', async () => {
  const { reversed } = await settleDay()
  const debit = (await findDebit(reversed)) as Debit
  const later = { ...lateCompletionOf(debit, at('10:00:00', 2)), kind: 'later_kind' }
  await putException(later)
  const difference = 'has an exception of the unknown kind later_kind'
  expect([await found(2), await found(3)]).toEqual([[difference], [difference]])
  expect((await findClosing(dayAt(5)))?.day).toBe(dayAt(1))
})

test('the balances of three thousand accounts are stored in items of at most 100 KB', async () => {
  const balances = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, n) => [
      `provider_payable:p-${'x'.repeat(32)}-${n}`,
      1 - n * 1e9,
    ]),
  )
  const few = { cash: 1 }
  await putClosing({ day: dayAt(0), balances: few })
  await putClosing({ day: dayAt(1), balances }, `${dayAt(1)}#0-an-operator`)
  expect(await findClosing(dayAt(1))).toEqual({ day: dayAt(1), balances })
  await putClosing({ day: dayAt(1), balances }, dayAt(1))
  await putClosing({ day: dayAt(3), balances: few })
  const items = await readCollection({ pk: keys.ledger('').pk })
  expect(Math.max(...items.map((item) => JSON.stringify(item).length))).toBeLessThan(100_000)
  expect(await findClosing(dayAt(0))).toEqual({ day: dayAt(0), balances: few })
  expect(await findClosing(dayAt(2))).toEqual({ day: dayAt(1), balances })
  expect(await findClosing(dayAt(4))).toMatchObject({ day: dayAt(3), balances: few })
})

test('an unreadable debit is a difference and hides no other', async () => {
  const { provider } = await settleDay()
  const [unreadable, unsettled] = await completedDebits(provider, [7_00, 8_00], at('12:00:00', 2))
  if (!unreadable || !unsettled) throw new Error('two were completed')
  await overwrite(keys.debit(unreadable.facts.reference), { metadata: '{' })
  const { invariants } = await reconcileLater(dayAt(2), at('03:00:00', 4))
  const numbers = invariants.filter(({ differences }) => differences > 0).map((one) => one.number)
  expect(numbers).toEqual(expect.arrayContaining([22, 40]))
  expect(invariants.find(({ number }) => number === 40)?.examples).toMatchObject([
    { subject: dayAt(2), difference: expect.stringContaining('cannot be derived') },
  ])
})
