import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { EventFeedQuery, type FeedPosition, feedCursor } from '../../shared/domain/event-feed.ts'

const positions: fc.Arbitrary<FeedPosition> = fc.record({
  page: fc.integer({ min: 0, max: 9_999_999_999 }),
  count: fc.integer({ min: 0, max: 999 }),
})

const spelled = (text: string): string => Buffer.from(text).toString('base64url')

describe('the cursor of the feed', () => {
  test('is read back as the position it was made from', () => {
    fc.assert(
      fc.property(positions, (position) => {
        const query = { after: feedCursor(position) }
        expect(v.parse(EventFeedQuery, query).after).toEqual(position)
      }),
    )
  })

  test('may stand in a URL as it is', () => {
    fc.assert(
      fc.property(positions, (position) => {
        const cursor = feedCursor(position)
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
    ['the cursor of another list', spelled('2026-11-21T12:00:00.000Z#DCS-20261121-ABC123')],
    ['a position as it is', '1.2'],
    ['no text', 12],
    ['two of them', [spelled('1.2'), spelled('1.3')]],
    ['null', null],
  ])('is refused: %s', (_what, after) => {
    const { issues = [] } = v.safeParse(EventFeedQuery, { after })
    expect(issues.map(({ message }) => message)).toEqual(['must be a cursor of this feed'])
  })

  test('is none at the beginning', () => {
    expect(v.parse(EventFeedQuery, {}).after).toBeUndefined()
  })
})
