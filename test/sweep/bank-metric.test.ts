import { expect, test } from 'vitest'
import { metricMembers } from '../../shared/metrics.ts'

test('a metric of a bank has the bank as a dimension, which the mail of its alarm shows', () => {
  process.env.METRICS_DISABLED = 'false'
  expect(metricMembers({ BankDown: 1 })).toMatchObject({
    _aws: { CloudWatchMetrics: [{ Dimensions: [['service', 'bank']] }] },
  })
  expect(metricMembers({ DebitsFailed: 1, FailureExcess: 1 })).toMatchObject({
    _aws: {
      CloudWatchMetrics: [
        { Dimensions: [['service']], Metrics: [{ Name: 'DebitsFailed' }] },
        { Dimensions: [['service', 'bank']], Metrics: [{ Name: 'FailureExcess' }] },
      ],
    },
  })
})
