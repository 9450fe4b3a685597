import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { ProviderId } from '../../../shared/domain/providers/provider.ts'
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
import { rowsOf } from '../../support/rows.ts'
import { at, reference } from '../debits/one-debit.ts'

const event = {
  reference,
  n: 3,
  event: 'completed' as EventName,
  provider: v.parse(ProviderId, 'demo'),
  occurredAt: at('11:59:59.000'),
}
const fresh = newDelivery({ ...event, type: event.event, at: event.occurredAt }, {})
const noon = at('12:00:00.000')
const later = at('13:00:00.000')

/** A quarter of a second, that began at noon. */
const timing = {
  id: 'dlv_1_a',
  at: noon,
  milliseconds: 250,
  address: '198.51.100.7',
  sentAs: 'transaction.completed',
}
const end = at('12:00:00.250')

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
const RETRIABLE = [408, 429, 500, 502, 503, 504]

describe('classes of outcomes', () => {
  test('every HTTP status has one class', () => {
    const expected = codes.map((code) => {
      if (code >= 200 && code <= 299) return [code, 'delivered', null, null]
      const status = RETRIABLE.includes(code) ? 'failed' : 'abandoned'
      return [code, status, code >= 300 && code <= 399 ? 'redirect' : 'status', 4001]
    })
    const classed = codes.map((code) => {
      const { status, last, reason } = attempt(fresh, answered(code))
      return [code, status, last?.cause, reason]
    })
    expect(classed).toEqual(expected)
    expect(codes.filter((code) => succeeded(answered(code)))).toEqual(
      Array.from({ length: 100 }, (_, n) => 200 + n),
    )
  })

  const causes = rowsOf(`
    connect_timeout  failed     timeout   4408
    read_timeout     failed     timeout   4408
    refused          failed     connect   4001
    broken           failed     connect   4001
    dns              failed     dns       4001
    tls              failed     tls       4001
    address          abandoned  address   4001
  `)

  test.each(causes)('the cause %s leaves a delivery %s: class %s, code %s', (...row) => {
    const [cause = '', status, group, code] = row
    const after = attempt(fresh, unreached(cause))
    expect(after).toMatchObject({ status, reason: Number(code) })
    expect(after.last).toMatchObject({ cause, responseCode: null, responseBody: null })
    expect(errorClasses[cause as FailureCause]).toBe(group)
  })

  test('the table has every cause without a response', () => {
    const named = [...causes.map(([cause]) => cause), 'redirect', 'status']
    expect(named.sort()).toEqual(Object.keys(errorClasses).sort())
  })
})

describe('records', () => {
  test('a record without an attempt is pending and empty', () => {
    expect(fresh).toEqual({
      ...event,
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

  const last = { number: 1, ...timing, responseBody: 'thanks' }
  const due = { status: 'failed', nextAttemptAt: at('12:00:02.250'), reason: 4001 }

  test.each([
    ['delivers the event', 204, null, { status: 'delivered', deliveredAt: end }],
    ['fails the attempt and schedules the next one', 503, 'status', due],
    ['abandons the delivery', 410, 'status', { status: 'abandoned', failedAt: end, reason: 4001 }],
  ])('a response %s at its time: %i', (_what, responseCode, cause, changes) => {
    expect(attempt(fresh, answered(responseCode))).toEqual({
      ...fresh,
      ...changes,
      attemptCount: 1,
      last: { ...last, responseCode, cause },
    })
  })

  test('a delivered record keeps nothing of an earlier failure', () => {
    const delivered = attempt(attempt(fresh, unreached('dns')), answered(200))
    expect(delivered).toMatchObject({ attemptCount: 2, reason: null, nextAttemptAt: null })
    expect(delivered.last).toMatchObject({ number: 2, cause: null })
  })

  test('a record escapes the response of the receiver', () => {
    const outcome: Outcome = { kind: 'answered', code: 500, body: '<b>\u001b[2J&\n' }
    expect(attempt(fresh, outcome).last?.responseBody).toBe(
      '\\u003cb\\u003e\\u001b[2J\\u0026\\u000a',
    )
  })

  test.each([1, 2, 3, 6, 11])('a delivery is abandoned after exactly %i attempts', (attempts) => {
    let delivery: Delivery = { ...fresh, attemptsMax: attempts }
    const walked: string[] = []
    while (!isSettled(delivery)) {
      delivery = attempt(delivery, answered(500))
      walked.push(delivery.status)
    }
    expect(walked).toEqual([...Array<string>(attempts - 1).fill('failed'), 'abandoned'])
    expect(delivery).toMatchObject({ attemptCount: attempts, nextAttemptAt: null, failedAt: end })
  })

  test('the last attempt can deliver the event', () => {
    const last = { ...fresh, attemptCount: fresh.attemptsMax - 1 }
    expect(attempt(last, answered(200)).status).toBe('delivered')
  })

  test('every sequence of outcomes ends settled within the maximum of attempts', () => {
    const outcomes = fc.oneof(
      fc.constantFrom(...codes).map((code) => answered(code)),
      fc.constantFrom(...Object.keys(errorClasses)).map(unreached),
    )
    const walks = fc.array(outcomes, { minLength: 10, maxLength: 10 })
    fc.assert(
      fc.property(walks, fc.integer({ min: 1, max: 10 }), (walk, most) => {
        let delivery: Delivery = { ...fresh, attemptsMax: most }
        for (const outcome of walk) {
          if (isSettled(delivery)) break
          delivery = attempt(delivery, outcome)
          expect(delivery.attemptCount).toBeLessThanOrEqual(delivery.attemptsMax)
          expect(delivery.last?.number).toBe(delivery.attemptCount)
          expect(delivery.nextAttemptAt !== null).toBe(delivery.status === 'failed')
        }
        expect(isSettled(delivery)).toBe(true)
        expect(delivery.deliveredAt !== null).toBe(delivery.status === 'delivered')
        expect(delivery.failedAt !== null).toBe(delivery.status === 'abandoned')
      }),
    )
  })
})

const delivered = attempt(fresh, answered(204))
const failed = attempt(fresh, answered(503))
const abandoned = attempt(fresh, answered(410))

describe('deliveries without an attempt', () => {
  // The event is not subscribed to any more; the webhook is gone; the webhook is disabled.
  test.each([4403, 4404, 4001] as FailureReason[])('a delivery is abandoned for %i', (reason) => {
    for (const delivery of [fresh, failed]) {
      expect(abandon(delivery, reason, later)).toEqual({
        ...delivery,
        status: 'abandoned',
        nextAttemptAt: null,
        failedAt: later,
        reason,
      })
    }
  })

  test('an event that was received once stays delivered', () => {
    const asked = redeliver(delivered, later)
    const stays = { status: 'delivered', deliveredAt: end, failedAt: null }
    expect(abandon(asked, 4404, later)).toMatchObject(stays)
  })
})

describe('redeliveries', () => {
  test('a redelivery before the first attempt requests the first', () => {
    expect(redeliver(fresh, later)).toEqual({ ...fresh, nextAttemptAt: later })
  })

  test('a redelivery gets the next number and replaces the due attempt', () => {
    const asked = redeliver(failed, later)
    expect(asked).toEqual({ ...failed, status: 'pending', nextAttemptAt: later })
    expect(attempt(asked, answered(200)).last?.number).toBe(2)
  })

  test('a redelivery beyond the maximum raises it', () => {
    const spent = attempt({ ...fresh, attemptsMax: 1 }, answered(503))
    expect(spent.status).toBe('abandoned')
    expect(redeliver(spent, later)).toMatchObject({ attemptsMax: 2, failedAt: null })
    expect(redeliver(abandoned, later)).toMatchObject({ attemptsMax: 11, failedAt: null })
    expect(redeliver(redeliver(spent, later), later).attemptsMax).toBe(2)
  })

  test('a failed redelivery leaves a received event delivered at its first time', () => {
    const asked = redeliver(delivered, later)
    expect(asked.status).toBe('pending')
    const again = attempt(asked, answered(410))
    expect(again).toMatchObject({ status: 'delivered', deliveredAt: end, failedAt: null })
    expect(again).toMatchObject({ attemptCount: 2, reason: 4001 })
    expect(attempt(asked, answered(204)).deliveredAt).toEqual(end)
  })
})

describe('automatic retries', () => {
  test('an abandoned delivery is retried automatically at most three times', () => {
    let delivery = abandoned
    for (const autoRetries of [1, 2, 3]) {
      const revived = autoRetry(delivery, later) as Delivery
      expect(revived).toEqual({ ...redeliver(delivery, later), autoRetries })
      delivery = attempt(revived, answered(410))
    }
    expect(autoRetry(delivery, later)).toBeUndefined()
  })

  test('only abandoned deliveries are retried automatically', () => {
    for (const delivery of [fresh, failed, delivered, redeliver(abandoned, later)]) {
      expect(autoRetry(delivery, later), delivery.status).toBeUndefined()
    }
  })
})

describe('attempts that end after a concurrent change', () => {
  const append = (delivery: Delivery, outcome: Outcome, isRequested = false): Delivery =>
    appendAttempt(delivery, {
      outcome,
      timing: { ...timing, id: 'dlv_1_b' },
      random: 0,
      isRequested,
    })
  const last = { id: 'dlv_1_b', number: 2 }

  test('a late attempt gets the next number, and a success wins', () => {
    for (const delivery of [failed, abandoned]) {
      expect(append(delivery, answered(200))).toMatchObject({
        status: 'delivered',
        attemptCount: 2,
        last,
        nextAttemptAt: null,
        deliveredAt: end,
        failedAt: null,
        reason: null,
      })
    }
    expect(append(delivered, answered(200))).toMatchObject({ deliveredAt: end, attemptCount: 2 })
    const requested = redeliver(fresh, later)
    expect(append(requested, answered(200), true)).toMatchObject({ status: 'delivered' })
  })

  test('a late failure leaves a delivered record delivered and an abandoned one abandoned', () => {
    for (const outcome of [answered(503), answered(410), unreached('dns')]) {
      const late = { attemptCount: 2, last, nextAttemptAt: null }
      const stays = { ...late, status: 'delivered', deliveredAt: end, failedAt: null }
      expect(append(delivered, outcome)).toMatchObject(stays)
      expect(append(abandoned, outcome)).toMatchObject({
        ...late,
        status: 'abandoned',
        failedAt: end,
      })
    }
  })

  test('a late failure waits for the longer of its own delay and the scheduled one', () => {
    expect(append(failed, answered(503)).nextAttemptAt).toEqual(at('12:00:04.250'))
    const patient = attempt(fresh, answered(429, 120))
    expect(append(patient, answered(503))).toMatchObject({
      status: 'failed',
      nextAttemptAt: at('12:02:00.250'),
    })
    expect(append(failed, answered(410))).toMatchObject({ status: 'abandoned', failedAt: end })
  })

  test('a late failure keeps a redelivery that was requested during it', () => {
    const requested = redeliver({ ...fresh, attemptsMax: 1 }, later)
    for (const outcome of [answered(503), answered(410)]) {
      expect(append(requested, outcome, true)).toMatchObject({
        status: 'pending',
        attemptCount: 1,
        attemptsMax: 2,
        nextAttemptAt: later,
        failedAt: null,
      })
    }
    // This attempt is the requested one, and a rival of it was recorded.
    const rival = { ...redeliver(failed, later), attemptCount: 2 }
    expect(append(rival, answered(410))).toMatchObject({ status: 'abandoned', attemptCount: 3 })
  })

  test('a late attempt beyond the maximum raises it', () => {
    const spent = attempt({ ...fresh, attemptsMax: 1 }, answered(503))
    expect(append(spent, answered(503))).toMatchObject({ attemptCount: 2, attemptsMax: 2 })
    expect(append(failed, answered(503))).toMatchObject({ attemptCount: 2, attemptsMax: 11 })
  })
})

test('a second request within a minute, before an attempt, has no effect', () => {
  const requested = redeliver(failed, noon)
  expect(isRedelivering(requested, noon)).toBe(true)
  expect(isRedelivering(requested, at('12:00:59.999'))).toBe(true)
  expect(isRedelivering(requested, at('12:01:00.000'))).toBe(false)
  // A page of a recovery spreads its attempts over the next seconds.
  expect(isRedelivering(redeliver(abandoned, later), noon)).toBe(true)
  for (const delivery of [fresh, failed, delivered, abandoned]) {
    expect(isRedelivering(delivery, noon), delivery.status).toBe(false)
  }
})

test('a ping has the number one', () => {
  expect(pingAttempt(answered(302), timing)).toEqual({
    number: 1,
    ...timing,
    responseCode: 302,
    responseBody: 'thanks',
    cause: 'redirect',
  })
})

test('the id of an attempt has the id of its delivery and random digits', () => {
  const random = Buffer.alloc(ATTEMPT_ID_BYTES, 0x0f)
  expect(attemptId(fresh, random)).toMatch(/^dlv_[0-9]+_0f0f0f0f0f0f0f0f$/)
})

test('a provider is subscribed to all events or to those it lists', () => {
  expect(isSubscribed({}, 'created')).toBe(true)
  const named = { events: ['transaction.completed'] as ['transaction.completed'] }
  expect(isSubscribed(named, 'completed')).toBe(true)
  expect(isSubscribed(named, 'created')).toBe(false)
})

describe('total attempts', () => {
  const classes = rowsOf(`
    created     3
    pending     3
    processing  6
    completed   11
    failed      11
    reversed    6
  `)

  test.each(classes)('the event %s has %s attempts, with the first', (name, total) => {
    expect(attemptsMax(name as EventName, {})).toBe(Number(total))
  })

  test.each(classes)("the provider's setting replaces the total: %s", (name) => {
    expect(attemptsMax(name as EventName, { attemptsMax: 4 })).toBe(4)
  })
})

describe('the delay before the next attempt', () => {
  const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const attempts = fc.integer({ min: 1, max: 10 })

  test('the delays are the published ones: 2, 4, 8, 16, 32 seconds and so on, at most 300', () => {
    const schedule = Array.from({ length: 10 }, (_, n) => delaySeconds(n + 1, 0))
    expect(schedule).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  })

  test('the delay is 2^k plus up to ten percent in whole seconds, at most 300', () => {
    fc.assert(
      fc.property(attempts, randoms, (k, random) => {
        const delay = delaySeconds(k, random)
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(Math.min(2 ** k, 300))
        expect(delay).toBeLessThanOrEqual(Math.min(1.1 * 2 ** k, 300))
      }),
    )
  })

  test('the jitter is uniform over whole seconds', () => {
    const rolls = Array.from({ length: 1_000 }, (_, n) => delaySeconds(5, n / 1_000))
    for (const seconds of [32, 33, 34, 35]) {
      expect(rolls.filter((delay) => delay === seconds)).toHaveLength(250)
    }
  })

  test('Retry-After applies between the schedule and 300 seconds', () => {
    const retryAfter = fc.integer({ min: 0, max: 1_000_000_000 })
    fc.assert(
      fc.property(attempts, randoms, retryAfter, (k, random, seconds) => {
        const delay = delaySeconds(k, random, seconds)
        expect(delay).toBe(Math.min(Math.max(delaySeconds(k, random), seconds), 300))
      }),
    )
  })

  test('Retry-After counts from the response', () => {
    const waiting = attempt(fresh, answered(429, 60))
    expect(waiting.nextAttemptAt).toEqual(at('12:01:00.250'))
    const capped = attempt(fresh, answered(503, 86_400))
    expect(capped.nextAttemptAt).toEqual(at('12:05:00.250'))
  })
})
