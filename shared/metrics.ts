import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics'

/** Figures for dashboards and alarms, as lines of a log that CloudWatch counts (EMF). */

export const METRICS_NAMESPACE = 'DebitCollection'
export const METRICS_SERVICE = 'debit-collection'

const units = {
  WebhookDelivered: MetricUnit.Count,
  WebhookAttemptFailed: MetricUnit.Count,
  WebhookAbandoned: MetricUnit.Count,
  /** Days for which every attempt at one webhook has failed. */
  WebhookFailingDays: MetricUnit.Count,
  WebhookAttemptMilliseconds: MetricUnit.Milliseconds,
  SettlementPaid: MetricUnit.Count,
  SettlementFailed: MetricUnit.Count,
  /** Batches that were due and could not be paid. */
  SettlementNotPaid: MetricUnit.Count,
  /** Debits that a bank reported as completed after they had failed: a customer's money. */
  LateCompletion: MetricUnit.Count,
  /** What a recomputation from the table found to be otherwise. */
  ReconciliationDifferences: MetricUnit.Count,
  /** Messages that the sweep sent because nothing had come of the first. */
  SweepRepaired: MetricUnit.Count,
} as const

export type MetricName = keyof typeof units

const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: METRICS_SERVICE })

/** Figures of one happening, in one line. */
export const measure = (figures: Partial<Record<MetricName, number>>): void => {
  for (const [name, value] of Object.entries(figures)) {
    metrics.addMetric(name, units[name as MetricName], value)
  }
  metrics.publishStoredMetrics()
}
