import { randomUUID } from 'node:crypto'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { ExceptionKind, ReportException } from '../../shared/domain/debits/exception.ts'
import {
  beginRefund,
  completeRefund,
  failRefund,
  newRefund,
  type Refund,
  retryRefund,
} from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { type Pesewas, pesewas } from '../../shared/domain/money.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { dayOf, startOf } from '../../shared/domain/time.ts'
import { real } from '../../shared/runtime.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { type PaymentDeps, payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import {
  exceptionWrite,
  findExceptions,
  putException,
  resolveException,
} from '../../shared/store/debits/exceptions.ts'
import { findRefund, refundCreation, replaceRefund } from '../../shared/store/debits/refunds.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import { findBatches, listBatches, listPayable } from '../../shared/store/settlement/batches.ts'
import { putFunding } from '../../shared/store/settlement/funding.ts'
import { transact } from '../../shared/store/transactions.ts'
import { type FakeBank, fakeBank, type PayoutBehaviour } from '../settlement/fake-bank.ts'
import {
  at,
  complete,
  DAY_MS,
  newProvider,
  openedDebit,
  reverse,
} from '../settlement/one-provider.ts'
import { gcb, still } from '../support/examples.ts'

/** Days of two providers with everything that the ledger derives entries from, one step at a time. */

/** Days after the step before, and the time of the day. */
export type Moment = { days: number; time: number }

export type RefundEnd = 'open' | 'completed' | 'retried' | 'repaid by hand' | 'rejected'

type LateEnd = 'undecided' | 'noted' | 'refunded' | 'noted, then refunded'

export type PlannedDebit = {
  provider: 0 | 1
  amount: number
  fee: number | undefined
  at: Moment
  outcome: 'completed' | 'reversed' | 'late'
  /** After the outcome: the reversal, or the decision about a late completion. */
  next: Moment
  late: LateEnd
  refund: RefundEnd
  /** Between the steps of the refund. */
  refundTakes: Moment
}

export type Plan = {
  debits: PlannedDebit[]
  /** Of the first days; each is recorded on a later one. */
  fundings: { amount: number; day: number; recordedAfter: number }[]
  behaviours: PayoutBehaviour[]
}

export const LAST_DAY = 8

type Days = {
  now: Date
  providers: ProviderId[]
  bank: FakeBank
  deps: PaymentDeps
}

export type Step = { when: number; what: () => Promise<unknown> }

const midnight = (days: number): number => at('00:00:00', days).getTime()

const timeOf = ({ days, time }: Moment): number => midnight(days) + time

const after = (when: number, { days, time }: Moment): number =>
  // Never at the same time, so that the order of the steps is that of their times.
  when + days * DAY_MS + time + 1

/** Does it all, and after each night what the test wants to see. */
export const live = async (plan: Plan, eachNight: (now: Date) => Promise<void>): Promise<void> => {
  const bank = fakeBank()
  bank.behaviours.push(...plan.behaviours)
  const feeSchedule = { basisPoints: 150, fixed: pesewas(10) }
  const days: Days = {
    now: at('00:00:00'),
    providers: [
      await newProvider({ feeSchedule, account: '1041001001' }),
      await newProvider({ account: '1041001002' }),
    ],
    bank,
    deps: { runtime: still({ now: () => days.now }), connectors: bank.connectors },
  }
  const steps = [
    ...plan.debits.flatMap((debit) => debitSteps(debit, days)),
    ...plan.fundings.map((one) => fundingStep(one, days)),
    ...Array.from({ length: LAST_DAY }, (_, n) => n + 1).flatMap((n) => [
      { when: midnight(n) + 600_000, what: () => runNight(days) },
      { when: midnight(n) + 2 * 3_600_000, what: () => eachNight(days.now) },
    ]),
  ]
  const until = midnight(LAST_DAY + 1)
  for (const { when, what } of steps.filter((step) => step.when < until).sort(byTime)) {
    days.now = new Date(when)
    await what()
  }
}

const byTime = (one: Step, other: Step): number => one.when - other.when

const debitSteps = (planned: PlannedDebit, days: Days): Step[] => {
  const first = timeOf(planned.at)
  const second = after(first, planned.next)
  const provider = days.providers[planned.provider] as ProviderId
  let debit: Debit | undefined
  const known = (): Debit => {
    if (!debit) throw new Error('The steps are out of order')
    return debit
  }
  const reference = () => known().facts.reference
  const opened = async () => {
    debit = await openedDebit(provider, planned.amount)
  }
  const completion = {
    when: first,
    what: async () => {
      await opened()
      await complete(known(), days.now, planned.fee)
    },
  }
  const refunded = refundSteps(planned, second, { reference, days })
  switch (planned.outcome) {
    case 'completed':
      return [completion]
    case 'reversed':
      return [completion, { when: second, what: () => reverse(reference(), days.now) }, ...refunded]
    case 'late': {
      const report = () => putException(exceptionOf(known(), 'late_completion', days.now))
      const steps: Step[] = [
        { when: first, what: () => opened().then(report) },
        // The bank repeats its report.
        { when: first + 1_000, what: report },
      ]
      return [...steps, ...lateSteps(planned, second, { report, known, days }), ...refunded]
    }
  }
}

type Late = { report: () => Promise<void>; known: () => Debit; days: Days }

const lateSteps = ({ late }: PlannedDebit, when: number, { report, known, days }: Late): Step[] => {
  const note = { when, what: () => resolve(known().facts.reference, 'late_completion', days) }
  const refund = async () => {
    const { now } = days
    const made = newRefund(known(), { origin: 'late_completion', reason: 'Late', at: now })
    await transact([refundCreation(made)], still())
    await resolve(made.reference, 'late_completion', days, 2_000)
  }
  switch (late) {
    case 'undecided':
      return []
    case 'noted':
      return [note]
    case 'refunded':
      return [{ when, what: refund }]
    case 'noted, then refunded':
      return [
        { ...note, when: when - 1 },
        { when: when - 0.5, what: report },
        { when, what: refund },
      ]
  }
}

type Refunded = { reference: () => Reference; days: Days }

const refundSteps = (
  planned: PlannedDebit,
  since: number,
  { reference, days }: Refunded,
): Step[] => {
  const change = (next: (refund: Refund) => Refund) => async () => {
    const refund = await findRefund(reference())
    if (!refund) return
    const changed = next(refund)
    const failed = changed.status === 'failed'
    const record = { ...exceptionOf(refund, 'refund', days.now), requestId: refund.uuid }
    await replaceRefund(refund, changed, failed ? [exceptionWrite(record)] : [], still())
  }
  const end = change((refund) =>
    completeRefund(beginRefund(refund, days.now), { bankReference: 'B-1', at: days.now }),
  )
  const reject = change((refund) =>
    failRefund(beginRefund(refund, days.now), { failure: 'No', at: days.now }),
  )
  const note = () => resolve(reference(), 'refund', days)
  const retry = async () => {
    await change(retryRefund)()
    await note()
  }
  const ends: Record<RefundEnd, (() => Promise<unknown>)[]> = {
    open: [],
    completed: [end],
    rejected: [reject],
    retried: [reject, retry, end],
    'repaid by hand': [reject, note],
  }
  const isRefunded = planned.outcome === 'reversed' || planned.late.endsWith('refunded')
  let when = since
  return (isRefunded ? ends[planned.refund] : []).map((what) => {
    when = after(when, planned.refundTakes)
    return { when, what }
  })
}

type About = { reference: Reference; provider: ProviderId; bank: BankIdentifier; amount: Pesewas }

const exceptionOf = (of: Debit | Refund, kind: ExceptionKind, when: Date): ReportException => {
  const about: About =
    'facts' in of
      ? { ...of.facts, provider: of.facts.provider, bank: of.facts.bank.identifier }
      : of
  const { reference, provider, bank, amount } = about
  return {
    reference,
    kind,
    at: when,
    provider,
    bank,
    amount,
    by: 'bank:GCB',
    requestId: randomUUID(),
    report: '{}',
  }
}

/** As an operator resolves exceptions: each with the record of the change. */
const resolve = async (
  reference: Reference,
  kind: ExceptionKind,
  { now }: Days,
  takes = 0,
): Promise<void> => {
  for (const one of await findExceptions(reference)) {
    if (one.kind !== kind || one.resolvedAt) continue
    const by = 'local:ama'
    const change = { at: now, by, noun: 'exception', verb: 'resolve', target: reference }
    const resolvedAt = new Date(now.getTime() + takes).toISOString()
    await resolveException(
      one,
      { note: 'By hand', resolvedBy: by, resolvedAt },
      changeWrites({ ...change, id: randomUUID() }, {}, { resolved: kind, note: 'By hand' }),
      real,
    )
  }
}

const fundingStep = (
  { amount, day, recordedAfter }: Plan['fundings'][number],
  days: Days,
): Step => ({
  when: midnight(day + recordedAfter) + 15 * 3_600_000,
  what: () =>
    putFunding(
      {
        bank: gcb.identifier,
        reference: randomUUID(),
        amount: pesewas(amount),
        date: dayOf(new Date(midnight(day))),
        recordedAt: days.now,
        recordedBy: 'local:ama',
      },
      [],
      still(),
    ),
})

/** Builds the batches of a night, pays those that are due, and retries those that failed. */
const runNight = async ({ now, providers, deps }: Days): Promise<void> => {
  const date = dayOf(now)
  const due = await listPayable(startOf(date))
  for (const provider of providers) {
    await buildBatch({ provider, date }, deps.runtime)
  }
  const batches = await Promise.all(
    providers.map((provider) => listBatches(provider, { limit: 100 })),
  )
  const inStatus = (status: string) => batches.flat().filter((batch) => batch.status === status)
  for (const { id } of inStatus('failed')) await unlessLost(retryBatch(id, deps))
  for (const { id } of [...(await findBatches(due)), ...inStatus('processing')]) {
    await unlessLost(payBatch(id, deps))
  }
}

const unlessLost = (paying: Promise<unknown>): Promise<unknown> =>
  paying.catch((error: unknown) => {
    if (!/is lost$/.test(String(error))) throw error
  })
