import * as v from 'valibot'
import { isObject } from './json.ts'
import { CONTROL_CHARACTERS, hasControlCharacters } from './text.ts'

export type Metadata = Record<string, unknown>

const BYTES_MAX = 8 * 1024
const MESSAGE = 'must be an object'

const byteLength = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).byteLength

export const fitsMetadata = (metadata: Metadata): boolean => byteLength(metadata) <= BYTES_MAX

export const METADATA_TOO_LARGE = `must not exceed ${BYTES_MAX} bytes`

const strings = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [key, ...strings(member)])
}

/** A JSON object of at most 8 KiB. */
export const Metadata = v.pipe(
  v.custom<Metadata>(isObject, MESSAGE),
  v.check(fitsMetadata, METADATA_TOO_LARGE),
  v.check(
    (metadata) => !strings(metadata).some((text) => hasControlCharacters(text, { lines: true })),
    CONTROL_CHARACTERS,
  ),
  v.metadata({ type: 'object' }),
)
