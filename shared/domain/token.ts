/** Tokens (docs/api.md#tokens): kind, use, random characters, and a checksum for typing errors. */

const KINDS = { provider: 'sk', bank: 'bt' } as const
const USES = { production: 'live', sandbox: 'test' } as const

type TokenKind = keyof typeof KINDS

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The lengths of 24 bytes and of a CRC-32 in base 62. */
const RANDOM_LENGTH = 33
const CHECKSUM_LENGTH = 6

export const RANDOM_BYTES = 24

const ISSUED = /^((?:sk|bt)_(?:live|test)_[0-9A-Za-z]{33})([0-9A-Za-z]{6})$/
const LOOKS_ISSUED = /^(?:sk|bt)_(?:live|test)_/

const base62 = (number: bigint, length: number): string => {
  let remaining = number
  let text = ''
  while (text.length < length) {
    text = DIGITS[Number(remaining % 62n)] + text
    remaining /= 62n
  }
  return text
}

/** CRC-32 of IEEE 802.3, as in zlib, which the domain does not import. */
const crc32 = (text: string): number => {
  let crc = 0xffffffff
  for (const character of text) {
    crc ^= character.charCodeAt(0)
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), CHECKSUM_LENGTH)

export const tokenOf = (kind: TokenKind, use: keyof typeof USES, random: Uint8Array): string => {
  const number = random.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  const text = `${KINDS[kind]}_${USES[use]}_${base62(number, RANDOM_LENGTH)}`
  return text + checksum(text)
}

export const looksIssued = (token: string): boolean => LOOKS_ISSUED.test(token)

/** Reports whether a token has the form of an issued one and a wrong checksum. */
export const isMistyped = (token: string): boolean => {
  const [, text, suffix] = ISSUED.exec(token) ?? []
  return text !== undefined && checksum(text) !== suffix
}

/** The `details` of 401/1401 (docs/api.md#authentication). */
export const authorizationProblems = {
  missing: 'the Authorization header is missing',
  repeated: 'the request has more than one Authorization header',
  scheme: 'the scheme of the Authorization header must be Bearer or Token',
  malformed: 'the token is malformed',
  // One text for all cases: the reply must not reveal which credentials exist.
  unknown: 'the credential is unknown, expired or of another kind of caller',
} as const
