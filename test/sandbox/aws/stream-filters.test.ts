import { expect, test, vi } from 'vitest'
import { jobs } from '../../../infra/definitions/jobs.ts'
import { newAws } from '../../../sandbox/aws/aws.ts'
import { newSteppedClock } from '../../../sandbox/aws/clock.ts'
import { isFollowed } from '../../../sandbox/aws/stream-filters.ts'
import { checkTransition, statuses } from '../../../shared/domain/debits/lifecycle.ts'

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

test.each(['completed', 'failed'] as const)(
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

test.each(['debit', 'delivery', 'exception', 'refund'])(
  'a %s that expires does not pass the filters of the stream',
  (entity) => {
    const before = { ...item('reversed'), pk: 'p', sk: 's', entity, nextAttemptAt: '2026-11-21' }
    expect(isFollowed({ before, after: undefined })).toBe(false)
  },
)

test('a change record passes the filters of the stream when it is updated or removed', () => {
  const record = { pk: 'CHANGES', sk: '2026-11-21T12:00:00.000Z#1', entity: 'change', by: 'ama' }
  const pairs = [
    [undefined, record],
    [record, { ...record, by: 'kofi' }],
    [record, { ...record, entity: 'other' }],
    [record, undefined],
  ] as const
  const passed = pairs.map(([before, after]) => isFollowed({ before, after }))
  expect(passed).toEqual([false, true, true, true])
})

test('the stream has at most the five filters that Lambda allows', () => {
  expect(jobs.relay.from.stream.length).toBeLessThanOrEqual(5)
})

test('a record of the stream is lost after eleven failures, and throttles do not count', async () => {
  const clock = newSteppedClock(0)
  const kinds = [...Array(20).fill('throttled'), ...Array(11).fill('failed')]
  const invoke = vi.fn(async () => ({ kind: kinds.shift() }))
  const onLostRecords = vi.fn()
  const aws = newAws({ clock, tableName: 'T', invoke, onLostRecords })
  const Item = { pk: 'p', sk: 's', entity: 'refund' }
  aws.perform('PutCommand', { TableName: 'T', Item })
  while (clock.step(3_600_000)) await new Promise(setImmediate)
  expect(invoke).toHaveBeenCalledTimes(31)
  expect(onLostRecords).toHaveBeenCalledOnce()
})
