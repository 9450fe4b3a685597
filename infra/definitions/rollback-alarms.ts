import { type AlarmRow, COUNTED } from './alarm-row.ts'
import { calculated } from './metrics.ts'

/** Alarms that return a deployment to the previous version. */
export const rollbackAlarms: AlarmRow[] = [
  {
    name: 'server-errors',
    look: 'problems',
    to: 'none',
    description: 'Callers received 5xx replies: find "fault" in the function logs by request_id',
    metric: (metrics) =>
      calculated(
        'Faults',
        'FILL(errors, 0) - FILL(unavailable, 0)',
        {
          errors: metrics.api('5XXError', COUNTED),
          unavailable: metrics.service('BankUnavailable', COUNTED),
        },
        COUNTED.minutes,
      ),
    threshold: 5,
  },
  {
    name: 'charge-slow',
    look: 'dashboard',
    to: 'none',
    description:
      'A twentieth of the charges takes over 200 ms: look for throttled table writes and throttles of charge',
    // At least five slow charges: a percentile would ring for one, or not at all, at night.
    metric: (metrics) =>
      calculated(
        'Slow charges (%)',
        'IF(charges * (100 - quick) >= 500, 100 - quick, 0)',
        {
          charges: metrics.charges('Latency', { statistic: 'SampleCount' }),
          quick: metrics.charges('Latency', { statistic: 'PR(:200)' }),
        },
        5,
      ),
    threshold: 5,
  },
  {
    name: 'endpoints-crashed',
    look: 'problems',
    to: 'none',
    description:
      'Endpoints crashed or timed out: find "platform.report" in the log of the function',
    metric: (metrics) => metrics.crashes(),
  },
]
