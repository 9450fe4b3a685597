import { BlockList, isIP } from 'node:net'

/** IPv4 addresses are public outside these ranges of the IANA registry. */
const IPV4_SPECIAL = {
  '0.0.0.0/8': 'this network',
  '10.0.0.0/8': 'private networks',
  '100.64.0.0/10': 'carrier-grade NAT',
  '127.0.0.0/8': 'loopback, including the Lambda runtime API',
  '169.254.0.0/16': 'link-local, including cloud metadata and credentials',
  '172.16.0.0/12': 'private networks',
  '192.0.0.0/24': 'protocols',
  '192.0.2.0/24': 'documentation',
  '192.88.99.0/24': '6to4 relays',
  '192.168.0.0/16': 'private networks',
  '198.18.0.0/15': 'benchmarks',
  '198.51.100.0/24': 'documentation',
  '203.0.113.0/24': 'documentation',
  '224.0.0.0/4': 'multicast',
  '240.0.0.0/4': 'reserved, and broadcast',
}

/**
 * IPv6 addresses are public only in this range. It excludes loopback, link-local, private and multicast
 * addresses, and all forms of IPv4 in IPv6 (compatible, mapped, NAT64).
 */
const IPV6_UNICAST = { '2000::/3': 'assigned by IANA' }

/** The special ranges within it. */
const IPV6_SPECIAL = {
  '2001::/23': 'protocols, including Teredo and ORCHID',
  '2001:db8::/32': 'documentation',
  '2002::/16': '6to4, which carries an IPv4 address',
  '3fff::/20': 'documentation',
}

const listOf = (ranges: Record<string, string>, family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList()
  for (const range of Object.keys(ranges)) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list
}

const ipv4Special = listOf(IPV4_SPECIAL, 'ipv4')
const ipv6Unicast = listOf(IPV6_UNICAST, 'ipv6')
const ipv6Special = listOf(IPV6_SPECIAL, 'ipv6')

/** Reports whether a text is a public IP address without a zone (docs/api.md#webhook-urls). */
export const isPublicAddress = (address: string): boolean => {
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 4) return !ipv4Special.check(address, 'ipv4')
  if (family !== 6) return false
  return ipv6Unicast.check(address, 'ipv6') && !ipv6Special.check(address, 'ipv6')
}
