import { expect, test } from 'vitest'
import { isFollowed } from '../../../sandbox/aws/stream-filters.ts'
import { rowsOf } from '../../support/rows.ts'

const item = (status: string | undefined) =>
  status === undefined || status === '-'
    ? undefined
    : { pk: 'p', sk: 's', entity: 'debit', status, version: 1 }

test.each(
  rowsOf(`
    -           pending     true
    pending     processing  true
    pending     completed   true
    pending     failed      true
    processing  completed   true
    processing  failed      true
    completed   reversed    true
    completed   completed   false
    failed      failed      false
    reversed    reversed    false
    completed   -           false
  `),
)('a debit that was %s and is %s passes the filters of the stream: %s', (old, next, passes) => {
  expect(String(isFollowed({ before: item(old), after: item(next) }))).toBe(passes)
})

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
