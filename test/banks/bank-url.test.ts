import { describe, expect, test } from 'vitest'
import { bankUrl } from '../../shared/banks/bank-url.ts'
import { refused } from '../support/refused.ts'

const judged = (url: string, localPeers: boolean) => bankUrl(url, { localPeers })

describe('a bank may be reached over TLS', () => {
  test.each([
    ['https://api.bank.test', 'https://api.bank.test'],
    ['https://api.bank.test/', 'https://api.bank.test'],
    ['https://API.bank.test/debits/v2//', 'https://api.bank.test/debits/v2'],
    ['https://10.20.30.40:9443/debits', 'https://10.20.30.40:9443/debits'],
  ])('%s, as %s', (url, normal) => {
    for (const localPeers of [true, false]) expect(judged(url, localPeers)).toBe(normal)
  })
})

test('this machine itself only in the sandbox on it', () => {
  const url = 'http://127.0.0.1:8080/debits'
  expect(judged(url, true)).toBe(url)
  expect(refused(judged(url, false)).details).toEqual({ 'connector-url': ['must use https'] })
})

describe('anything else is refused', () => {
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
  ])('"%s" %s', (url, message) => {
    expect(refused(judged(url, true)).details).toEqual({ 'connector-url': [message] })
  })
})
