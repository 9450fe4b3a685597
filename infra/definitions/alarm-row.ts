import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Metrics } from './metrics.ts'
import type { SavedQuery } from './saved-queries.ts'

export type AlarmRow = {
  name: string
  /** The event, a colon, and the action of the operator. */
  description: string
  /** The first thing to read. */
  look:
    | SavedQuery
    | `operator ${string}`
    | 'dashboard'
    | 'firewall log'
    | 'backup vault'
    | 'probe log'
  metric: (metrics: Metrics) => IMetric
  /** Fires at this value and above; with `below`, under it. Default: 1. */
  threshold?: number
  below?: true
  /** Consecutive periods that must breach the threshold. */
  periods?: number
  firesWithoutData?: true
  /** `page`: someone must act at once. `none`: no notification; CodeDeploy or a composite alarm uses it. A ticket by default. */
  to?: 'page' | 'none'
  /** Its metric counts events or is measured at events, so the end of the alarm means nothing. */
  isEvent?: true
}

export const COUNTED = { statistic: 'Sum', minutes: 5 }
export const HIGHEST = { statistic: 'Maximum', minutes: 5 }
