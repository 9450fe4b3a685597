import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics'
import { environment } from './runtime.ts'

export const METRICS_NAMESPACE = 'DebitCollection'
/** The dimension of every metric: stages may share an account, not their alarms. */
export const metricsService = (stage: string): string => `debit-collection-${stage}`

const units = {
  /** New debits and their amounts; debits by final status. */
  DebitsCharged: MetricUnit.Count,
  DebitsCompleted: MetricUnit.Count,
  DebitsFailed: MetricUnit.Count,
  DebitsReversed: MetricUnit.Count,
  ChargedPesewas: MetricUnit.NoUnit,
  CompletedPesewas: MetricUnit.NoUnit,
  WebhookDelivered: MetricUnit.Count,
  WebhookAttemptFailed: MetricUnit.Count,
  WebhookAbandoned: MetricUnit.Count,
  /** Days for which every attempt at a webhook has failed. */
  WebhookFailingDays: MetricUnit.Count,
  WebhookAttemptMilliseconds: MetricUnit.Milliseconds,
  SettledDebits: MetricUnit.Count,
  SettledGrossPesewas: MetricUnit.NoUnit,
  SettledFeePesewas: MetricUnit.NoUnit,
  SettledNetPesewas: MetricUnit.NoUnit,
  SettlementPaid: MetricUnit.Count,
  SettlementFailed: MetricUnit.Count,
  /** Due batches that cannot be paid. */
  SettlementNotPaid: MetricUnit.Count,
  /** Providers whose settlement is not done two hours after midnight. */
  SettlementUnfinished: MetricUnit.Count,
  /** Rejected bank reports by kind (domain/debits/exception.ts); each is an exception to resolve. */
  LateCompletion: MetricUnit.Count,
  RefusedReport: MetricUnit.Count,
  Contradiction: MetricUnit.Count,
  /** Refunds that a bank rejected or that cannot be sent; each is an exception to resolve. */
  RefundFailed: MetricUnit.Count,
  RefundsCompleted: MetricUnit.Count,
  RefundedPesewas: MetricUnit.NoUnit,
  /** Requests of banks with a 4xx reply, by cause: credential, request limit, others. */
  BankCredentialsRefused: MetricUnit.Count,
  BankRequestsLimited: MetricUnit.Count,
  BankRequestsRefused: MetricUnit.Count,
  ReconciliationDifferences: MetricUnit.Count,
  /** Reconciliations that have not ended in time. */
  ReconciliationUnfinished: MetricUnit.Count,
  /** Messages that the sweep sent again. */
  SweepRepaired: MetricUnit.Count,
  SweepRuns: MetricUnit.Count,
} as const

export type MetricName = keyof typeof units

const metrics = new Metrics({
  namespace: METRICS_NAMESPACE,
  serviceName: metricsService(environment.stage),
})

export type Figures = Partial<Record<MetricName, number>>

/** Writes one line. The log is searchable by `details`, which cost less than dimensions. */
export const measure = (figures: Figures, details: Record<string, string> = {}): void => {
  for (const [name, value] of Object.entries(figures)) {
    metrics.addMetric(name, units[name as MetricName], value)
  }
  for (const [name, value] of Object.entries(details)) metrics.addMetadata(name, value)
  metrics.publishStoredMetrics()
}
