import { BlockList, isIP } from 'node:net'
import { Refusal } from '../domain/refusal.ts'

const familyOf = (address: string): 'ipv4' | 'ipv6' | undefined => {
  // Only link-local addresses have a zone.
  const version = address.includes('%') ? 0 : isIP(address)
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6'
}

/** Returns eight hexadecimal groups; the URL parser converts an embedded IPv4 address to two. */
const ipv6Groups = (address: string): string[] => {
  const { hostname } = new URL(`http://[${address}]`)
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}

const IPV4_MAPPED = '0:0:0:0:0:ffff'

/** Returns the scope for counting an address: IPv4, IPv6 /64 (one network), or 'unknown'. */
export const addressScope = (address: string | null | undefined): string => {
  const family = address ? familyOf(address) : undefined
  if (!address || !family) return 'unknown'
  if (family === 'ipv4') return address
  const groups = ipv6Groups(address)
  if (groups.slice(0, 6).join(':') !== IPV4_MAPPED) return `${groups.slice(0, 4).join(':')}::/64`
  return Buffer.from(
    groups
      .slice(6)
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  ).join('.')
}

/** Reports whether the text is a CIDR range or an address. */
export const isRange = (text: string): boolean => {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = familyOf(address)
  if (!family || rest.length > 0) return false
  const prefixMax = family === 'ipv4' ? 32 : 128
  return (
    prefix === undefined || (/^(?:0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= prefixMax)
  )
}

/**
 * Checks an address against an allow-list (docs/api.md#allow-list).
 * @param address the peer that API Gateway reports, never a header
 * @returns 403/1451 for an address outside the list, 403/1452 for an unreadable address or range
 */
export const checkAddress = (
  address: string | null | undefined,
  ranges: readonly string[],
): Refusal | undefined => {
  const family = address ? familyOf(address) : undefined
  if (!address || !family) return new Refusal(1452)
  const allowed = new BlockList()
  for (const range of ranges) {
    const [start = '', prefix] = range.split('/')
    const rangeFamily = isRange(range) ? familyOf(start) : undefined
    if (!rangeFamily) return new Refusal(1452)
    allowed.addSubnet(start, Number(prefix ?? (rangeFamily === 'ipv4' ? 32 : 128)), rangeFamily)
  }
  return allowed.check(address, family) ? undefined : new Refusal(1451)
}
