import { expect, test } from 'vitest'
import { addressScope, checkAddress, isRange } from '../../shared/api/address.ts'
import { rowsOf } from '../support/rows.ts'

const addresses = rowsOf(`
  203.0.113.0/24                allowed   203.0.113.0  203.0.113.255  ::ffff:203.0.113.7  ::ffff:cb00:7107
  203.0.113.0/24                403/1451  203.0.112.255  203.0.114.0  198.51.100.1  ::ffff:198.51.100.1
  203.0.113.7                   allowed   203.0.113.7
  203.0.113.7                   403/1451  203.0.113.8
  203.0.113.7/32                allowed   203.0.113.7
  203.0.113.7/31                allowed   203.0.113.6
  0.0.0.0/0                     allowed   198.51.100.1
  0.0.0.0/0                     403/1451  2001:db8::1
  203.0.113.0/24,198.51.0.0/16  allowed   198.51.100.1
  203.0.113.0/24,2001:db8::/64  allowed   2001:db8::1
  2001:db8::/32                 allowed   2001:db8::1  2001:DB8:0:0::1
  2001:db8::/32                 403/1451  2001:db9::1
  2001:db8::1                   allowed   2001:db8::1
  2001:db8::1                   403/1451  2001:db8::2
  203.0.113.0/24                403/1452  203.0.113.07  203.0.113  203.0.113.256  3405803783  0xcb.0.113.7
  203.0.113.0/24                403/1452  203.0.113.7:443  203.0.113.7,198.51.100.1  localhost
  2001:db8::/32                 403/1452  [2001:db8::1]  2001:db8:::1
  provider.example              403/1452  203.0.113.7
`).flatMap(([list = '', code = '', ...addresses]) =>
  addresses.map((address) => [address, list, code] as const),
)

const resultOf = (address: string | undefined, ranges: readonly string[]): string => {
  const refusal = checkAddress(address, ranges)
  return refusal ? `${refusal.http}/${refusal.error.code}` : 'allowed'
}

test.each(addresses)('the address %s with the allow-list %s is %s', (address, list, expected) => {
  expect(resultOf(address, list.split(','))).toBe(expected)
})

test('a missing address is 1452, and an empty allow-list allows no address', () => {
  const results = [undefined, ''].map((address) => resultOf(address, ['0.0.0.0/0']))
  expect([...results, resultOf('203.0.113.7', [])]).toEqual(['403/1452', '403/1452', '403/1451'])
})

const entries = rowsOf(`
  true   203.0.113.0/24  203.0.113.7  0.0.0.0/0  203.0.113.7/32  2001:db8::/32  2001:db8::1  ::/0  2001:db8::1/128
  false  203.0.113.0/33  2001:db8::/129  203.0.113.0/  203.0.113.0/-1  203.0.113.0/2 4  203.0.113.0/24/24
  false  203.0.113.0/0x18  203.0.113/24  203.0.113.00/24  203.0.113.0-24  *  provider.example
`).flatMap(([expected, ...texts]) => texts.map((text) => [text, expected === 'true'] as const))

test.each([...entries, ['', false] as const])('the entry %s is valid: %s', (text, expected) => {
  expect(isRange(text)).toBe(expected)
})

const scopes = rowsOf(`
  203.0.113.7        203.0.113.7  ::ffff:203.0.113.7  ::ffff:cb00:7107  0:0:0:0:0:FFFF:203.0.113.7
  0.0.0.10           ::ffff:0.0.0.10
  2001:db8:0:0::/64  2001:db8::1  2001:DB8:0:0:ffff:1:2:3
  2001:db8:0:1::/64  2001:0db8:0000:0001::
  2001:db8:1:2::/64  2001:db8:1:2:3:4:5:6  2001:db8:1:2:3:4:203.0.113.7
  0:0:0:0::/64       ::  ::203.0.113.7
  1:0:0:0::/64       1::ffff:203.0.113.7
  unknown            fe80::1%eth0  203.0.113.07  [2001:db8::1]  unix:
`)

test.each(scopes)('each request is counted under %s', (scope, ...addresses) => {
  for (const address of addresses) expect(addressScope(address), address).toBe(scope)
})

test('the requests without an address are counted in one scope', () => {
  expect([undefined, null, ''].map(addressScope)).toEqual(['unknown', 'unknown', 'unknown'])
})
