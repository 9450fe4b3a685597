import { expect, test } from 'vitest'
import {
  afterFailure,
  afterReply,
  type BankHealth,
  HEALTHY,
  isResuming,
} from '../../../shared/domain/banks/health.ts'
import { inSeconds } from '../../support/examples.ts'

/** Applies requests, each as its second and its outcome. */
const after = (...requests: [number, 'late' | 'failed' | 'prompt' | 'tardy'][]): BankHealth =>
  requests.reduce((health, [second, outcome]) => {
    const at = inSeconds(second)
    return outcome === 'late' || outcome === 'failed'
      ? afterFailure(health, { from: at, at, isLate: outcome === 'late' })
      : afterReply(health, { at, isPrompt: outcome === 'prompt' })
  }, HEALTHY)

/** The times of the retries of one submission. */
const retries = [0, 2, 6, 14, 30, 62, 122].map((second) => [second, 'failed'] as [number, 'failed'])

test('a bank is down two minutes after the first of five failures in a row', () => {
  const failedAt = (second: number) => after(...retries.slice(0, -1), [second, 'failed'])
  expect(failedAt(119.999)).toMatchObject({ state: 'up', failures: 5 })
  expect(failedAt(120)).toMatchObject({ state: 'down', since: inSeconds(120) })
  expect(failedAt(599.999).state).toBe('down')
})

test('a bank with four failures in two minutes is up, and the fifth makes it down', () => {
  const four: [number, 'failed'][] = [0, 50, 100, 130].map((second) => [second, 'failed'])
  expect(after(...four).state).toBe('up')
  expect(after(...four, [140, 'failed']).state).toBe('down')
})

test.each(['prompt', 'tardy'] as const)('a %s reply ends the failures in a row', (reply) => {
  const health = after(...retries.slice(0, -1), [100, reply], [122, 'failed'])
  expect(health).toEqual({ state: 'up', failures: 1, failingSince: inSeconds(122) })
})

test('the first reply ends an outage, also a slow one', () => {
  const health = after(...retries, [600, 'tardy'])
  const time = inSeconds(600)
  expect(health).toEqual({ state: 'up', since: time, failures: 0, recoveredAt: time })
})

test('a late reply makes a bank slow, and a prompt one makes it up again', () => {
  expect(after([0, 'late'])).toMatchObject({ state: 'slow', since: inSeconds(0) })
  expect(after([0, 'late'], [3, 'tardy'])).toMatchObject({ state: 'slow', failures: 0 })
  expect(after([0, 'late'], [3, 'prompt'])).toMatchObject({ state: 'up', since: inSeconds(3) })
})

test('a failure ten minutes after the first of a row begins a new row', () => {
  const health = after(...retries.slice(0, -1), [600, 'failed'])
  expect(health).toMatchObject({ state: 'up', failures: 1, failingSince: inSeconds(600) })
})

test('a request that changes nothing returns the same health, so that nothing is written', () => {
  const at = inSeconds(700)
  expect(afterReply(HEALTHY, { at, isPrompt: true })).toBe(HEALTHY)
  for (const health of [after(...retries), after(...retries.slice(0, -1))]) {
    const soon = inSeconds(100)
    expect(afterFailure(health, { from: soon, at: soon, isLate: false })).toBe(health)
  }
})

test('the submissions of a bank resume for ten minutes after an outage', () => {
  const health = after(...retries, [600, 'prompt'])
  expect(isResuming(health, inSeconds(1_199.999))).toBe(true)
  expect(isResuming(health, inSeconds(1_200))).toBe(false)
  expect([HEALTHY, after(...retries)].map((one) => isResuming(one, inSeconds(700)))).toEqual([
    false,
    false,
  ])
})
