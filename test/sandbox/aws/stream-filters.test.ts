import { expect, test } from 'vitest'
import { isFollowed } from '../../../sandbox/aws/stream-filters.ts'
import { checkTransition, isOpen, statuses } from '../../../shared/domain/debits/lifecycle.ts'

const item = (status: string | undefined) =>
  status === undefined ? undefined : { pk: 'p', sk: 's', entity: 'debit', status, version: 1 }

const transitions = statuses.flatMap((from) =>
  statuses.filter((to) => checkTransition(from, to) === 'allowed').map((to) => [from, to] as const),
)

test.each([[undefined, 'pending'] as const, ...transitions])(
  'a debit that was %s and is %s passes the filters of the stream',
  (old, next) => {
    expect(isFollowed({ before: item(old), after: item(next) })).toBe(true)
  },
)

test.each(statuses.filter((status) => !isOpen(status)))(
  'a debit that stays %s, or is deleted, does not pass the filters of the stream',
  (status) => {
    const before = item(status)
    expect([before, undefined].map((after) => isFollowed({ before, after }))).toEqual([
      false,
      false,
    ])
  },
)

test.each([
  [{ status: 'failed', nextAttemptAt: '2026-11-21T12:00:02.000Z' }, true],
  [{ status: 'delivered' }, false],
  [{ status: 'abandoned' }, false],
])('a delivery with %j passes the filters of the stream: %s', (attributes, passes) => {
  const after = { pk: 'p', sk: 's', entity: 'delivery', ...attributes }
  expect(isFollowed({ before: undefined, after })).toBe(passes)
})

test.each([
  ['refund', true],
  ['feed-page', false],
  ['lines', false],
])('an item of the kind %s passes the filters of the stream: %s', (entity, passes) => {
  expect(isFollowed({ before: undefined, after: { pk: 'p', sk: 's', entity } })).toBe(passes)
})
