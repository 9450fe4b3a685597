import { expect, test } from 'vitest'
import { accountName, balanceText } from '../../console/page/ledger-texts.ts'

/** The texts of accounts and balances in the console (docs/console.md). */

test.each([
  ['bank_receivable:GCB', 'Owed by GCB'],
  ['provider_payable:demo', 'Owed to demo'],
  ['cash', 'Cash'],
  ['suspense:GCB', 'suspense GCB'],
])('the account %s has the name %s', (account, name) => {
  expect(accountName(account)).toBe(name)
})

test.each([
  ['2116.00', '2,116.00 Dr'],
  ['-24.62', '24.62 Cr'],
  ['0.00', '0.00'],
])('the balance %s is shown as %s', (balance, text) => {
  expect(balanceText(balance)).toBe(text)
})
