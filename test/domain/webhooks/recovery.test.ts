import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  afterPage,
  automaticRecovery,
  dueInPage,
  RECOVERY_PAGE,
  RECOVERY_PAGE_SECONDS,
  type Recovery,
  requestedRecovery,
} from '../../../shared/domain/webhooks/recovery.ts'
import { inSeconds, NOON, providerId } from '../../support/examples.ts'

const opening = { provider: providerId('demo'), id: 'r-1', now: NOON }

describe('recoveries', () => {
  const owner = { provider: 'demo', id: 'r-1', runAt: NOON, until: NOON }
  const fresh = { ...owner, status: 'running', page: 0, cursor: null, count: 0 }

  test('a requested recovery spans from the requested time to now', () => {
    const since = inSeconds(-14 * 86_400)
    expect(requestedRecovery({ ...opening, since })).toEqual({ ...fresh, kind: 'asked', since })
  })

  test('an automatic recovery spans 72 hours', () => {
    const since = inSeconds(-72 * 3600)
    expect(automaticRecovery(opening)).toEqual({ ...fresh, kind: 'automatic', since })
  })
})

describe('pages of a recovery', () => {
  const first = automaticRecovery(opening)

  test('the next page continues ten seconds later where the previous one ended', () => {
    expect(afterPage(first, { cursor: 'c-1', retried: 40, isLast: false }, inSeconds(3))).toEqual({
      ...first,
      page: 1,
      cursor: 'c-1',
      count: 40,
      runAt: inSeconds(13),
    })
  })

  test('a recovery ends with the last page and keeps the position before an empty one', () => {
    const second = afterPage(first, { cursor: 'c-1', retried: 50, isLast: false }, NOON)
    expect(afterPage(second, { cursor: null, retried: 0, isLast: true }, NOON)).toMatchObject({
      status: 'done',
      page: 2,
      cursor: 'c-1',
      count: 50,
    })
  })

  test('a recovery counts the retries of all pages', () => {
    const pages = fc.array(fc.integer({ min: 0, max: RECOVERY_PAGE }), { minLength: 1 })
    fc.assert(
      fc.property(pages, (counts) => {
        const walk = (recovery: Recovery, count: number, n: number) => {
          const isLast = n === counts.length - 1
          return afterPage(recovery, { cursor: `c-${n}`, retried: count, isLast }, NOON)
        }
        const done = counts.reduce(walk, first)
        const count = counts.reduce((sum, one) => sum + one, 0)
        expect(done).toMatchObject({ status: 'done', page: counts.length, count })
      }),
    )
  })
})

test('the attempts of a page are spread over the time until the next one', () => {
  const due = Array.from({ length: RECOVERY_PAGE }, (_, place) => dueInPage(NOON, place).getTime())
  expect(due[0]).toBe(NOON.getTime())
  expect(new Set(due).size).toBe(RECOVERY_PAGE)
  expect(due).toEqual(due.toSorted((a, b) => a - b))
  expect(due.at(-1)).toBeLessThan(inSeconds(RECOVERY_PAGE_SECONDS).getTime())
})
