import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPublicAddress } from '../../../shared/webhooks/http/public-address.ts'
import { rowsOf } from '../../support/rows.ts'

const ipv4Ranges = rowsOf(`
  0.0.0.0/8        0.0.0.0          0.255.255.255
  10.0.0.0/8       10.0.0.0         10.255.255.255
  100.64.0.0/10    100.64.0.0       100.127.255.255
  127.0.0.0/8      127.0.0.0        127.255.255.255
  169.254.0.0/16   169.254.0.0      169.254.255.255
  172.16.0.0/12    172.16.0.0       172.31.255.255
  192.0.0.0/24     192.0.0.0        192.0.0.255
  192.0.2.0/24     192.0.2.0        192.0.2.255
  192.88.99.0/24   192.88.99.0      192.88.99.255
  192.168.0.0/16   192.168.0.0      192.168.255.255
  198.18.0.0/15    198.18.0.0       198.19.255.255
  198.51.100.0/24  198.51.100.0     198.51.100.255
  203.0.113.0/24   203.0.113.0      203.0.113.255
  224.0.0.0/4      224.0.0.0        239.255.255.255
  240.0.0.0/4      240.0.0.0        255.255.255.255
`)

const ipv6Ranges = rowsOf(`
  ::/128           ::               ::
  ::1/128          ::1              ::1
  ::/96            ::127.0.0.1      ::ffff:ffff
  ::ffff:0:0/96    ::ffff:0.0.0.0   ::ffff:255.255.255.255
  64:ff9b::/96     64:ff9b::        64:ff9b::ffff:ffff
  64:ff9b:1::/48   64:ff9b:1::      64:ff9b:1:ffff:ffff:ffff:ffff:ffff
  100::/64         100::            100::ffff:ffff:ffff:ffff
  2001::/32        2001::           2001:0:ffff:ffff:ffff:ffff:ffff:ffff
  2001::/23        2001::           2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:db8::/32    2001:db8::       2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
  2002::/16        2002::           2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  3fff::/20        3fff::           3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
  5f00::/16        5f00::           5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fc00::/7         fc00::           fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fe80::/10        fe80::           febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  ff00::/8         ff00::           ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`)

describe('special addresses', () => {
  test.each([...ipv4Ranges, ...ipv6Ranges])(
    'the range %s is not public, from %s to %s',
    (_range, first, last) => {
      expect([first, last].map((address) => isPublicAddress(String(address)))).toEqual([
        false,
        false,
      ])
    },
  )

  const known = rowsOf(`
    127.0.0.1            Lambda runtime API
    169.254.169.254      cloud metadata and credentials
    169.254.100.1        Lambda traces
    fd00:ec2::254        cloud metadata in IPv6
    255.255.255.255      broadcast
    ::ffff:8.8.8.8       a public address, mapped
    ::ffff:808:808       the same in hexadecimal
    64:ff9b::8.8.8.8     a public address behind NAT64
    2002:7f00:1::        127.0.0.1 in 6to4
    fe80::1%eth0         a link-local address
    2606:4700::1111%lo   an address with a zone
  `)

  test.each(known)('the address %s is not public: %s', (address) => {
    expect(isPublicAddress(String(address))).toBe(false)
  })

  test.each(['', 'localhost', '127.1', '2130706433', '[::1]', '1.1.1.1.', '1.1.1.1/32', '::g'])(
    'the invalid address "%s" is not public',
    (text) => expect(isPublicAddress(text)).toBe(false),
  )

  test('an IPv4 address mapped into IPv6 is never public', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(`::ffff:${address}`)).toBe(false)
      }),
    )
  })
})

const publicAddresses = rowsOf(`
  public resolvers  1.1.1.1          8.8.8.8      2606:4700:4700::1111
  0.0.0.0/8         1.0.0.0
  10.0.0.0/8        9.255.255.255    11.0.0.0
  100.64.0.0/10     100.63.255.255   100.128.0.0
  127.0.0.0/8       126.255.255.255  128.0.0.0
  169.254.0.0/16    169.253.255.255  169.255.0.0
  172.16.0.0/12     172.15.255.255   172.32.0.0
  192.0.0.0/24      191.255.255.255  192.0.1.0
  192.0.2.0/24      192.0.3.0
  192.88.99.0/24    192.88.98.255    192.88.100.0
  192.168.0.0/16    192.167.255.255  192.169.0.0
  198.18.0.0/15     198.17.255.255   198.20.0.0
  198.51.100.0/24   198.51.99.255    198.51.101.0
  203.0.113.0/24    203.0.112.255    203.0.114.0
  224.0.0.0/4       223.255.255.255
  2001::/23         2000::           2001:200::
  2001:db8::/32     2001:db7:ffff:ffff:ffff:ffff:ffff:ffff  2001:db9::
  2002::/16         2003::
  3fff::/20         3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff  3fff:1000::
`)

test.each(publicAddresses)('the neighbours of %s are public: %s %s', (_range, ...addresses) => {
  for (const address of addresses) expect(isPublicAddress(address), address).toBe(true)
})

test('an IPv4 rule of BlockList covers mapped addresses only, so IPv6 needs its own rules', () => {
  const list = new BlockList()
  list.addSubnet('127.0.0.0', 8, 'ipv4')
  const addresses = ['::ffff:127.0.0.1', '::127.0.0.1', '64:ff9b::127.0.0.1', '2002:7f00:1::']
  const isCovered = addresses.map((address) => list.check(address, 'ipv6'))
  expect(isCovered).toEqual([true, false, false, false])
})
