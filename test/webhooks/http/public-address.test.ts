import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPublicAddress } from '../../../shared/webhooks/http/public-address.ts'
import { rowsOf } from '../../support/rows.ts'

/** The first and the last address of every special range of the IANA registries. */
const special = rowsOf(`
  0.0.0.0  0.255.255.255  10.0.0.0  10.255.255.255  100.64.0.0  100.127.255.255  127.0.0.0  127.255.255.255
  169.254.0.0  169.254.255.255  172.16.0.0  172.31.255.255  192.0.0.0  192.0.0.255  192.0.2.0  192.0.2.255
  192.88.99.0  192.88.99.255  192.168.0.0  192.168.255.255  198.18.0.0  198.19.255.255  224.0.0.0
  198.51.100.0  198.51.100.255  203.0.113.0  203.0.113.255  239.255.255.255  240.0.0.0  255.255.255.255
  ::  ::1  ::127.0.0.1  ::ffff:ffff  ::ffff:0.0.0.0  ::ffff:255.255.255.255  64:ff9b::  64:ff9b::ffff:ffff
  64:ff9b:1::  64:ff9b:1:ffff:ffff:ffff:ffff:ffff  100::  100::ffff:ffff:ffff:ffff  2001::  2001:db8::  2002::
  2001:0:ffff:ffff:ffff:ffff:ffff:ffff  2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff  5f00::  fc00::  fe80::  ff00::
  2001:db8:ffff:ffff:ffff:ffff:ffff:ffff  2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff  3fff::
  3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff  5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff  febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff  fd00:ec2::254  fe80::1%eth0  2606:4700::1111%lo
  64:ff9b::8.8.8.8  2002:7f00:1::  ::ffff:808:808
  localhost  127.1  2130706433  [::1]  1.1.1.1.  1.1.1.1/32  ::g
`).flat()

test.each([...special, ''])('the address "%s" is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test('an IPv4 address mapped into IPv6 is never public', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(isPublicAddress(`::ffff:${address}`)).toBe(false)
    }),
  )
})

/** Public resolvers and the neighbours of the special ranges. */
const neighbours = rowsOf(`
  1.1.1.1  8.8.8.8  1.0.0.0  9.255.255.255  11.0.0.0  100.63.255.255  100.128.0.0  126.255.255.255
  128.0.0.0  169.253.255.255  169.255.0.0  172.15.255.255  172.32.0.0  191.255.255.255  192.0.1.0
  192.0.3.0  192.88.98.255  192.88.100.0  192.167.255.255  192.169.0.0  198.17.255.255  198.20.0.0
  198.51.99.255  198.51.101.0  203.0.112.255  203.0.114.0  223.255.255.255  2606:4700:4700::1111
  2000::  2001:200::  2001:db7:ffff:ffff:ffff:ffff:ffff:ffff  2001:db9::  2003::  3fff:1000::
  3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`).flat()

test.each(neighbours)('the address %s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})
