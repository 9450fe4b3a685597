/** Signatures and text encodings by web standards alone: WebCrypto, btoa and atob. */

/** Seconds between signature and receipt that are still accepted. */
const TOLERANCE = 300

const bytesOf = (text: Uint8Array | string): Uint8Array =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text

export const concat = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/** Returns the HMAC of the parts, without separators. */
export const hmacSha256 = async (
  key: Uint8Array | string,
  ...parts: (Uint8Array | string)[]
): Promise<Uint8Array> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const raw = concat([bytesOf(key)])
  const imported = await crypto.subtle.importKey('raw', raw, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, concat(parts.map(bytesOf))))
}

/** Reports whether a text is the lowercase hex HMAC of the parts under one of the secrets. */
export const isHexHmac = async (
  text: string,
  secrets: readonly string[],
  ...parts: (Uint8Array | string)[]
): Promise<boolean> => {
  const expected = await Promise.all(
    secrets.map(async (secret) => toHex(await hmacSha256(secret, ...parts))),
  )
  return expected.some((hex) => equalBytes(bytesOf(hex), bytesOf(text)))
}

/** Reports whether epoch seconds are at most five minutes off. */
export const isRecent = (seconds: string): boolean =>
  Math.abs(Date.now() / 1000 - Number(seconds)) <= TOLERANCE

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** Returns the bytes of base64 text, or undefined if it is malformed. */
export const fromBase64 = (text: string): Uint8Array | undefined => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Compares bytes in a time that depends on their length only. */
export const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  let difference = 0
  for (const [index, byte] of a.entries()) difference |= byte ^ (b[index] ?? 0)
  return difference === 0
}
