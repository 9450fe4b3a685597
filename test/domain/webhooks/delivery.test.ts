import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ATTEMPT_ID_BYTES,
  attemptId,
  delaySeconds,
  errorClasses,
  type FailureCause,
  type FailureReason,
  type Outcome,
  pingAttempt,
  succeeded,
} from '../../../shared/domain/webhooks/attempt.ts'
import {
  abandon,
  appendAttempt,
  attemptsMax,
  autoRetry,
  type Delivery,
  isRedelivering,
  isSettled,
  isSubscribed,
  newDelivery,
  recordAttempt,
  redeliver,
} from '../../../shared/domain/webhooks/delivery.ts'
import type { EventName } from '../../../shared/domain/webhooks/event-type.ts'
import { providerId } from '../../support/examples.ts'
import { rowsOf } from '../../support/rows.ts'
import { at, reference } from '../debits/one-debit.ts'

const key = { reference, n: 3, provider: providerId('demo') }
const fresh = newDelivery({ ...key, type: 'completed', at: at('11:59:59.000') }, {})
const noon = at('12:00:00.000')
const end = at('12:00:00.250')
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

test('a record without an attempt is pending and empty', () => {
  expect(fresh).toEqual({
    ...key,
    event: 'completed',
    occurredAt: at('11:59:59.000'),
    status: 'pending',
    attemptCount: 0,
    attemptsMax: 11,
    last: null,
    nextAttemptAt: null,
    deliveredAt: null,
    failedAt: null,
    reason: null,
    autoRetries: 0,
  })
})

const due = { status: 'failed', nextAttemptAt: at('12:00:02.250'), reason: 4001 }

test.each([
  ['delivers the event', 204, null, { status: 'delivered', deliveredAt: end }],
  ['fails the attempt and schedules the next one', 503, 'status', due],
  ['abandons the delivery', 410, 'status', { status: 'abandoned', failedAt: end, reason: 4001 }],
])('a response %s at its time: %i', (_, responseCode, cause, changes) => {
  const last = { number: 1, ...timing, responseBody: 'thanks', responseCode, cause }
  const expected = { ...fresh, ...changes, attemptCount: 1, last }
  expect(attempt(fresh, answered(responseCode))).toEqual(expected)
})

test('a record escapes the response of the receiver', () => {
  const { last } = attempt(fresh, { kind: 'answered', code: 500, body: '<b>\u001b[2J&\n' })
  expect(last?.responseBody).toBe('\\u003cb\\u003e\\u001b[2J\\u0026\\u000a')
})

test('every sequence of outcomes ends settled within the maximum of attempts', () => {
  const outcomes = fc.oneof(
    fc.constantFrom(...codes).map((code) => answered(code)),
    fc.constantFrom(...Object.keys(errorClasses)).map(unreached),
  )
  const sequences = fc.array(outcomes, { minLength: 11, maxLength: 11 })
  fc.assert(
    fc.property(sequences, fc.integer({ min: 1, max: 11 }), (sequence, most) => {
      let delivery: Delivery = { ...fresh, attemptsMax: most }
      for (const outcome of sequence.slice(0, most)) {
        if (isSettled(delivery)) break
        delivery = attempt(delivery, outcome)
        expect(delivery.last?.number).toBe(delivery.attemptCount)
        expect(delivery.nextAttemptAt !== null).toBe(delivery.status === 'failed')
      }
      expect(isSettled(delivery)).toBe(true)
      expect(delivery.deliveredAt !== null).toBe(delivery.status === 'delivered')
      expect(delivery.failedAt !== null).toBe(delivery.status === 'abandoned')
    }),
  )
})

const delivered = attempt(fresh, answered(204))
const failed = attempt(fresh, answered(503))
const abandoned = attempt(fresh, answered(410))
const spent = attempt({ ...fresh, attemptsMax: 1 }, answered(503))
const requested = redeliver(delivered, later)

// The event is not subscribed to any more; the webhook is gone; the webhook is disabled.
test.each([4403, 4404, 4001] as FailureReason[])('a delivery is abandoned for %i', (reason) => {
  const stays = { status: 'delivered', deliveredAt: end, failedAt: null }
  expect(abandon(requested, reason, later)).toMatchObject(stays)
  for (const delivery of [fresh, failed]) {
    const changes = { status: 'abandoned', nextAttemptAt: null, failedAt: later, reason }
    expect(abandon(delivery, reason, later)).toEqual({ ...delivery, ...changes })
  }
})

describe('a redelivery', () => {
  test('requests one more attempt and replaces the due one', () => {
    expect(redeliver(fresh, later)).toEqual({ ...fresh, nextAttemptAt: later })
    const replaced = redeliver(failed, later)
    expect(replaced).toEqual({ ...failed, status: 'pending', nextAttemptAt: later })
    expect(attempt(replaced, answered(200)).last?.number).toBe(2)
  })

  test('beyond the maximum raises it', () => {
    expect(redeliver(spent, later)).toMatchObject({ attemptsMax: 2, failedAt: null })
    expect(redeliver(redeliver(spent, later), later).attemptsMax).toBe(2)
    expect(redeliver(abandoned, later)).toMatchObject({ attemptsMax: 11, failedAt: null })
  })

  test('that fails leaves a received event delivered at its first time', () => {
    const stays = { status: 'delivered', deliveredAt: end, failedAt: null, attemptCount: 2 }
    expect(attempt(requested, answered(410))).toMatchObject({ ...stays, reason: 4001 })
    expect(attempt(requested, answered(204))).toMatchObject({ ...stays, reason: null })
  })

  test('within a minute of another, before an attempt, has no effect', () => {
    const isFresh = (time: string) => isRedelivering(redeliver(failed, noon), at(time))
    // A page of a recovery spreads its attempts over the next seconds.
    const times = ['11:00:00.000', '12:00:00.000', '12:00:59.999', '12:01:00.000']
    expect(times.map(isFresh)).toEqual([true, true, true, false])
    const others = [fresh, failed, delivered, abandoned].map((one) => isRedelivering(one, noon))
    expect(others).toEqual([false, false, false, false])
  })
})

test('only an abandoned delivery is retried automatically, at most three times', () => {
  let delivery = abandoned
  for (const autoRetries of [1, 2, 3]) {
    const retried = autoRetry(delivery, later) as Delivery
    expect(retried).toEqual({ ...redeliver(delivery, later), autoRetries })
    delivery = attempt(retried, answered(410))
  }
  for (const other of [delivery, fresh, failed, delivered, redeliver(abandoned, later)]) {
    expect(autoRetry(other, later), other.status).toBeUndefined()
  }
})

describe('an attempt that ends after a concurrent change', () => {
  const id = 'dlv_1_b'
  const append = (delivery: Delivery, outcome: Outcome, isRequested = false): Delivery =>
    appendAttempt(delivery, { outcome, timing: { ...timing, id }, random: 0, isRequested })
  const late = { attemptCount: 2, last: { id, number: 2 }, nextAttemptAt: null }

  test('gets the next number, and a success wins', () => {
    const success = { ...late, status: 'delivered', deliveredAt: end, failedAt: null, reason: null }
    for (const delivery of [failed, abandoned, delivered]) {
      expect(append(delivery, answered(200))).toMatchObject(success)
    }
    expect(append(redeliver(fresh, later), answered(200), true).status).toBe('delivered')
  })

  test('and fails leaves a settled delivery settled', () => {
    const stays = { ...late, status: 'delivered', deliveredAt: end, failedAt: null }
    const gone = { ...late, status: 'abandoned', failedAt: end }
    for (const outcome of [answered(503), answered(410), unreached('dns')]) {
      expect(append(delivered, outcome)).toMatchObject(stays)
      expect(append(abandoned, outcome)).toMatchObject(gone)
    }
  })

  test('and fails waits for the longer of its own delay and the scheduled one', () => {
    expect(append(failed, answered(503)).nextAttemptAt).toEqual(at('12:00:04.250'))
    const patient = append(attempt(fresh, answered(429, 120)), answered(503))
    expect(patient).toMatchObject({ status: 'failed', nextAttemptAt: at('12:02:00.250') })
    expect(append(failed, answered(410))).toMatchObject({ status: 'abandoned', failedAt: end })
  })

  test('and fails keeps a redelivery that was requested during it', () => {
    const requested = redeliver({ ...fresh, attemptsMax: 1 }, later)
    const kept = { ...requested, attemptCount: 1, attemptsMax: 2, reason: 4001 }
    for (const outcome of [answered(503), answered(410)]) {
      expect(append(requested, outcome, true)).toMatchObject({ ...kept, last: { id, number: 1 } })
    }
    // This attempt is the requested one, and another worker's attempt was recorded.
    const other = { ...redeliver(failed, later), attemptCount: 2 }
    expect(append(other, answered(410))).toMatchObject({ status: 'abandoned', attemptCount: 3 })
  })
})

test('a ping has the number one', () => {
  const response = { responseCode: 302, responseBody: 'thanks', cause: 'redirect' }
  expect(pingAttempt(answered(302), timing)).toEqual({ number: 1, ...timing, ...response })
})

test('the id of an attempt has the id of its delivery and random digits', () => {
  const random = Buffer.alloc(ATTEMPT_ID_BYTES, 0x0f)
  expect(attemptId(fresh, random)).toBe('dlv_1988055307469803_0f0f0f0f0f0f0f0f')
})

test('a provider is subscribed to all events or to those it lists', () => {
  const listed = { events: ['transaction.completed'] as ['transaction.completed'] }
  expect(isSubscribed({}, 'created')).toBe(true)
  expect(isSubscribed(listed, 'completed')).toBe(true)
  expect(isSubscribed(listed, 'created')).toBe(false)
})

test.each([
  ['created', 3],
  ['processing', 6],
  ['completed', 11],
] as [EventName, number][])(
  'the event %s has %i attempts, or as many as its provider sets',
  (...row) => {
    expect(attemptsMax(row[0], {})).toBe(row[1])
    expect(attemptsMax(row[0], { attemptsMax: 4 })).toBe(4)
  },
)

describe('the delay before the next attempt', () => {
  const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const attempts = fc.integer({ min: 1, max: 10 })

  test('is 2, 4, 8, 16, 32 seconds and so on, at most 300', () => {
    const schedule = Array.from({ length: 10 }, (_, n) => delaySeconds(n + 1, 0))
    expect(schedule).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  })

  test('has up to ten percent of jitter in whole seconds, at most 300', () => {
    fc.assert(
      fc.property(attempts, randoms, (k, random) => {
        const delay = delaySeconds(k, random)
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(Math.min(2 ** k, 300))
        expect(delay).toBeLessThanOrEqual(Math.min(1.1 * 2 ** k, 300))
      }),
    )
  })

  test('has uniform jitter over whole seconds', () => {
    const delays = Array.from({ length: 1_000 }, (_, n) => delaySeconds(5, n / 1_000))
    const counts = [32, 33, 34, 35].map((s) => delays.filter((delay) => delay === s).length)
    expect(counts).toEqual([250, 250, 250, 250])
  })

  test('is Retry-After from the response between the schedule and 300 seconds', () => {
    fc.assert(
      fc.property(attempts, randoms, fc.nat(1_000_000_000), (k, random, seconds) => {
        const delay = delaySeconds(k, random, seconds)
        expect(delay).toBe(Math.min(Math.max(delaySeconds(k, random), seconds), 300))
      }),
    )
    expect(attempt(fresh, answered(429, 60)).nextAttemptAt).toEqual(at('12:01:00.250'))
    expect(attempt(fresh, answered(503, 86_400)).nextAttemptAt).toEqual(at('12:05:00.250'))
  })
})
