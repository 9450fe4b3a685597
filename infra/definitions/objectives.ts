import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { AlarmRow } from './alarm-row.ts'
import { calculated, type Metrics } from './metrics.ts'

/** The objectives of a month, and alarms on the rate at which failures use up their budgets. */

type Objective = {
  name: string
  /** The success that callers see. */
  title: string
  look: AlarmRow['look']
  /** The share of successes, in percent. */
  target: number
  metrics: (metrics: Metrics, minutes: number) => Record<string, IMetric>
  /** Expressions of the failures, and of all events. */
  failures: string
  all: string
  /** Whether a fast burn is a page. */
  pages: boolean
  /** Fewer failures ring no alarm. */
  failuresMin: number
}

type Over = { statistic: string; minutes: number }

/** Compares the values of a metric with a limit. The ids of a graph's metrics must differ: `prefix`. */
const timed = (
  prefix: string,
  most: number,
  metricOf: (metrics: Metrics, over: Over) => IMetric,
) => ({
  metrics: (metrics: Metrics, minutes: number) => ({
    [`${prefix}Count`]: metricOf(metrics, { statistic: 'SampleCount', minutes }),
    [`${prefix}Within`]: metricOf(metrics, { statistic: `PR(:${most})`, minutes }),
  }),
  failures: `${prefix}Count * (100 - ${prefix}Within) / 100`,
  all: `${prefix}Count`,
  failuresMin: FAILURES_MIN,
  pages: true,
})

const FAILURES_MIN = 5

export const objectives: readonly Objective[] = [
  {
    name: 'availability',
    title: 'Requests without a 5xx reply',
    look: 'problems',
    target: 99.9,
    metrics: (metrics, minutes) => ({
      errors: metrics.api('5XXError', { statistic: 'Sum', minutes }),
      unavailable: metrics.service('BankUnavailable', { statistic: 'Sum', minutes }),
      requests: metrics.api('Count', { statistic: 'Sum', minutes }),
    }),
    failures: '(FILL(errors, 0) - FILL(unavailable, 0))',
    all: 'requests',
    pages: true,
    failuresMin: FAILURES_MIN,
  },
  {
    name: 'charge-time',
    title: 'Charges within 200 ms',
    look: 'dashboard',
    target: 99,
    ...timed('charge', 200, (metrics, over) => metrics.charges('Latency', over)),
  },
  {
    name: 'webhook-time',
    title: 'First webhook attempts within 10 s',
    look: 'webhook-attempts',
    target: 99,
    ...timed('webhook', 10, (metrics, over) => metrics.service('WebhookFirstSeconds', over)),
  },
  {
    name: 'payout-day',
    title: 'Batches paid on their day',
    look: 'operator settlement list --provider P',
    target: 99.5,
    metrics: (metrics, minutes) => ({
      late: metrics.service('PayoutsLate', { statistic: 'Sum', minutes }),
      due: metrics.service('PayoutsDue', { statistic: 'Sum', minutes }),
    }),
    failures: 'late',
    all: 'due',
    failuresMin: 1,
    pages: false,
  },
]

/** Alarms on a burn rate ring while it lasts over a long and a short span. */
const burns = [
  { name: 'fast', to: 'page', rate: 14.4, spans: [60, 5], lasts: 'two days' },
  { name: 'slow', to: undefined, rate: 6, spans: [360, 30], lasts: 'five days' },
] as const

/** Returns the failures in percent of all events. */
export const failureShare = (objective: Objective, metrics: Metrics, minutes: number) =>
  expressed(objective, `100 * ${objective.failures} / ${objective.all}`, metrics, minutes)

export const expressed = (
  { title, metrics: metricsIn }: Objective,
  expression: string,
  metrics: Metrics,
  minutes: number,
) => calculated(title, expression, metricsIn(metrics, minutes), minutes)

const DECIMALS = 1_000

/** The difference of two decimals is not exact. */
const rounded = (percent: number): number => Math.round(percent * DECIMALS) / DECIMALS

export const budgetOf = ({ target }: Objective): number => rounded(100 - target)

/** Two alarms, which notify nobody, and the composite alarm of both. */
export type BurnRow = Pick<AlarmRow, 'name' | 'description' | 'look' | 'to'> & { spans: AlarmRow[] }

export const burnRows: readonly BurnRow[] = objectives.flatMap((objective) =>
  burns.map(({ name: speed, to, rate, spans, lasts }): BurnRow => {
    const { failures, all, failuresMin, title } = objective
    const name = `${objective.name}-burn-${speed}`
    const threshold = rounded(rate * budgetOf(objective))
    return {
      name,
      ...(to && objective.pages && { to }),
      look: objective.look,
      description: `A month's budget for "${title}" lasts ${lasts} at this rate: find what fails`,
      spans: spans.map((minutes, index) => ({
        name: `${name}-${minutes}m`,
        look: 'dashboard',
        to: 'none',
        description: `One of two spans of ${name}: see that alarm`,
        metric: (metrics: Metrics) =>
          expressed(
            objective,
            `IF(${failures} >= ${index === 0 ? failuresMin : 1}, 100 * ${failures} / ${all}, 0)`,
            metrics,
            minutes,
          ),
        threshold,
      })),
    }
  }),
)
