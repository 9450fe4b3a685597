import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { cursorFor, listHash, positionIn } from '../../../shared/api/pagination.ts'
import {
  EventFeedQuery,
  feedPosition,
  readFeedPosition,
} from '../../../shared/domain/webhooks/feed.ts'
import { messagesOf } from '../messages-of.ts'

const list = listHash('list-events', 'demo')
const cursorOf = (text: string): string => cursorFor(list, text)

test.each(['cursor', 'after'] as const)('a cursor in %s is parsed as its position', (name) => {
  fc.assert(
    fc.property(fc.nat(9_999_999_999), fc.nat(999), (page, count) => {
      const cursor = cursorOf(feedPosition({ page, count }))
      expect(encodeURIComponent(cursor)).toBe(cursor)
      const query = v.parse(EventFeedQuery, { [name]: cursor })
      expect(readFeedPosition(positionIn(list, query[name]) as string)).toEqual({ page, count })
    }),
  )
})

test.each([
  ...['latest', '3', '-1.0', '1.-1', '1.5.2', '1e3.2', '10000000000.1', '1.1000', '1.2\n', ' 1.2'],
  ...['\u{661}.\u{662}', '2026-11-21T12:00:00.000Z#DCS-20261121-ABC123'],
])('the position %j is refused', (position) => {
  const messages = messagesOf(EventFeedQuery, { cursor: cursorOf(position) })
  expect(messages).toEqual(['must be a cursor of this list'])
})

const bare = Buffer.from('1.2').toString('base64url')

test.each(['', bare, `${cursorOf('1.2')}+/`, '1.2', 12, [cursorOf('1.2'), cursorOf('1.3')], null])(
  'the cursor %j is refused',
  (cursor) => {
    expect(messagesOf(EventFeedQuery, { cursor })).toEqual(['must be a cursor of this list'])
  },
)
