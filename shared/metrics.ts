import { environment, wallTime } from './runtime.ts'

export const METRICS_NAMESPACE = 'DebitCollection'
/** The dimension of every metric: stages may share an account, not their alarms. */
export const metricsService = (stage: string): string => `debit-collection-${stage}`

/** The units of the metrics that only the dashboard shows. */
export const shownMetrics = {
  /** New debits and their amounts. */
  DebitsCharged: 'Count',
  DebitsReversed: 'Count',
  ChargedPesewas: 'None',
  CompletedPesewas: 'None',
  WebhookDelivered: 'Count',
  WebhookAttemptFailed: 'Count',
  WebhookAbandoned: 'Count',
  WebhookAttemptMilliseconds: 'Milliseconds',
  SettledDebits: 'Count',
  SettledGrossPesewas: 'None',
  SettledFeePesewas: 'None',
  SettledNetPesewas: 'None',
  SettlementPaid: 'Count',
  RefundsCompleted: 'Count',
  RefundedPesewas: 'None',
  /** Requests of providers to reverse a debit. */
  ReversalRequested: 'Count',
  /** Debits that were submitted without counting the prompts of their customers. */
  PromptsUnchecked: 'Count',
  /** Messages that the sweep sent again. */
  SweepRepaired: 'Count',
} as const

/** The units of the metrics that have an alarm. */
export const alarmedMetrics = {
  DebitsCompleted: 'Count',
  DebitsFailed: 'Count',
  /** Failed less completed debits; its line has the bank as a dimension. */
  FailureExcess: 'None',
  /** Charges of a known caller with a 4xx reply, except 429, or with 503/2003, and the latter alone. */
  ChargesRefused: 'Count',
  BankUnavailable: 'Count',
  /** Seconds from an event to its first webhook attempt, and the first attempts that failed. */
  WebhookFirstSeconds: 'Seconds',
  WebhookFirstFailed: 'Count',
  /** Days for which every attempt at a webhook has failed. */
  WebhookFailingDays: 'Count',
  SettlementFailed: 'Count',
  /** Due batches that cannot be paid. */
  SettlementNotPaid: 'Count',
  /** Providers whose settlement is not done two hours after midnight. */
  SettlementUnfinished: 'Count',
  /** Nights on which a needed calendar is missing: of this year, in December also of the next. */
  CalendarMissing: 'Count',
  /** Rejected bank reports by kind (domain/debits/exception.ts); each is an exception to resolve. */
  LateCompletion: 'Count',
  RefusedReport: 'Count',
  Contradiction: 'Count',
  /** Refunds that a bank rejected or that cannot be sent; each is an exception to resolve. */
  RefundFailed: 'Count',
  /** At 02:00 UTC: requests of providers whose day for a decision has passed. */
  RequestsOverdue: 'Count',
  /** At 02:00 UTC: open exceptions, and payouts of earlier days that are not made. */
  OpenExceptions: 'Count',
  OverduePayouts: 'Count',
  /** Batches that were due on the day before, and those that were not paid on it. */
  PayoutsDue: 'Count',
  PayoutsLate: 'Count',
  /** Requests of banks with a 4xx reply, by cause: credential, request limit, others. */
  BankCredentialsRefused: 'Count',
  BankRequestsLimited: 'Count',
  BankRequestsRefused: 'Count',
  /** Each minute in which a bank is down; its line has the bank as a dimension. */
  BankDown: 'Count',
  /** Stored secrets that no version of the sealing key opens. */
  SecretsUnreadable: 'Count',
  /** Days until the client certificate for banks expires, when a worker begins to use it. */
  ClientCertificateDays: 'None',
  /** Updates and removals of change records, which are append-only. */
  ChangeRecordsAltered: 'Count',
  /** Days whose audit object a night has written; 0 for a repeat. */
  DaysSealed: 'Count',
  ReconciliationDifferences: 'Count',
  /** GHS that providers owe since an earlier day, and banks for more than two days. */
  ProvidersOwing: 'None',
  BanksOwing: 'None',
  /** Reconciliations that have not ended in time. */
  ReconciliationUnfinished: 'Count',
  /** Counts of a provider's day far above its last weeks; the log names provider and remedy. */
  UnusualUse: 'Count',
  /** Debits that failed because their customers had too many approval prompts. */
  PromptsRefused: 'Count',
  /** Providers whose prompts customers decline or let time out; the log names provider and remedy. */
  UnwantedPrompts: 'Count',
  SweepRuns: 'Count',
  /** Items, shards and providers that a run of the sweep could not check. */
  SweepFaults: 'Count',
  /** The age of the oldest debits that the sweep has not checked. */
  SweepLagSeconds: 'Seconds',
} as const

const units = { ...shownMetrics, ...alarmedMetrics }

/** These have the bank as a second dimension, so that the mail of an alarm names it. */
const perBank = ['BankDown', 'FailureExcess'] as const satisfies AlarmedMetric[]
export type MetricPerBank = (typeof perBank)[number]

export type MetricName = keyof typeof units
export type AlarmedMetric = keyof typeof alarmedMetrics

export type Figures = Partial<Record<MetricName, number>>

/**
 * Returns the members that make a log line a metric, in CloudWatch's embedded metric format; the line
 * has the dimension `service`. Undefined without figures, or where metrics are disabled.
 */
export const metricMembers = (figures: Figures): object | undefined => {
  const names = Object.keys(figures) as MetricName[]
  if (names.length === 0 || environment.metricsDisabled) return undefined
  const CloudWatchMetrics = [...Map.groupBy(names, isPerBank)].map(([hasBank, group]) => ({
    Namespace: METRICS_NAMESPACE,
    Dimensions: [hasBank ? ['service', 'bank'] : ['service']],
    Metrics: group.map((Name) => {
      const Unit = units[Name]
      // A metric without a unit is a number; each stored byte costs.
      return Unit === 'Count' || Unit === 'None' ? { Name } : { Name, Unit }
    }),
  }))
  return { _aws: { Timestamp: wallTime().getTime(), CloudWatchMetrics }, ...figures }
}

const isPerBank = (name: MetricName): boolean => perBank.some((other) => other === name)

/** Writes one line. The log is searchable by `details`, which cost less than dimensions. */
export const measure = (figures: Figures, details: Record<string, string | number> = {}): void => {
  const metrics = metricMembers(figures)
  if (!metrics) return
  const line = { service: metricsService(environment.stage), ...details, ...metrics }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
