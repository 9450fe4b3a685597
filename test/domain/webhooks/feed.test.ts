import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { cursorFor, listHash, positionIn } from '../../../shared/api/pagination.ts'
import {
  EventFeedQuery,
  type FeedPosition,
  feedPosition,
  readFeedPosition,
} from '../../../shared/domain/webhooks/feed.ts'

const positions: fc.Arbitrary<FeedPosition> = fc.record({
  page: fc.integer({ min: 0, max: 9_999_999_999 }),
  count: fc.integer({ min: 0, max: 999 }),
})

const list = listHash('list-events', 'demo')
const problems = (query: object) =>
  (v.safeParse(EventFeedQuery, query).issues ?? []).map(({ message, path }) => [
    path?.[0].key,
    message,
  ])
const spelled = (text: string): string => cursorFor(list, text)

describe('feed cursors', () => {
  test.each(['cursor', 'after'] as const)('a cursor in %s is parsed as its position', (name) => {
    fc.assert(
      fc.property(positions, (position) => {
        const query = v.parse(EventFeedQuery, { [name]: spelled(feedPosition(position)) })
        expect(readFeedPosition(positionIn(list, query[name]) as string)).toEqual(position)
      }),
    )
  })

  test('a cursor needs no encoding in a URL', () => {
    fc.assert(
      fc.property(positions, (position) => {
        const cursor = spelled(feedPosition(position))
        expect(encodeURIComponent(cursor)).toBe(cursor)
      }),
    )
  })

  test.each([
    ['nothing', ''],
    ['no position', spelled('latest')],
    ['half a position', spelled('3')],
    ['a page below none', spelled('-1.0')],
    ['a count below none', spelled('1.-1')],
    ['a fraction', spelled('1.5.2')],
    ['another notation', spelled('1e3.2')],
    ['a page that no key holds', spelled('10000000000.1')],
    ['a count beyond any page', spelled('1.1000')],
    ['a line end behind', spelled('1.2\n')],
    ['a space before', spelled(' 1.2')],
    ['digits of another script', spelled('\u{661}.\u{662}')],
    ['a position of another list', spelled('2026-11-21T12:00:00.000Z#DCS-20261121-ABC123')],
    ['a position without its list', Buffer.from('1.2').toString('base64url')],
    ['the alphabet of base64', `${spelled('1.2')}+/`],
    ['a position as it is', '1.2'],
    ['no text', 12],
    ['two of them', [spelled('1.2'), spelled('1.3')]],
    ['null', null],
  ])('a wrong cursor is refused: %s', (_what, cursor) => {
    expect(problems({ cursor })).toEqual([['cursor', 'must be a cursor of this list']])
  })

  test('a cursor under both names is refused', () => {
    const cursor = spelled('1.2')
    expect(problems({ cursor, after: cursor })).toEqual([
      ['after', 'must not be given together with cursor'],
    ])
  })

  test('the feed starts with its oldest event without a cursor', () => {
    expect(readFeedPosition(undefined)).toEqual({ page: 0, count: 0 })
  })
})
