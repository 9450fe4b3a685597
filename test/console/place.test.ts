import { expect, test } from 'vitest'
import { linkTo, placeIn } from '../../console/page/place.ts'

/** Addresses of the console's screens. */

test('an address has screen, object and filters, and a link restores them', () => {
  const place = { screen: 'debit', id: 'a/b c', filters: { bank: 'GCB' } }
  expect(linkTo('debit', 'a/b c', { bank: 'GCB', status: undefined })).toBe(
    '#/debit/a%2Fb%20c?bank=GCB',
  )
  expect(placeIn('#/debit/a%2Fb%20c?bank=GCB')).toEqual(place)
  expect(placeIn('')).toEqual({ screen: 'debits', id: '', filters: {} })
})

test.each(['%E0%A4%A', '%', '%zz'])('the malformed address %s names an unknown object', (id) => {
  expect(placeIn(`#/debit/${id}`)).toEqual({ screen: 'debit', id, filters: {} })
})
