import { expect, test } from 'vitest'
import { addressScope, checkAddress, isRange } from '../../shared/api/address.ts'
import { rowsOf } from '../support/rows.ts'

const addresses = rowsOf(`
  203.0.113.0               203.0.113.0/24                allowed
  203.0.113.255             203.0.113.0/24                allowed
  203.0.112.255             203.0.113.0/24                403/1451
  203.0.114.0               203.0.113.0/24                403/1451
  203.0.113.7               203.0.113.7                   allowed
  203.0.113.8               203.0.113.7                   403/1451
  203.0.113.7               203.0.113.7/32                allowed
  203.0.113.6               203.0.113.7/31                allowed
  198.51.100.1              0.0.0.0/0                     allowed
  198.51.100.1              203.0.113.0/24                403/1451
  198.51.100.1              203.0.113.0/24,198.51.0.0/16  allowed
  2001:db8::1               2001:db8::/32                 allowed
  2001:DB8:0:0::1           2001:db8::/32                 allowed
  2001:db9::1               2001:db8::/32                 403/1451
  2001:db8::1               2001:db8::1                   allowed
  2001:db8::2               2001:db8::1                   403/1451
  2001:db8::1               203.0.113.0/24,2001:db8::/64  allowed
  2001:db8::1               0.0.0.0/0                     403/1451
  ::ffff:203.0.113.7        203.0.113.0/24                allowed
  ::ffff:cb00:7107          203.0.113.0/24                allowed
  ::ffff:198.51.100.1       203.0.113.0/24                403/1451
  203.0.113.07              203.0.113.0/24                403/1452
  203.0.113                 203.0.113.0/24                403/1452
  203.0.113.256             203.0.113.0/24                403/1452
  3405803783                203.0.113.0/24                403/1452
  0xcb.0.113.7              203.0.113.0/24                403/1452
  203.0.113.7:443           203.0.113.0/24                403/1452
  203.0.113.7,198.51.100.1  203.0.113.0/24                403/1452
  [2001:db8::1]             2001:db8::/32                 403/1452
  2001:db8:::1              2001:db8::/32                 403/1452
  localhost                 127.0.0.0/8                   403/1452
  203.0.113.7               provider.example               403/1452
`)

const verdict = (address: string | undefined, ranges: readonly string[]): string => {
  const refusal = checkAddress(address, ranges)
  return refusal ? `${refusal.http}/${refusal.error.code}` : 'allowed'
}

test.each(addresses)('the address %s with the allow-list %s is %s', (address, ranges, expected) => {
  expect(verdict(address, ranges.split(','))).toBe(expected)
})

test('a missing address is rejected with 1452', () => {
  expect(verdict(undefined, ['0.0.0.0/0'])).toBe('403/1452')
  expect(verdict('', ['0.0.0.0/0'])).toBe('403/1452')
})

test('an empty allow-list allows no address', () => {
  expect(verdict('203.0.113.7', [])).toBe('403/1451')
})

test('refusals have category security, high outside the list and medium if unreadable', () => {
  const outside = { code: 1451, message: 'IP address not authorized', severity: 'high' }
  const unreadable = { code: 1452, message: 'IP address validation failed', severity: 'medium' }
  const errors = ['203.0.113.7', 'x'].map((address) => checkAddress(address, [])?.error)
  expect(errors).toEqual([outside, unreadable].map((row) => ({ ...row, category: 'security' })))
})

const ranges = rowsOf(`
  203.0.113.0/24       range
  203.0.113.7          range
  0.0.0.0/0            range
  203.0.113.7/32       range
  2001:db8::/32        range
  2001:db8::1          range
  ::/0                 range
  2001:db8::1/128      range
  203.0.113.0/33       mistake
  2001:db8::/129       mistake
  203.0.113.0/         mistake
  203.0.113.0/-1       mistake
  203.0.113.0/2 4      mistake
  203.0.113.0/24/24    mistake
  203.0.113.0/0x18     mistake
  203.0.113/24         mistake
  203.0.113.00/24      mistake
  203.0.113.0-24       mistake
  *                    mistake
  provider.example      mistake
`)

test.each(ranges)('an allow-list entry %s is a %s', (text, expected) => {
  expect(isRange(text) ? 'range' : 'mistake').toBe(expected)
})

test('an allow-list entry cannot be empty', () => {
  expect(isRange('')).toBe(false)
})

const scopes = rowsOf(`
  203.0.113.7                    203.0.113.7
  ::ffff:203.0.113.7             203.0.113.7
  ::ffff:cb00:7107               203.0.113.7
  0:0:0:0:0:FFFF:203.0.113.7     203.0.113.7
  ::ffff:0.0.0.10                0.0.0.10
  2001:db8::1                    2001:db8:0:0::/64
  2001:DB8:0:0:ffff:1:2:3        2001:db8:0:0::/64
  2001:0db8:0000:0001::          2001:db8:0:1::/64
  2001:db8:1:2:3:4:5:6           2001:db8:1:2::/64
  2001:db8:1:2:3:4:203.0.113.7   2001:db8:1:2::/64
  ::                             0:0:0:0::/64
  ::203.0.113.7                  0:0:0:0::/64
  1::ffff:203.0.113.7            1:0:0:0::/64
  fe80::1%eth0                   unknown
  203.0.113.07                   unknown
  [2001:db8::1]                  unknown
  unix:                          unknown
`)

test.each(scopes)('requests of %s are counted under %s', (address, scope) => {
  expect(addressScope(address)).toBe(scope)
})

test('requests without an address are counted in one scope', () => {
  expect([undefined, null, ''].map(addressScope)).toEqual(['unknown', 'unknown', 'unknown'])
})
