import { expect, test } from 'vitest'
import { bankUrl } from '../../shared/banks/bank-url.ts'
import { refused } from '../support/refused.ts'

test.each([
  ['https://api.bank.test', 'https://api.bank.test'],
  ['https://api.bank.test/', 'https://api.bank.test'],
  ['https://API.bank.test/debits/v2//', 'https://api.bank.test/debits/v2'],
  ['https://10.20.30.40:9443/debits', 'https://10.20.30.40:9443/debits'],
])('the bank URL %s is normalized to %s', (url, normal) => {
  for (const localPeers of [['127.0.0.1'], []]) expect(bankUrl(url, { localPeers })).toBe(normal)
})

const reasonOf = (url: string, localPeers = ['127.0.0.1']) =>
  refused(bankUrl(url, { localPeers })).details

test('a bank is on this machine only in a local sandbox', () => {
  const url = 'http://127.0.0.1:8080/debits'
  expect(bankUrl(url, { localPeers: ['127.0.0.1'] })).toBe(url)
  expect(reasonOf(url, [])).toEqual({ 'connector-url': ['must use https'] })
})

test.each([
  ['', 'is not a URL'],
  ['api.bank.test', 'is not a URL'],
  [`https://api.bank.test/${'x'.repeat(2_048)}`, 'is not a URL'],
  ['https://user:word@api.bank.test', 'must not contain credentials'],
  ['https://api.bank.test/?bank=1', 'must not have a query or a fragment'],
  ['https://api.bank.test/?', 'must not have a query or a fragment'],
  ['https://api.bank.test/#top', 'must not have a query or a fragment'],
  ['http://api.bank.test', 'must use https'],
  ['http://localhost:8080', 'must use https'],
  ['http://127.0.0.2:8080', 'must use https'],
  ['ftp://api.bank.test', 'must use https'],
])('the bank URL "%s" is refused: it %s', (url, message) => {
  expect(reasonOf(url)).toEqual({ 'connector-url': [message] })
})
