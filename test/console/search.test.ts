import { expect, test } from 'vitest'
import { searchLink } from '../../console/page/search.ts'

/** The places that the console's search leads to. */

const known = {
  providers: [{ id: 'demo', name: 'Demo Payments' }],
  banks: [{ identifier: 'GCB', name: 'GCB Bank' }],
}

test.each([
  ['DCS-20261121-ABC123', '#/debit/DCS-20261121-ABC123'],
  [' dcs-20261121-abc123 ', '#/debit/DCS-20261121-ABC123'],
  ['STL-20261122-6NN1EZ', '#/batch/STL-20261122-6NN1EZ'],
  ['3F2B8C1E-5D4A-4C3B-9A2F-0E1D2C3B4A59', '#/debits?uuid=3f2b8c1e-5d4a-4c3b-9a2f-0e1d2c3b4a59'],
  ['+233241234567', '#/debits?phone=%2B233241234567'],
  ['024 123 4567', '#/debits?phone=%2B233241234567'],
  ['233241234567', '#/debits?phone=%2B233241234567'],
  ['GHS 10,495.35', '#/debits?amount=10495.35'],
  ['demo payments', '#/provider/demo'],
  ['demo', '#/provider/demo'],
  ['gcb', '#/bank/GCB'],
  ['GCB bank', '#/bank/GCB'],
  ['order-4711/a', '#/debits?partner-reference=order-4711%2Fa'],
])('the search for %s leads to %s', (text, link) => {
  expect(searchLink(text, known)).toBe(link)
})
