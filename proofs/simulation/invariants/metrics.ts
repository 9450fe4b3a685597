import type { Change, Item } from '../../../sandbox/aws/table/change.ts'
import type { ExceptionKind } from '../../../shared/domain/debits/exception.ts'
import type { AlarmedMetric } from '../../../shared/metrics.ts'
import type { ApiCall, Observations } from '../engine/observations.ts'
import { areUnwanted, type Cause, isUnusual, swept } from './daily-use.ts'
import type { ObservationIndex } from './observation-index.ts'
import { mayWait } from './payout-days.ts'
import { entriesOf, isRefusal, type RawDebit } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { dayOf, HOUR_MS, MINUTE_MS } from './time-and-money.ts'

/** 63: each metric that an alarm uses is measured when its event happens. */

type Causes = (observations: Observations, index: ObservationIndex) => Cause[]

type IsCause = (before: Change['before'], after: Change['after']) => boolean

/** The invocation that writes an item of the entity measures it, or the relay. */
const changed =
  (by: 'writer' | 'relay', entity: string, isCause: IsCause): Causes =>
  ({ changes }) =>
    changes
      .filter(({ before, after }) => (after ?? before)?.entity === entity)
      .filter((change) => change.by && isCause(change.before, change.after))
      .map(({ before, after, by: writer }) => ({
        about: String((after ?? before)?.pk),
        ...(by === 'writer' && { by: writer?.invocation ?? 0 }),
      }))

const opened = (kind: ExceptionKind): Causes =>
  changed('relay', 'exception', (before, after) => {
    return !before && after?.kind === kind && !after.resolvedAt
  })

const ended = (status: 'completed' | 'failed'): Causes =>
  changed('relay', 'debit', (before, after) => {
    return after?.status === status && before?.status !== status
  })

const invoked =
  (name: string): Causes =>
  ({ invocations }) =>
    [...invocations].flatMap(([by, own]) => (own.name === name ? [{ about: name, by }] : []))

const replied =
  (isCause: (status: number) => boolean): Causes =>
  ({ calls }) =>
    calls
      .filter(({ caller, reply }) => caller?.kind === 'bank' && reply && isCause(reply.status))
      .map(({ name, invocation }) => ({ about: name, by: invocation }))

const possibly =
  (happens: (observations: Observations) => boolean): Causes =>
  (observations) =>
    happens(observations) ? [{ about: '', isPossible: true }] : []

const called = (isCause: (call: ApiCall, status: number) => boolean): Causes =>
  possibly(({ calls }) => calls.some((call) => isCause(call, call.reply?.status ?? 0)))

const stored = (isCause: (item: Item) => boolean): Causes =>
  possibly(({ changes }) => changes.some(({ after }) => after && isCause(after)))

const RECONCILED_MS = 6 * HOUR_MS

/** Reports whether a reconciliation lasted so long that an alarm rings. */
const isUnfinished = ({ items, setup }: Observations): boolean =>
  items.some(({ entity, startedAt, endedAt }) => {
    const end = endedAt ? Date.parse(String(endedAt)) : setup.endedAt
    const start = Date.parse(String(startedAt))
    return entity === 'reconciliation' && end - start > RECONCILED_MS - 2 * setup.skew
  })

/** Longer than a payout takes. */
const PAYS_MS = 2 * MINUTE_MS

/** A batch that stays pending after its message may not be paid, unless its bank pays nothing today. */
const unpaid: Causes = ({ invocations, changes, setup: { skew } }, index) => {
  const writes = changes.filter(({ after }) => after?.entity === 'batch')
  const changesOf = Map.groupBy(writes, ({ after }) => String(after?.id))
  return [...invocations].flatMap(([by, { payments, startedAt }]) =>
    [...payments.matchAll(/"batch":"([^"]+)"/g)].flatMap(([, about = '']) => {
      const own = changesOf.get(about) ?? []
      const later = own.filter(({ at }) => startedAt < at && at < startedAt + PAYS_MS)
      const first = own.findLast(({ at }) => at <= startedAt)
      const seen = [first, ...later].map((change) => change?.after?.status)
      const period = [startedAt, startedAt + PAYS_MS] as const
      const days = [startedAt - skew, startedAt + PAYS_MS + skew].map(dayOf)
      const mayBeFree = mayWait(index, String(first?.after?.provider), days, period)
      const isBegun = later.some((change) => change.by?.invocation === by)
      return seen.includes('pending') && !isBegun
        ? [{ about, by, isPossible: later.length > 0 || mayBeFree }]
        : []
    }),
  )
}

/** Other metrics count these. */
const OTHERS = new Set([401, 403, 429])

/** A reconciliation that gets a member. */
const reconciled = (member: 'endedAt' | 'sealed'): Causes =>
  changed('writer', 'reconciliation', (before, after) => !before?.[member] && !!after?.[member])

/** A text: why no observation shows the event. */
const causesOf: Record<AlarmedMetric, Causes | string> = {
  DebitsCompleted: ended('completed'),
  DebitsFailed: ended('failed'),
  FailureExcess: 'the difference of the two above',
  ClientCertificateDays: 'no simulated stage has a client certificate',
  ChargesRefused: called(({ name }, status) => name === 'charge' && status >= 400),
  BankUnavailable: called(({ name }, status) => name === 'charge' && status === 503),
  WebhookFirstSeconds: 'a receiver sees no number of an attempt',
  WebhookFirstFailed: 'a receiver sees no number of an attempt',
  LateCompletion: opened('late_completion'),
  RefusedReport: opened('refused_report'),
  Contradiction: opened('contradiction'),
  RefundFailed: opened('refund'),
  ChangeRecordsAltered: changed('relay', 'change', (before) => before !== undefined),
  SettlementFailed: changed('writer', 'batch', (before, after) => {
    return before?.status === 'processing' && after?.status === 'failed'
  }),
  ReconciliationDifferences: reconciled('endedAt'),
  ProvidersOwing: 'only nights with stored balances are measured',
  BanksOwing: 'only nights with stored balances are measured',
  DaysSealed: reconciled('sealed'),
  // Requests without a token are not measured.
  BankCredentialsRefused: called(({ caller }, status) => caller?.kind === 'bank' && status >= 401),
  BankRequestsLimited: replied((status) => status === 429),
  BankRequestsRefused: replied((status) => status >= 400 && status < 500 && !OTHERS.has(status)),
  PromptsRefused: changed('writer', 'debit', (before, after) => {
    const last = after && entriesOf(after as RawDebit).at(-1)
    return before?.status === 'pending' && last !== undefined && isRefusal(last)
  }),
  SettlementUnfinished: invoked('reconcile-day'),
  RequestsOverdue: invoked('reconcile-day'),
  OpenExceptions: invoked('reconcile-day'),
  OverduePayouts: invoked('reconcile-day'),
  PayoutsDue: invoked('reconcile-day'),
  PayoutsLate: invoked('reconcile-day'),
  SweepRuns: invoked('sweep'),
  SweepLagSeconds: invoked('sweep'),
  BankDown: stored(({ pk, state }) => pk === 'BANK_HEALTH' && state === 'down'),
  ReconciliationUnfinished: possibly(isUnfinished),
  // A write whose reply is lost is not measured; the next failure is.
  WebhookFailingDays: stored((item) => item.entity === 'webhook-health' && !!item.failingSince),
  SecretsUnreadable: possibly(({ strikes }) =>
    strikes.some(({ name }) => name === 'sealing key missing'),
  ),
  // The time of a run with small sizes can end while it reads a feed.
  SweepFaults: possibly(({ setup }) => !setup.isHealthy || setup.hasSmallSizes),
  CalendarMissing: stored((item) => item.payoutDays === 'working' || item.reversals === 'request'),
  SettlementNotPaid: unpaid,
  UnusualUse: swept(isUnusual),
  UnwantedPrompts: swept(areUnwanted),
}

/**
 * A lost record is never measured; the sweep only sends its messages. The retries of a record end within
 * a long outage of the queues.
 */
const LOSES_RECORDS = ['record lost', 'shard blocked', 'queue outage']

/** No other invocation than that of an event measures these. */
const EXACT = ['SettlementNotPaid', 'UnusualUse', 'UnwantedPrompts']

const eventsAreMeasured: Check = (index, report) => {
  const { observations, setup } = index
  const { measurements, invocations, strikes } = observations
  // The losses of a shape of a debit have no strikes.
  const isShape = !setup.isHealthy && strikes.length === 0
  const losesRecords = isShape || strikes.some(({ name }) => LOSES_RECORDS.includes(name))
  const byName = Map.groupBy(measurements, ({ name }) => name)
  for (const [name, causesIn] of Object.entries(causesOf)) {
    if (typeof causesIn === 'string') continue
    const measured = byName.get(name) ?? []
    const causes = causesIn(observations, index)
    const measurers = new Set(measured.map(({ by }) => by))
    const certain = causes.filter(({ isPossible }) => !isPossible)
    for (const { about, by } of certain)
      if (by !== undefined && invocations.get(by)?.isFinished && !measurers.has(by))
        report(about, `was not measured as ${name}`)
    const relayed = certain.filter(({ by }) => by === undefined).length
    const sum = measured.reduce((total, { value }) => total + value, 0)
    if (sum < relayed && !losesRecords)
      report(name, `was measured ${sum} times, but happened ${relayed} times`)
    const isCaused = (by: number | undefined): boolean =>
      causes.some((cause) => cause.by === by || !EXACT.includes(name))
    if (measured.some(({ by, value }) => value > 0 && !isCaused(by)))
      report(name, 'was measured without its event')
  }
}

const PER_BANK = ['BankDown', 'FailureExcess']

/** An alarm of a metric names its dimensions. */
const metricsHaveDimensions: Check = ({ observations: { measurements }, setup }, report) => {
  for (const { name, dimensions } of measurements) {
    const { service, bank, ...others } = dimensions
    const isOfBank = bank !== undefined && setup.banks.includes(bank)
    const isRight = PER_BANK.includes(name) ? isOfBank : !('bank' in dimensions)
    if (!service || !isRight || Object.keys(others).length > 0)
      report(name, `was measured with the dimensions ${JSON.stringify(dimensions)}`)
  }
}

export const checks: Checks = { 63: [eventsAreMeasured, metricsHaveDimensions] }
