import { hash } from 'node:crypto'
import * as v from 'valibot'
import { DAY_MS, dayOf } from './time.ts'

/** The reference of a debit: `PREFIX-YYYYMMDD-XXXXXX` (docs/api.md#ids). */
export const Reference = v.pipe(
  v.string(),
  v.regex(/^[A-Z0-9]{2,8}-[0-9]{8}-[A-Z0-9]{6}$/, 'must be a reference like DCS-20261121-ABC123'),
  v.brand('Reference'),
)
export type Reference = v.InferOutput<typeof Reference>

export const readReference = (text: string | undefined): Reference | undefined => {
  const { success, output } = v.safeParse(Reference, text)
  return success ? output : undefined
}

/** Returns the day on which a debit was charged, or a batch opened, as `YYYYMMDD`. */
export const chargedOn = (reference: string): string => reference.split('-')[1] ?? ''

/** The prefix of batch ids; references of debits never have it. */
export const BATCH_PREFIX = 'STL'

/** The id of a batch: `STL-YYYYMMDD-XXXXXX`, with the day of the run that opened it. */
export const BatchId = v.pipe(
  v.string(),
  v.regex(/^STL-[0-9]{8}-[A-Z0-9]{6}$/, 'must be a batch like STL-20261122-ABC123'),
  v.brand('BatchId'),
)
export type BatchId = v.InferOutput<typeof BatchId>

export const readBatchId = (text: string | undefined): BatchId | undefined => {
  const parsed = v.safeParse(BatchId, text)
  return parsed.success ? parsed.output : undefined
}

export const isBatchId = (reference: string): boolean => reference.startsWith(`${BATCH_PREFIX}-`)

/** A chunk of a batch, which has the lines of one transaction: `<lane>#<number>`. */
export type ChunkId = `${number}#${string}`

/** Banks may write a uuid in upper case, as SQL Server, Oracle and Swift do. The service lower-cases it. */
export const Uuid = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.regex(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    'must be a uuid like 3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e',
  ),
  v.brand('Uuid'),
)
export type Uuid = v.InferOutput<typeof Uuid>

/** Returns 32 hexadecimal digits in the form of version 4, which keeps 122 of their bits. */
const uuidOf = (hex: string): Uuid => {
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4]
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`]
  return v.parse(Uuid, [...parts, `${variant}${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-'))
}

/**
 * Returns the same uuid for the same text. A payment that is written again after a restore keeps its
 * uuid, so the bank deduplicates it.
 */
export const derivedUuid = (text: string): Uuid => uuidOf(hash('sha256', text))

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const SUFFIX_LENGTH = 6
const SUFFIXES_PER_DAY = ALPHABET.length ** SUFFIX_LENGTH
/** Day 0 of the integer ids. */
const FIRST_DAY = Date.UTC(2000, 0, 1) / DAY_MS

const formatReference = (prefix: string, at: Date, suffix: number): Reference =>
  v.parse(
    Reference,
    [
      prefix,
      dayOf(at).replaceAll('-', ''),
      suffix.toString(ALPHABET.length).toUpperCase().padStart(SUFFIX_LENGTH, '0'),
    ].join('-'),
  )

/** @param random in [0, 1), for the last six characters */
export const newReference = (prefix: string, at: Date, random: number): Reference =>
  formatReference(prefix, at, Math.floor(random * SUFFIXES_PER_DAY))

/** Returns the integer id of a debit: day and suffix as one number, below 2^47 until 2177. */
export const integerId = (reference: Reference): number => {
  const [, date = '', suffix = ''] = reference.split('-')
  const year = Number(date.slice(0, 4))
  const day =
    Date.UTC(year, Number(date.slice(4, 6)) - 1, Number(date.slice(6))) / DAY_MS - FIRST_DAY
  return day * SUFFIXES_PER_DAY + Number.parseInt(suffix, ALPHABET.length)
}

/** The inverse of {@link integerId}. */
export const referenceOf = (prefix: string, id: number): Reference =>
  formatReference(
    prefix,
    new Date((Math.floor(id / SUFFIXES_PER_DAY) + FIRST_DAY) * DAY_MS),
    id % SUFFIXES_PER_DAY,
  )

/** The digits of a uuid that contain the integer id: 48 bits, enough until 2354. */
const ID_DIGITS = 12

/**
 * Returns the uuid of a debit: its integer id and 74 bits of the hash of its reference, in the form of
 * version 4. It is an identifier, not a secret.
 */
export const debitUuid = (reference: Reference): Uuid => {
  const id = integerId(reference).toString(16).padStart(ID_DIGITS, '0')
  return uuidOf(id + hash('sha256', reference))
}

/** The inverse of {@link debitUuid}. @returns undefined for text that is no debit's uuid */
export const referenceOfUuid = (
  prefix: string,
  text: string | undefined,
): Reference | undefined => {
  const { success, output: uuid } = v.safeParse(Uuid, text)
  if (!success) return undefined
  const id = Number.parseInt(uuid.replaceAll('-', '').slice(0, ID_DIGITS), 16)
  const reference = referenceOf(prefix, id)
  return debitUuid(reference) === uuid ? reference : undefined
}

export const debitId = (reference: Reference): string => `dt_${integerId(reference)}`
