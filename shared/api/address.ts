import { BlockList, isIP } from 'node:net'
import { Refusal } from '../domain/refusal.ts'

type Family = 'ipv4' | 'ipv6'

const familyOf = (address: string): Family | undefined => {
  // A zone is a matter of one machine's own links, never of a caller's address.
  const version = address.includes('%') ? 0 : isIP(address)
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6'
}

/** Eight groups in hexadecimal; the URL parser writes an embedded IPv4 address as two of them. */
const ipv6Groups = (address: string): string[] => {
  const { hostname } = new URL(`http://[${address}]`)
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}

const IPV4_MAPPED = '0:0:0:0:0:ffff'

/**
 * Returns the scope in which requests of an address are counted: an IPv4 address, an IPv6 /64, which
 * is one network of one caller, or one scope for all addresses that cannot be parsed.
 */
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

/** A CIDR range or a single address of an allow-list. */
export const isRange = (text: string): boolean => {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = familyOf(address)
  if (!family || rest.length > 0) return false
  const longest = family === 'ipv4' ? 32 : 128
  return (
    prefix === undefined || (/^(?:0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= longest)
  )
}

/**
 * Whether a caller's address is in its allow-list (specification, Authentication, 5).
 * @param address the peer that the gateway reports; what a header says of it is the caller's word
 * @returns 403/1451 for an address outside, 403/1452 for one that cannot be judged
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
    const ofRange = isRange(range) ? familyOf(start) : undefined
    if (!ofRange) return new Refusal(1452)
    allowed.addSubnet(start, Number(prefix ?? (ofRange === 'ipv4' ? 32 : 128)), ofRange)
  }
  return allowed.check(address, family) ? undefined : new Refusal(1451)
}
