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
import { transact } from '../../shared/store/transactions.ts'
import { type FakeBank, fakeBank, type PayoutBehaviour } from '../settlement/fake-bank.ts'
import {
  at,
  complete,
  DAY_MS,
  dayAt,
  fund,
  newProvider,
  openedDebit,
  reverse,
} from '../settlement/one-provider.ts'
import { still } from '../support/examples.ts'

/** A delay in days and milliseconds. */
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
  fundings: { amount: number; day: number; recordedAfter: number }[]
  behaviours: PayoutBehaviour[]
}

export const LAST_DAY = 8

type State = {
  now: Date
  providers: ProviderId[]
  bank: FakeBank
  deps: PaymentDeps
}

type Step = { when: number; action: () => Promise<unknown> }

const midnight = (days: number): number => at('00:00:00', days).getTime()

const timeOf = ({ days, time }: Moment): number => midnight(days) + time

const after = (when: number, { days, time }: Moment): number =>
  // Two steps never have the same time, which orders them.
  when + days * DAY_MS + time + 1

/** Runs a plan of two providers step by step, and calls `eachNight` after each night's run. */
export const runDays = async (
  plan: Plan,
  eachNight: (now: Date) => Promise<void>,
): Promise<void> => {
  const bank = fakeBank()
  bank.behaviours.push(...plan.behaviours)
  const feeSchedule = { basisPoints: 150, fixed: pesewas(10) }
  const state: State = {
    now: at('00:00:00'),
    providers: [
      await newProvider({ feeSchedule, account: '1041001001' }),
      await newProvider({ account: '1041001002' }),
    ],
    bank,
    deps: { runtime: still({ now: () => state.now }), connectors: bank.connectors },
  }
  const steps = [
    ...plan.debits.flatMap((debit) => debitSteps(debit, state)),
    ...plan.fundings.map((funding) => fundingStep(funding, state)),
    ...Array.from({ length: LAST_DAY }, (_, index) => index + 1).flatMap((day) => [
      { when: midnight(day) + 600_000, action: () => runNight(state) },
      { when: midnight(day) + 2 * 3_600_000, action: () => eachNight(state.now) },
    ]),
  ]
  const until = midnight(LAST_DAY + 1)
  for (const { when, action } of steps.filter((step) => step.when < until).sort(byTime)) {
    state.now = new Date(when)
    await action()
  }
}

const byTime = (one: Step, other: Step): number => one.when - other.when

const debitSteps = (planned: PlannedDebit, state: State): Step[] => {
  const first = timeOf(planned.at)
  const second = after(first, planned.next)
  const provider = state.providers[planned.provider] as ProviderId
  let debit: Debit | undefined
  const opened = (): Debit => {
    if (!debit) throw new Error('The steps are out of order')
    return debit
  }
  const reference = () => opened().facts.reference
  const open = async () => {
    debit = await openedDebit(provider, planned.amount)
  }
  const completion = {
    when: first,
    action: async () => {
      await open()
      await complete(opened(), state.now, planned.fee)
    },
  }
  const refunded = refundSteps(planned, second, { reference, state })
  switch (planned.outcome) {
    case 'completed':
      return [completion]
    case 'reversed':
      return [
        completion,
        { when: second, action: () => reverse(reference(), state.now) },
        ...refunded,
      ]
    case 'late': {
      const report = () => putException(exceptionOf(opened(), 'late_completion', state.now))
      const steps: Step[] = [
        { when: first, action: () => open().then(report) },
        // The bank repeats its report.
        { when: first + 1_000, action: report },
      ]
      return [...steps, ...lateSteps(planned, second, { report, opened, state }), ...refunded]
    }
  }
}

type Late = { report: () => Promise<void>; opened: () => Debit; state: State }

const lateSteps = (
  { late }: PlannedDebit,
  when: number,
  { report, opened, state }: Late,
): Step[] => {
  const note = { when, action: () => resolve(opened().facts.reference, 'late_completion', state) }
  const refund = async () => {
    const { now } = state
    const refund = newRefund(opened(), { origin: 'late_completion', reason: 'Late', at: now })
    await transact([refundCreation(refund)], still())
    await resolve(refund.reference, 'late_completion', state, 2_000)
  }
  switch (late) {
    case 'undecided':
      return []
    case 'noted':
      return [note]
    case 'refunded':
      return [{ when, action: refund }]
    case 'noted, then refunded':
      return [
        { ...note, when: when - 1 },
        { when: when - 0.5, action: report },
        { when, action: refund },
      ]
  }
}

type Refunded = { reference: () => Reference; state: State }

const refundSteps = (
  planned: PlannedDebit,
  since: number,
  { reference, state }: Refunded,
): Step[] => {
  const change = (next: (refund: Refund) => Refund) => async () => {
    const refund = await findRefund(reference())
    if (!refund) return
    const changed = next(refund)
    const failed = changed.status === 'failed'
    const record = { ...exceptionOf(refund, 'refund', state.now), requestId: refund.uuid }
    await replaceRefund(refund, changed, failed ? [exceptionWrite(record)] : [], still())
  }
  const end = change((refund) =>
    completeRefund(beginRefund(refund, state.now), { bankReference: 'B-1', at: state.now }),
  )
  const reject = change((refund) =>
    failRefund(beginRefund(refund, state.now), { failure: 'No', at: state.now }),
  )
  const note = () => resolve(reference(), 'refund', state)
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
  return (isRefunded ? ends[planned.refund] : []).map((action) => {
    when = after(when, planned.refundTakes)
    return { when, action }
  })
}

type About = { reference: Reference; provider: ProviderId; bank: BankIdentifier; amount: Pesewas }

const exceptionOf = (subject: Debit | Refund, kind: ExceptionKind, when: Date): ReportException => {
  const about: About =
    'facts' in subject ? { ...subject.facts, bank: subject.facts.bank.identifier } : subject
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

/** Resolves exceptions as an operator does, with the record of the change. */
const resolve = async (
  reference: Reference,
  kind: ExceptionKind,
  { now }: State,
  takes = 0,
): Promise<void> => {
  for (const exception of await findExceptions(reference)) {
    if (exception.kind !== kind || exception.resolvedAt) continue
    const by = 'local:ama'
    const change = { at: now, by, noun: 'exception', verb: 'resolve', target: reference }
    const resolvedAt = new Date(now.getTime() + takes).toISOString()
    await resolveException(
      exception,
      { note: 'By hand', resolvedBy: by, resolvedAt },
      changeWrites({ ...change, id: randomUUID() }, {}, { resolved: kind, note: 'By hand' }),
      real,
    )
  }
}

const fundingStep = (
  { amount, day, recordedAfter }: Plan['fundings'][number],
  state: State,
): Step => ({
  when: midnight(day + recordedAfter) + 15 * 3_600_000,
  action: () => fund(amount, state.now, { date: dayAt(day) }),
})

/** Builds the batches of a night, pays those that are due, and retries those that failed. */
const runNight = async ({ now, providers, deps }: State): Promise<void> => {
  const date = dayOf(now)
  const due = await listPayable(startOf(date))
  for (const provider of providers) await buildBatch({ provider, date }, deps.runtime)
  const batches = await Promise.all(providers.map((id) => listBatches(id, { limit: 100 })))
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
