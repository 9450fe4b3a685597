import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  attemptsMax,
  type Delivery,
  delaySeconds,
  isSettled,
  type Outcome,
  owed,
  recordAttempt,
} from '../../shared/domain/delivery.ts'
import type { EventName } from '../../shared/domain/event-type.ts'
import { PartnerId } from '../../shared/domain/partner.ts'
import { rowsOf } from '../support/rows.ts'
import { at, reference } from './one-debit.ts'

const event = {
  reference,
  n: 3,
  event: 'completed' as EventName,
  partner: v.parse(PartnerId, 'demo'),
}
const fresh = owed(event, {})
const noon = at('12:00:00.000')

const answered = (code: number, retryAfterSeconds?: number): Outcome => ({
  kind: 'answered',
  code,
  body: 'thanks',
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
})

const attempt = (delivery: Delivery, outcome: Outcome): Delivery =>
  recordAttempt(delivery, outcome, noon, [0, 0])

describe('what becomes of a delivery', () => {
  const RETRIABLE = [408, 429, 500, 502, 503, 504]

  test('every HTTP status has one class', () => {
    const codes = Array.from({ length: 500 }, (_, n) => 100 + n)
    const expected = codes.map((code) => {
      if (code >= 200 && code <= 299) return [code, 'delivered']
      return [code, RETRIABLE.includes(code) ? 'failed' : 'abandoned']
    })
    expect(codes.map((code) => [code, attempt(fresh, answered(code)).status])).toEqual(expected)
  })

  const causes = rowsOf(`
    connect_timeout  failed
    read_timeout     failed
    refused          failed
    dns              failed
    tls              failed
    broken           failed
    address          abandoned
  `)

  test.each(causes)('a receiver unreached by %s leaves it %s', (cause, status) => {
    const outcome = { kind: 'unreached', cause } as Outcome
    expect(attempt(fresh, outcome)).toMatchObject({ status, cause, responseCode: null })
  })
})

describe('the record of a delivery', () => {
  test('before its first attempt is pending and empty', () => {
    expect(fresh).toEqual({
      ...event,
      status: 'pending',
      attemptCount: 0,
      attemptsMax: 11,
      responseCode: null,
      responseBody: null,
      cause: null,
      nextAttemptAt: null,
      deliveredAt: null,
      failedAt: null,
    })
  })

  test('after a 2xx is delivered, with its time', () => {
    expect(attempt(fresh, answered(204))).toEqual({
      ...fresh,
      status: 'delivered',
      attemptCount: 1,
      responseCode: 204,
      responseBody: 'thanks',
      deliveredAt: noon,
    })
  })

  test('after a retriable answer is failed, with the time of the next attempt', () => {
    expect(attempt(fresh, answered(503))).toEqual({
      ...fresh,
      status: 'failed',
      attemptCount: 1,
      responseCode: 503,
      responseBody: 'thanks',
      cause: 'status',
      nextAttemptAt: at('12:00:02.000'),
    })
  })

  test('after a client error is abandoned at once, with its time', () => {
    expect(attempt(fresh, answered(410))).toEqual({
      ...fresh,
      status: 'abandoned',
      attemptCount: 1,
      responseCode: 410,
      responseBody: 'thanks',
      cause: 'status',
      failedAt: noon,
    })
  })

  test('keeps nothing of an earlier failure once delivered', () => {
    const delivered = attempt(attempt(fresh, { kind: 'unreached', cause: 'dns' }), answered(200))
    expect(delivered).toMatchObject({ attemptCount: 2, cause: null, nextAttemptAt: null })
  })

  test.each([1, 2, 3, 6, 11])('walks to abandoned after exactly %i attempts', (attempts) => {
    let delivery: Delivery = { ...fresh, attemptsMax: attempts }
    const walked: string[] = []
    while (!isSettled(delivery)) {
      delivery = attempt(delivery, answered(500))
      walked.push(delivery.status)
    }
    expect(walked).toEqual([...Array<string>(attempts - 1).fill('failed'), 'abandoned'])
    expect(delivery).toMatchObject({ attemptCount: attempts, nextAttemptAt: null, failedAt: noon })
  })

  test('may be delivered at its last attempt', () => {
    const last = { ...fresh, attemptCount: fresh.attemptsMax - 1 }
    expect(attempt(last, answered(200)).status).toBe('delivered')
  })
})

describe('attempts in total', () => {
  const classes = rowsOf(`
    created     3
    pending     3
    processing  6
    completed   11
    failed      11
    reversed    6
  `)

  test.each(classes)('are the first and the retries of the class: %s %s', (name, total) => {
    expect(attemptsMax(name as EventName, {})).toBe(Number(total))
  })

  test.each(classes)("are the partner's own setting where there is one: %s", (name) => {
    expect(attemptsMax(name as EventName, { attemptsMax: 4 })).toBe(4)
  })
})

describe('the delay before the next attempt', () => {
  const draws = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const pairs = fc.tuple(draws, draws)
  const attempts = fc.integer({ min: 1, max: 10 })

  test('is published: 2, 4, 8, 16, 32 seconds and on, at most 300', () => {
    const schedule = Array.from({ length: 10 }, (_, n) => delaySeconds(n + 1, [0, 0]))
    expect(schedule).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  })

  test('is 2^k and up to ten percent in whole seconds, at most 300', () => {
    fc.assert(
      fc.property(attempts, pairs, (k, draw) => {
        const delay = delaySeconds(k, draw)
        expect(Number.isInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(Math.min(2 ** k, 300))
        expect(delay).toBeLessThanOrEqual(Math.min(Math.ceil(1.1 * 2 ** k), 300))
      }),
    )
  })

  test('is rounded up as often as its fraction is large', () => {
    // 2^3 and half of ten percent is 8.4 seconds.
    const rolls = Array.from({ length: 1_000 }, (_, n) => delaySeconds(3, [0.5, (n + 0.5) / 1_000]))
    expect(rolls.filter((delay) => delay === 9)).toHaveLength(400)
    expect(rolls.filter((delay) => delay === 8)).toHaveLength(600)
  })

  test('obeys Retry-After between the schedule and 300 seconds', () => {
    fc.assert(
      fc.property(
        attempts,
        pairs,
        fc.integer({ min: 0, max: 1_000_000_000 }),
        (k, draw, wanted) => {
          const delay = delaySeconds(k, draw, wanted)
          expect(delay).toBe(Math.min(Math.max(delaySeconds(k, draw), wanted), 300))
        },
      ),
    )
  })

  test('counts from the answer that asked for it', () => {
    const waiting = attempt(fresh, answered(429, 60))
    expect(waiting.nextAttemptAt).toEqual(at('12:01:00.000'))
    const capped = attempt(fresh, answered(503, 86_400))
    expect(capped.nextAttemptAt).toEqual(at('12:05:00.000'))
  })
})
