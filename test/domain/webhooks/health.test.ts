import { expect, test } from 'vitest'
import {
  failingDays,
  type HealthObservation,
  healthState,
  noteAttempt,
  renewed,
  type WebhookHealth,
} from '../../../shared/domain/webhooks/health.ts'

const FIRST = new Date('2025-01-02T12:00:00.000Z')
const SECOND = new Date('2025-01-03T12:00:00.000Z')
const ALMOST = new Date('2025-01-07T11:59:59.999Z')
const FIVE_DAYS = new Date('2025-01-07T12:00:00.000Z')

const succeeds = (at: Date, isSlow = false): HealthObservation => ({
  at,
  isSlow,
  succeeded: true,
  abandoned: false,
  isGone: false,
})
const fails = (at: Date, isSlow = false) => ({ ...succeeds(at, isSlow), succeeded: false })
const abandons = (at: Date): HealthObservation => ({ ...fails(at), abandoned: true })

/** Answers 410. */
const refuses = (at: Date): HealthObservation => ({ ...abandons(at), isGone: true })
const after = (at: Date, minutes: number) => new Date(at.getTime() + minutes * 60_000)

const healthy: WebhookHealth = {}
const failing: WebhookHealth = { failingSince: FIRST }
const exhausted: WebhookHealth = { failingSince: FIRST, exhaustedSince: SECOND }
const disabled: WebhookHealth = { ...exhausted, disabledAt: FIVE_DAYS }
const gone: WebhookHealth = { failingSince: FIRST, exhaustedSince: FIRST, goneSince: FIRST }
const recovered: WebhookHealth = { recoveredAt: FIRST }
const slow: WebhookHealth = { slowSince: FIRST }
/** It was changed and still has undelivered events. */
const changed: WebhookHealth = { exhaustedSince: SECOND }

test.each([
  ['healthy', healthy],
  ['healthy', recovered],
  ['healthy', slow],
  ['failing', failing],
  ['exhausted', exhausted],
  ['exhausted', changed],
  ['disabled', disabled],
])('a webhook is %s with %j', (state, health) => {
  expect(healthState(health)).toBe(state)
})

test('the failing days count from the first failure, to the millisecond', () => {
  expect(failingDays(healthy, SECOND)).toBe(0)
  expect([FIRST, SECOND, FIVE_DAYS].map((at) => failingDays(failing, at))).toEqual([0, 1, 5])
  expect(failingDays(failing, ALMOST)).toBeLessThan(5)
})

type Change = [string, before: WebhookHealth, attempt: HealthObservation, after: WebhookHealth]
const changes: Change[] = [
  ['healthy to failing', healthy, fails(FIRST), failing],
  ['recovered to failing', recovered, fails(SECOND), { ...recovered, failingSince: SECOND }],
  ['failing to exhausted', failing, abandons(SECOND), exhausted],
  ['healthy to exhausted', healthy, abandons(FIRST), { ...failing, exhaustedSince: FIRST }],
  ['changed to failing', changed, fails(FIVE_DAYS), { ...changed, failingSince: FIVE_DAYS }],
  ['exhausted to disabled', exhausted, abandons(FIVE_DAYS), disabled],
  [
    'failing to disabled',
    failing,
    fails(FIVE_DAYS),
    { ...failing, exhaustedSince: FIVE_DAYS, disabledAt: FIVE_DAYS },
  ],
  ['failing to recovered', failing, succeeds(SECOND), { recoveredAt: SECOND }],
  ['changed to recovered', changed, succeeds(FIVE_DAYS), { recoveredAt: FIVE_DAYS }],
  ['disabled to recovered', disabled, succeeds(FIVE_DAYS), { recoveredAt: FIVE_DAYS }],
  ['slow to fast', slow, succeeds(SECOND), {}],
  ['slow to failing fast', slow, fails(SECOND), { failingSince: SECOND }],
  ['slow to failing slow', slow, fails(SECOND, true), { ...slow, failingSince: SECOND }],
  ['healthy to gone', healthy, refuses(FIRST), gone],
  ['gone to disabled', gone, refuses(after(FIRST, 60)), { ...gone, disabledAt: after(FIRST, 60) }],
  ['gone to exhausted', gone, abandons(SECOND), { failingSince: FIRST, exhaustedSince: FIRST }],
  ['gone to recovered', gone, succeeds(SECOND), { recoveredAt: SECOND }],
  // Unchanged.
  ['another 410 within the hour', gone, refuses(after(FIRST, 59)), gone],
  ['a success of the healthy', healthy, succeeds(SECOND), healthy],
  ['a success of the recovered', recovered, succeeds(SECOND), recovered],
  ['a failure just before five days', failing, fails(ALMOST), failing],
  ['another abandoned delivery', exhausted, abandons(ALMOST), exhausted],
  [
    'another failure of the disabled',
    disabled,
    abandons(new Date('2025-01-20T12:00:00Z')),
    disabled,
  ],
  ['a slow success of the slow', slow, succeeds(SECOND, true), slow],
  ['a slow success of the healthy', healthy, succeeds(SECOND, true), healthy],
]

test.each(changes)('an attempt is noted in a webhook: %s', (_, before, attempt, after) => {
  const noted = noteAttempt(before, attempt)
  expect(noted).toEqual(after)
  expect(noted === before).toBe(after === before)
})

test('a changed webhook is healthy except for its undelivered events', () => {
  expect(renewed(failing)).toEqual({})
  // A member that a later version wrote.
  const later = { addedLater: 'x' } as object
  expect(renewed({ ...failing, ...later })).toEqual(later)
  expect(renewed({ ...recovered, ...slow })).toEqual({})
  // So that it is not disabled again at its next failure.
  for (const health of [exhausted, disabled]) expect(renewed(health)).toEqual(changed)
  expect(renewed({ ...gone, disabledAt: FIVE_DAYS })).toEqual({ exhaustedSince: FIRST })
  for (const health of [healthy, recovered]) expect(renewed(health)).toBe(health)
})
