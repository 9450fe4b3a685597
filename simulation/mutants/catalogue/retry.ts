import { type Mutant, mutantsOf } from '../mutant.ts'

/** Delivery attempts: their number, their times, and the responses that end them. */

export const retry: readonly Mutant[] = [
  ...mutantsOf('retry', 'shared/domain/webhooks/delivery.ts', [
    {
      name: 'retries-beside-the-first-attempt',
      from: 'webhook.attemptsMax ?? 1 + eventTypes[event].retries',
      to: '1 + (webhook.attemptsMax ?? eventTypes[event].retries)',
      invariants: [15],
      needs: 'a provider with an own number of attempts whose receiver stays away',
    },
    {
      name: 'request-for-time-ignored',
      from: 'delaySeconds(number, random, retryAfter)',
      to: 'delaySeconds(number, random)',
      invariants: [16],
      needs: 'a receiver that answers 429 with Retry-After',
    },
    {
      name: 'rival-failure-ends-a-delivery',
      from: 'if (isSettled(delivery) || isRequested) return',
      to: 'if (isRequested) return',
      invariants: [17],
      needs: 'two workers at one attempt at once, with different answers',
    },
    {
      name: 'chosen-events-never-match',
      from: 'webhook.events.includes(eventTypes[event].event)',
      to: '(webhook.events as readonly string[]).includes(event)',
      invariants: [15],
      needs: 'a provider that has chosen its events',
    },
  ]),
  ...mutantsOf('retry', 'shared/domain/webhooks/attempt.ts', [
    {
      name: 'delay-up-to-a-quarter-of-an-hour',
      from: 'const DELAY_CAP_SECONDS = 300',
      to: 'const DELAY_CAP_SECONDS = 900',
      invariants: [16],
      needs: 'a receiver that fails nine times, or asks for more than 300 s',
    },
    {
      name: 'half-the-delay',
      from: 'const base = 2 ** k\n',
      to: 'const base = 2 ** (k - 1)\n',
      invariants: [16],
      needs: 'a receiver that fails',
    },
    {
      name: 'jitter-of-the-whole-delay',
      from: 'Math.floor(base * 0.1)',
      to: 'base',
      invariants: [16],
      needs: 'a receiver that fails',
    },
    {
      name: 'client-errors-tried-again',
      from: 'RETRIABLE_CODES.has(outcome.code)',
      to: 'outcome.code >= 400',
      invariants: [17],
      needs: 'a receiver that answers 400, 401, 403, 404, 405, 410 or 501',
    },
    {
      name: '408-not-tried-again',
      from: 'new Set([408, 429, 500, 502, 503, 504])',
      to: 'new Set([429, 500, 502, 503, 504])',
      invariants: [17],
      needs: 'a receiver that answers 408',
    },
    {
      name: 'silence-not-tried-again',
      from: "outcome.cause !== 'address'",
      to: "outcome.cause === 'refused'",
      invariants: [17],
      needs: 'a receiver that takes the body and gives no answer',
    },
    {
      name: 'redirect-taken-for-received',
      from: 'outcome.code >= 200 && outcome.code < 300',
      to: 'outcome.code >= 200 && outcome.code < 400',
      invariants: [15, 17],
      needs: 'a receiver that answers 3xx',
    },
  ]),
  ...mutantsOf('retry', 'shared/queues/outbox.ts', [
    {
      name: 'next-attempt-at-once',
      from: '      delaySeconds: Math.min(secondsUntil(nextAttemptAt, now), delayMax),\n',
      to: '',
      invariants: [16],
      needs: 'a receiver that fails',
    },
    {
      name: 'next-attempt-under-the-last-number',
      from: 'message: { reference, n, attempt: attemptCount + 1 },',
      to: 'message: { reference, n, attempt: attemptCount },',
      invariants: [15],
      needs: 'a receiver that fails',
    },
  ]),
  ...mutantsOf('retry', 'shared/webhooks/attempt.ts', [
    {
      name: 'rival-attempt-not-recorded',
      from: '    next = appendAttempt(raiseMax(current), { ...attempt, isRequested })\n',
      to: '    if (current.attemptCount >= next.attemptCount) return current\n    next = appendAttempt(raiseMax(current), { ...attempt, isRequested })\n',
      invariants: [13],
      needs: 'two workers at one attempt at once',
    },
    {
      name: 'aborted-attempt-not-recorded',
      from: '    logAttempt(await writeOutcome(attempt), { tried: true })\n',
      to: '',
      invariants: [13],
      needs: 'several events for a receiver that gives no answer',
    },
    {
      name: 'old-message-tried-again',
      from: 'isSettled(record) || number !== record.attemptCount + 1',
      to: 'isSettled(record)',
      invariants: [15, 16, 17],
      needs: 'a receiver that fails, and a message that comes twice',
    },
  ]),
  ...mutantsOf('retry', 'functions/jobs/deliver-sidelined-webhook.ts', [
    {
      name: 'slow-events-left-to-nobody',
      from: '{ unlessSlow: false }',
      to: '{ unlessSlow: true }',
      invariants: [15],
      needs: 'a receiver that takes longer than two seconds',
    },
  ]),
  ...mutantsOf('retry', 'shared/sweep/overdue.ts', [
    {
      name: 'lost-attempt-not-missed',
      from: 'return delivery && at ? { outgoing: nextAttempt(delivery, now), at } : undefined',
      to: 'return delivery && at && at > now ? { outgoing: nextAttempt(delivery, now), at } : undefined',
      invariants: [15],
      needs: 'a receiver that fails, and a message or a stream record that is lost',
    },
  ]),
  ...mutantsOf('retry', 'shared/sweep/repair.ts', [
    {
      name: 'lost-event-not-missed',
      from: '  await Promise.all(unrecorded.map(({ record }) => replaceDelivery(undefined, record)))\n',
      to: '',
      invariants: [15],
      needs: 'a stream record or a message about a first attempt that is lost',
    },
  ]),
]
