import { beforeEach, expect, test } from 'vitest'
import { log } from '../shared/log.ts'
import { measure } from '../shared/metrics.ts'
import { captureOutput } from './support/output.ts'

/** The lines that functions write: levels, members and metrics. */

const { clear, lines } = captureOutput()
beforeEach(() => {
  clear()
  process.env.AWS_LAMBDA_LOG_LEVEL = 'WARN'
  process.env.METRICS_DISABLED = 'false'
})

const service = 'debit-collection-sandbox'
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
const emf = {
  Timestamp: expect.any(Number),
  CloudWatchMetrics: [
    {
      Namespace: 'DebitCollection',
      Dimensions: [['service']],
      Metrics: [{ Name: 'SweepRepaired' }],
    },
  ],
}

test('a line below the level is written if it is also a metric', () => {
  log.info('a')
  log.info('b', { job: 'sweep' }, {})
  log.info('c', { job: 'sweep' }, { SweepRepaired: 2 })
  log.warn('d', { absent: null, empty: '', zero: 0, of: undefined })
  const frame = { timestamp, service }
  expect(lines()).toEqual([
    { level: 'INFO', message: 'c', ...frame, job: 'sweep', SweepRepaired: 2, _aws: emf },
    { level: 'WARN', message: 'd', ...frame, zero: 0 },
  ])
})

test('a metric without figures has no line, and no metric has one where metrics are disabled', () => {
  measure({})
  measure({ SweepRepaired: 1 }, { bank: 'GCB' })
  process.env.METRICS_DISABLED = 'true'
  measure({ SweepRepaired: 1 })
  log.info('a', {}, { SweepRepaired: 1 })
  log.error('b', {}, { SweepRepaired: 1 })
  expect(lines()).toEqual([
    { service, bank: 'GCB', SweepRepaired: 1, _aws: emf },
    { level: 'ERROR', message: 'b', timestamp, service },
  ])
})

test('an error at any depth shows its name, message without numbers, and frames alone', () => {
  const cause = Object.assign(new SyntaxError('"secret" is not JSON'), { code: 'BAD', input: 'x' })
  const error = new Error('No account +233244444444', { cause })
  log.error('fault', { errors: [{ error }] })
  const stack = expect.arrayContaining([expect.stringMatching(/^at /)])
  expect(lines()[0].errors).toEqual([
    {
      error: {
        name: 'Error',
        message: 'No account ...',
        stack,
        cause: {
          name: 'SyntaxError',
          message: 'withheld: the message quotes input',
          code: 'BAD',
          stack,
        },
      },
    },
  ])
})
