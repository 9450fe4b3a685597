import { createHash } from 'node:crypto'

/** Days, amounts and ids, computed independently of the product. */

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** The sweep needs this long to repair what faults left. */
export const REPAIR_MS = 6 * HOUR_MS

let lastDay = { day: Number.NaN, text: '' }

export const dayOf = (at: number): string => {
  const day = Math.floor(at / DAY_MS)
  // Caches the last day: a run has few.
  if (day !== lastDay.day) {
    lastDay = { day, text: new Date(day * DAY_MS).toISOString().slice(0, 10) }
  }
  return lastDay.text
}

export const startOf = (day: string): number => Date.parse(`${day}T00:00:00.000Z`)

export const midnightAfter = (at: number): number => (Math.floor(at / DAY_MS) + 1) * DAY_MS

export const inGhs = (amount: number): string => {
  const digits = String(Math.abs(amount)).padStart(3, '0')
  return `${amount < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

const TWO_DECIMALS = /^-?(?:0|[1-9][0-9]*)\.[0-9]{2}$/

/** Parses GHS as pesewas; returns undefined for other values. */
export const pesewasOf = (amount: unknown): number | undefined => {
  if (typeof amount === 'number') return Math.round(amount * 100)
  if (typeof amount !== 'string' || !TWO_DECIMALS.test(amount)) return undefined
  return Number(amount.replace('.', ''))
}

const DECIMAL = /^(?:0|[1-9][0-9]*)(?:\.([0-9]+))?$/

/** Parses a fee as pesewas, rounded half to even; undefined for no valid fee. */
export const pesewasOfFee = (fee: unknown): number | undefined => {
  const text = String(fee ?? '')
  const [, decimals = ''] = DECIMAL.exec(text) ?? []
  if (!DECIMAL.test(text)) return undefined
  const below = Number(text.split('.')[0]) * 100 + Number(decimals.slice(0, 2).padEnd(2, '0'))
  const rest = Number(`0.${decimals.slice(2) || '0'}`)
  const isUp = rest > 0.5 || (rest === 0.5 && below % 2 === 1)
  return isUp ? below + 1 : below
}

const FIRST_DAY = Date.UTC(2000, 0, 1) / DAY_MS
const SUFFIXES_PER_DAY = 36 ** 6
const EVENTS_MAX = 100

export const SETTLED = 99

const numberOf = (reference: string): number => {
  const [, day = '', suffix = ''] = reference.split('-')
  const date = Date.UTC(+day.slice(0, 4), +day.slice(4, 6) - 1, +day.slice(6, 8)) / DAY_MS
  return (date - FIRST_DAY) * SUFFIXES_PER_DAY + Number.parseInt(suffix, 36)
}

/** Returns a uuid of twelve digits, then those of a hash from a place. */
const uuidFrom = (digits: string, hash: string, place: number): string => {
  const variant = (8 + (Number.parseInt(hash.charAt(place + 3), 16) % 4)).toString(16)
  const [third, fourth] = [hash.slice(place, place + 3), hash.slice(place + 4, place + 7)]
  const groups = [digits.slice(0, 8), digits.slice(8), `4${third}`, `${variant}${fourth}`]
  return [...groups, hash.slice(place + 7, place + 19)].join('-')
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Returns the uuid of a debit: its number in 12 digits, then digits 2 to 20 of the reference's hash. */
export const uuidOf = (reference: string): string =>
  uuidFrom(numberOf(reference).toString(16).padStart(12, '0'), hashOf(reference), 1)

export const derivedUuid = (text: string) => uuidFrom(hashOf(text).slice(0, 12), hashOf(text), 13)

let lastOwner = { reference: '', number: Number.NaN }

/** Returns an event's id number: day, suffix, generation and event number. */
export const eventNumber = (reference: string, n: number, generation = 1): number => {
  if (reference !== lastOwner.reference) lastOwner = { reference, number: numberOf(reference) }
  const restores = generation - 1
  return lastOwner.number * EVENTS_MAX + (n === SETTLED ? n - restores : n + 10 * restores)
}

export const debitNumber = (reference: string) => Math.floor(eventNumber(reference, 0) / EVENTS_MAX)
