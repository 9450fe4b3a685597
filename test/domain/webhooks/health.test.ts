import { describe, expect, test } from 'vitest'
import {
  failingDays,
  type HealthObservation,
  healthState,
  noteAttempt,
  noteSlow,
  renewed,
  type WebhookHealth,
} from '../../../shared/domain/webhooks/health.ts'
import { rowsOf } from '../../support/rows.ts'

const at = (time: string): Date => new Date(`2025-01-${time}Z`)

const FIRST = at('02T12:00:00.000')
const SECOND = at('03T12:00:00.000')
const ALMOST = at('07T11:59:59.999')
const FIVE_DAYS = at('07T12:00:00.000')

const succeeds = (at: Date, milliseconds = 20): HealthObservation => ({
  at,
  milliseconds,
  succeeded: true,
  abandoned: false,
})
const fails = (at: Date, milliseconds = 20): HealthObservation => ({
  ...succeeds(at, milliseconds),
  succeeded: false,
})
const abandons = (at: Date): HealthObservation => ({ ...fails(at), abandoned: true })

const healthy: WebhookHealth = {}
const failing: WebhookHealth = { failingSince: FIRST }
const exhausted: WebhookHealth = { failingSince: FIRST, exhaustedSince: SECOND }
const disabled: WebhookHealth = { ...exhausted, disabledAt: FIVE_DAYS }
const recovered: WebhookHealth = { recoveredAt: FIRST }
/** It was changed and still has undelivered events. */
const owing: WebhookHealth = { exhaustedSince: SECOND }

describe('states', () => {
  test.each([
    ['healthy', healthy],
    ['healthy', recovered],
    ['healthy', { slowSince: FIRST }],
    ['failing', failing],
    ['exhausted', exhausted],
    ['exhausted', owing],
    ['disabled', disabled],
  ])('a webhook is %s with %j', (state, health) => {
    expect(healthState(health)).toBe(state)
  })

  test('failing days count from the first failure, to the millisecond', () => {
    expect(failingDays(healthy, SECOND)).toBe(0)
    expect(failingDays(failing, FIRST)).toBe(0)
    expect(failingDays(failing, SECOND)).toBe(1)
    expect(failingDays(failing, ALMOST)).toBeLessThan(5)
    expect(failingDays(failing, FIVE_DAYS)).toBe(5)
  })
})

type Turn = [string, before: WebhookHealth, attempt: HealthObservation, after: WebhookHealth]
const turns: Turn[] = [
  ['healthy to failing', healthy, fails(FIRST), failing],
  ['recovered to failing', recovered, fails(SECOND), { ...recovered, failingSince: SECOND }],
  ['failing to exhausted', failing, abandons(SECOND), exhausted],
  ['healthy to exhausted', healthy, abandons(FIRST), { ...failing, exhaustedSince: FIRST }],
  ['owing to failing', owing, fails(FIVE_DAYS), { ...owing, failingSince: FIVE_DAYS }],
  ['exhausted to disabled', exhausted, abandons(FIVE_DAYS), disabled],
  ['failing to disabled', failing, fails(FIVE_DAYS), { ...failing, disabledAt: FIVE_DAYS }],
  ['failing to recovered', failing, succeeds(SECOND), { recoveredAt: SECOND }],
  ['exhausted to recovered', exhausted, succeeds(FIVE_DAYS), { recoveredAt: FIVE_DAYS }],
  ['owing to recovered', owing, succeeds(FIVE_DAYS), { recoveredAt: FIVE_DAYS }],
  ['disabled to recovered', disabled, succeeds(FIVE_DAYS), { recoveredAt: FIVE_DAYS }],
  ['slow to fast', { slowSince: FIRST }, succeeds(SECOND, 1_999), {}],
  ['slow to failing fast', { slowSince: FIRST }, fails(SECOND, 5), { failingSince: SECOND }],
  ['slow and failing to failing', { ...failing, slowSince: FIRST }, fails(SECOND), failing],
]

test.each(turns)('an attempt changes a webhook from %s', (_what, before, attempt, after) => {
  expect(noteAttempt(before, attempt)).toEqual(after)
})

describe('unchanged health', () => {
  const still: [what: string, health: WebhookHealth, attempt: HealthObservation][] = [
    ['a success of the healthy', healthy, succeeds(SECOND)],
    ['a success of the recovered', recovered, succeeds(SECOND)],
    ['another failure', failing, fails(SECOND)],
    ['a failure just before five days', failing, fails(ALMOST)],
    ['another failure of the exhausted', exhausted, fails(ALMOST)],
    ['another abandoned delivery', exhausted, abandons(ALMOST)],
    ['another failure of the disabled', disabled, abandons(at('20T12:00:00.000'))],
    ['a slow success of the slow', { slowSince: FIRST }, succeeds(SECOND, 2_000)],
    ['a slow success of the healthy', healthy, succeeds(SECOND, 60_000)],
  ]

  test.each(still)('%s changes nothing', (_what, health, attempt) => {
    expect(noteAttempt(health, attempt)).toBe(health)
  })

  test('a second slow attempt changes nothing', () => {
    const slow = { slowSince: FIRST }
    expect(noteSlow(slow, SECOND)).toBe(slow)
  })

  test('resetting a healthy webhook changes nothing', () => {
    expect(renewed(healthy)).toBe(healthy)
    expect(renewed(recovered)).toBe(recovered)
  })
})

test('a webhook is slow from a slow attempt to the next fast one', () => {
  const slow = noteSlow(failing, SECOND)
  expect(slow).toEqual({ ...failing, slowSince: SECOND })
  const durations = rowsOf(`
    1      fast
    1999   fast
    2000   slow
    60000  slow
  `)
  for (const [milliseconds, pace] of durations) {
    const after = noteAttempt(slow, fails(SECOND, Number(milliseconds)))
    expect(after.slowSince ? 'slow' : 'fast', milliseconds).toBe(pace)
  }
  expect(noteSlow(noteAttempt(slow, fails(SECOND)), FIVE_DAYS).slowSince).toEqual(FIVE_DAYS)
})

test('a changed webhook is healthy except for its undelivered events', () => {
  expect(renewed(failing)).toEqual({})
  expect(renewed({ ...recovered, slowSince: FIRST })).toEqual({})
  expect(renewed(exhausted)).toEqual(owing)
  expect(renewed(disabled)).toEqual(owing)
  // So that it is not disabled again at its next failure.
  expect(noteAttempt(renewed(disabled), fails(FIVE_DAYS)).disabledAt).toBeUndefined()
})
