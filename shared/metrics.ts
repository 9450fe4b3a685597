import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics'
import { environment } from './runtime.ts'

/** Figures for dashboards and alarms, as lines of a log that CloudWatch counts (EMF). */

export const METRICS_NAMESPACE = 'DebitCollection'
/** The dimension of every figure: stages share an account, and never their alarms. */
export const metricsService = (stage: string): string => `debit-collection-${stage}`

const units = {
  /** Debits that were opened, and what they ask for; those that came to each end. */
  DebitsCharged: MetricUnit.Count,
  DebitsCompleted: MetricUnit.Count,
  DebitsFailed: MetricUnit.Count,
  DebitsReversed: MetricUnit.Count,
  ChargedPesewas: MetricUnit.NoUnit,
  CompletedPesewas: MetricUnit.NoUnit,
  WebhookDelivered: MetricUnit.Count,
  WebhookAttemptFailed: MetricUnit.Count,
  WebhookAbandoned: MetricUnit.Count,
  /** Days for which every attempt at one webhook has failed. */
  WebhookFailingDays: MetricUnit.Count,
  WebhookAttemptMilliseconds: MetricUnit.Milliseconds,
  /** Sums of a batch, when it is sealed. */
  SettledDebits: MetricUnit.Count,
  SettledGrossPesewas: MetricUnit.NoUnit,
  SettledFeePesewas: MetricUnit.NoUnit,
  SettledNetPesewas: MetricUnit.NoUnit,
  SettlementPaid: MetricUnit.Count,
  SettlementFailed: MetricUnit.Count,
  /** Batches that were due and could not be paid. */
  SettlementNotPaid: MetricUnit.Count,
  /** Providers whose night is not through two hours after midnight. */
  SettlementUnfinished: MetricUnit.Count,
  /** Rejected bank reports by kind (domain/report-exception.ts); each is an exception to resolve. */
  LateCompletion: MetricUnit.Count,
  RefusedReport: MetricUnit.Count,
  Contradiction: MetricUnit.Count,
  /** Refunds that a bank rejected or that cannot be sent; each is an exception to resolve. */
  RefundFailed: MetricUnit.Count,
  RefundsCompleted: MetricUnit.Count,
  RefundedPesewas: MetricUnit.NoUnit,
  /** Requests of banks that were answered 4xx, each in one: credential, request limit, all others. */
  BankCredentialsRefused: MetricUnit.Count,
  BankRequestsLimited: MetricUnit.Count,
  BankRequestsRefused: MetricUnit.Count,
  /** What a recomputation from the table found to be otherwise. */
  ReconciliationDifferences: MetricUnit.Count,
  /** Messages that the sweep sent because nothing had come of the first. */
  SweepRepaired: MetricUnit.Count,
  /** Runs of the sweep that came to their end. */
  SweepRuns: MetricUnit.Count,
} as const

export type MetricName = keyof typeof units

const metrics = new Metrics({
  namespace: METRICS_NAMESPACE,
  serviceName: metricsService(environment.stage),
})

export type Figures = Partial<Record<MetricName, number>>

/** Figures of one happening, in one line. */
export const measure = (figures: Figures): void => {
  for (const [name, value] of Object.entries(figures)) {
    metrics.addMetric(name, units[name as MetricName], value)
  }
  metrics.publishStoredMetrics()
}
