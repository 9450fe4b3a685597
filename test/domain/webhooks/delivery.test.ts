import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  delaySeconds,
  errorClasses,
  type FailureCause,
  type FailureReason,
  type Outcome,
  succeeded,
} from '../../../shared/domain/webhooks/attempt.ts'
import {
  abandon,
  appendAttempt,
  autoRetry,
  type Delivery,
  isRedelivering,
  isSettled,
  isSubscribed,
  newDelivery,
  recordAttempt,
  redeliver,
} from '../../../shared/domain/webhooks/delivery.ts'
import { providerId } from '../../support/examples.ts'
import { rowsOf } from '../../support/rows.ts'
import { at, reference } from '../debits/one-debit.ts'

const key = { reference, n: 3, provider: providerId('demo') }
const fresh = newDelivery({ ...key, type: 'completed', at: at('11:59:59.000') }, {})
const noon = at('12:00:00.000')
const later = at('13:00:00.000')

const timing = {
  id: 'dlv_1_a',
  at: noon,
  milliseconds: 250,
  address: '198.51.100.7',
  sentAs: 'transaction.completed',
}

const answered = (code: number, retryAfterSeconds?: number): Outcome => ({
  kind: 'answered',
  code,
  body: 'thanks',
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
})
const unreached = (cause: string): Outcome => ({ kind: 'unreached', cause }) as Outcome

const attempt = (delivery: Delivery, outcome: Outcome): Delivery =>
  recordAttempt(delivery, outcome, timing, 0)

const codes = Array.from({ length: 500 }, (_, n) => 100 + n)

test('every HTTP status has one class', () => {
  const expected = codes.map((code) => {
    if (code >= 200 && code <= 299) return [code, true, 'delivered', null, null]
    const status = [408, 429, 500, 502, 503, 504].includes(code) ? 'failed' : 'abandoned'
    return [code, false, status, code >= 300 && code <= 399 ? 'redirect' : 'status', 4001]
  })
  const classes = codes.map((code) => {
    const { status, last, reason } = attempt(fresh, answered(code))
    return [code, succeeded(answered(code)), status, last?.cause, reason]
  })
  expect(classes).toEqual(expected)
})

test('every cause without a response has a class, a code and a group', () => {
  const rows = rowsOf(`
    connect_timeout  failed     timeout   4408
    read_timeout     failed     timeout   4408
    refused          failed     connect   4001
    broken           failed     connect   4001
    dns              failed     dns       4001
    tls              failed     tls       4001
    address          abandoned  address   4001
  `)
  const causes = Object.keys(errorClasses).filter((cause) => !/redirect|status/.test(cause))
  const classes = causes.map((cause) => {
    const { status, last, reason } = attempt(fresh, unreached(cause))
    expect(last).toMatchObject({ cause, responseCode: null, responseBody: null })
    return [cause, status, errorClasses[cause as FailureCause], String(reason)]
  })
  expect(classes).toEqual(rows)
})

const delivered = attempt(fresh, answered(204))
const failed = attempt(fresh, answered(503))
const abandoned = attempt(fresh, answered(410))
const single = { ...fresh, attemptsMax: 1 }
const spent = attempt(single, answered(503))
const requested = redeliver(failed, noon)

/** Deliveries before a change, in the table below. */
const before: Record<string, Delivery> = {
  fresh,
  failed,
  delivered,
  abandoned,
  single,
  spent,
  patient: attempt(fresh, answered(429, 120)),
  'fresh, requested': redeliver(fresh, later),
  'delivered, requested': redeliver(delivered, later),
  'single, requested': redeliver(single, later),
  'spent, requested': redeliver(spent, later),
  // Another worker's attempt was recorded.
  'failed, requested': { ...redeliver(failed, later), attemptCount: 2 },
}

/** Parses `503`, `429+60` (with Retry-After) or a cause. */
const outcomeOf = (text = ''): Outcome => {
  const [code, seconds] = text.split('+').map(Number)
  return code ? answered(code, seconds) : unreached(text)
}

const late = { ...timing, id: 'dlv_1_b' }
const append = (delivery: Delivery, outcome: Outcome, isRequested: boolean): Delivery =>
  appendAttempt(delivery, { outcome, timing: late, random: 0, isRequested })

const changes: Record<string, (delivery: Delivery, text?: string) => Delivery | undefined> = {
  attempt: (delivery, text) => attempt(delivery, outcomeOf(text)),
  /** Ends after a concurrent change; `late-requested`: a redelivery was requested during it. */
  late: (delivery, text) => append(delivery, outcomeOf(text), false),
  'late-requested': (delivery, text) => append(delivery, outcomeOf(text), true),
  abandon: (delivery, text) => abandon(delivery, Number(text) as FailureReason, later),
  redeliver: (delivery) => redeliver(delivery, later),
  retry: (delivery) => autoRetry(delivery, later),
}

const table = rowsOf(`
  delivery before       change              status     attempts  next          delivered     failed        reason
  fresh                 attempt 204         delivered  1/11      -             12:00:00.250  -             -
  fresh                 attempt 503         failed     1/11      12:00:02.250  -             -             4001
  fresh                 attempt 429+60      failed     1/11      12:01:00.250  -             -             4001
  fresh                 attempt 503+86400   failed     1/11      12:05:00.250  -             -             4001
  failed                attempt 200         delivered  2/11      -             12:00:00.250  -             -
  single                attempt 503         abandoned  1/1       -             -             12:00:00.250  4001
  fresh                 abandon 4403        abandoned  0/11      -             -             13:00:00.000  4403
  delivered, requested  abandon 4001        delivered  1/11      -             12:00:00.250  -             4001
  fresh                 redeliver           pending    0/11      13:00:00.000  -             -             -
  failed                redeliver           pending    1/11      13:00:00.000  -             -             4001
  abandoned             redeliver           pending    1/11      13:00:00.000  -             -             4001
  delivered             redeliver           pending    1/11      13:00:00.000  12:00:00.250  -             -
  spent                 redeliver           pending    1/2       13:00:00.000  -             -             4001
  delivered, requested  attempt 410         delivered  2/11      -             12:00:00.250  -             4001
  delivered, requested  attempt 204         delivered  2/11      -             12:00:00.250  -             -
  abandoned             retry               pending    1/11      13:00:00.000  -             -             4001
  abandoned             late 200            delivered  2/11      -             12:00:00.250  -             -
  delivered             late 200            delivered  2/11      -             12:00:00.250  -             -
  fresh, requested      late-requested 200  delivered  1/11      -             12:00:00.250  -             -
  delivered             late 503            delivered  2/11      -             12:00:00.250  -             4001
  abandoned             late dns            abandoned  2/11      -             -             12:00:00.250  4001
  failed                late 503            failed     2/11      12:00:04.250  -             -             4001
  patient               late 503            failed     2/11      12:02:00.250  -             -             4001
  failed                late 410            abandoned  2/11      -             -             12:00:00.250  4001
  spent                 late 503            abandoned  2/2       -             -             12:00:00.250  4001
  single, requested     late-requested 503  pending    1/2       13:00:00.000  -             -             4001
  failed, requested     late 410            abandoned  3/11      -             -             12:00:00.250  4001
`).slice(1)

test.each(table)('a delivery that is %s, after %s is %s', (name = '', change = '', ...expected) => {
  const [verb = '', text] = change.split(' ')
  const delivery = before[name] ?? fresh
  const after = changes[verb]?.(delivery, text) ?? fresh
  const { status, attemptCount, nextAttemptAt, deliveredAt, failedAt, reason } = after
  const times = [nextAttemptAt, deliveredAt, failedAt].map((at) => at?.toISOString().slice(11, 23))
  const shown = [status, `${attemptCount}/${after.attemptsMax}`, ...times, reason]
  expect(shown.map((cell) => String(cell ?? '-'))).toEqual(expected)
  expect(isSettled(after)).toBe(/delivered|abandoned/.test(status))
  const isLate = verb.startsWith('late')
  const last = { number: attemptCount, id: isLate ? 'dlv_1_b' : 'dlv_1_a' }
  if (isLate || verb === 'attempt') expect(after.last).toMatchObject(last)
  else expect(after.last).toEqual(delivery.last)
  expect(after).toMatchObject({ ...key, occurredAt: fresh.occurredAt })
})

test('a redelivery that succeeds keeps the time of the first success', () => {
  const first = attempt(fresh, answered(200))
  const again = { ...timing, id: 'dlv_1_b', at: later }
  const second = recordAttempt(redeliver(first, later), answered(200), again, 0)
  expect(second).toMatchObject({ status: 'delivered', deliveredAt: first.deliveredAt })
})

test('a record escapes the response of the receiver', () => {
  const { last } = attempt(fresh, { kind: 'answered', code: 500, body: '<b>\u001b[2J&\n' })
  expect(last?.responseBody).toBe('\\u003cb\\u003e\\u001b[2J\\u0026\\u000a')
})

test('a provider is subscribed to all events or to those it lists', () => {
  const listed = { events: ['transaction.completed'] as ['transaction.completed'] }
  expect(isSubscribed({}, 'created')).toBe(true)
  expect(isSubscribed(listed, 'completed')).toBe(true)
  expect(isSubscribed(listed, 'created')).toBe(false)
})

test('a second request within a minute, before an attempt, has no effect', () => {
  // A page of a recovery spreads its attempts over the next seconds.
  const times = ['11:00:00.000', '12:00:00.000', '12:00:59.999', '12:01:00.000']
  const isRecent = times.map((time) => isRedelivering(requested, at(time)))
  expect(isRecent).toEqual([true, true, true, false])
  const others = [fresh, failed, delivered, abandoned].map((one) => isRedelivering(one, noon))
  expect(others).toEqual([false, false, false, false])
})

test('only an abandoned delivery is retried automatically, at most three times', () => {
  expect(autoRetry(abandoned, later)?.autoRetries).toBe(1)
  expect(autoRetry({ ...abandoned, autoRetries: 2 }, later)?.autoRetries).toBe(3)
  const others = [{ ...abandoned, autoRetries: 3 }, fresh, failed, delivered, requested]
  expect(others.map((other) => autoRetry(other, later))).toEqual(others.map(() => undefined))
})

const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const attempts = fc.integer({ min: 1, max: 10 })

test('the delay before the next attempt is 2, 4, 8, 16, 32 seconds and so on, at most 300', () => {
  const schedule = Array.from({ length: 10 }, (_, n) => delaySeconds(n + 1, 0))
  expect(schedule).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
})

test('the delay has up to ten percent of jitter in whole seconds, at most 300', () => {
  fc.assert(
    fc.property(attempts, randoms, (k, random) => {
      const delay = delaySeconds(k, random)
      expect(Number.isInteger(delay)).toBe(true)
      expect(delay).toBeGreaterThanOrEqual(Math.min(2 ** k, 300))
      expect(delay).toBeLessThanOrEqual(Math.min(1.1 * 2 ** k, 300))
    }),
  )
})

test('the delay has uniform jitter over whole seconds', () => {
  const delays = Array.from({ length: 1_000 }, (_, n) => delaySeconds(5, n / 1_000))
  const counts = [32, 33, 34, 35].map((s) => delays.filter((delay) => delay === s).length)
  expect(counts).toEqual([250, 250, 250, 250])
})

test('the delay before the next attempt is Retry-After, between the schedule and 300 seconds', () => {
  fc.assert(
    fc.property(attempts, randoms, fc.nat(1_000_000_000), (k, random, seconds) => {
      const delay = delaySeconds(k, random, seconds)
      expect(delay).toBe(Math.min(Math.max(delaySeconds(k, random), seconds), 300))
    }),
  )
})
