import * as v from 'valibot'

export const HOUR_MS = 3_600_000
/** After every stored time. */
export const END_OF_TIME = new Date('9999-01-01')

export const DAY_SECONDS = 86_400
export const DAY_MS = DAY_SECONDS * 1000

export const secondsAfter = (at: Date, seconds: number) => new Date(at.getTime() + seconds * 1000)

export function iso(at: Date): string
export function iso(at: Date | null): string | null
export function iso(at: Date | null): string | null {
  return at?.toISOString() ?? null
}

export const fromIso = (text: string | null): Date | null => (text === null ? null : new Date(text))

/** Returns the later time: what follows must not be dated before it, though the clocks of workers differ. */
export const laterOf = (earliest: Date | null, at: Date): Date =>
  earliest && at < earliest ? earliest : at

export const newestFirst = (a: { at: Date }, b: { at: Date }) => b.at.getTime() - a.at.getTime()

/** Leaves room on both sides for days that are calculated from an option. */
const isOfService = (text: string): boolean => text >= '2000' && text < '2200'
const OF_SERVICE = 'must be in the years 2000 to 2199'

/** Rejects 30 February, which Date reads as 2 March. */
const isInCalendar = (text: string): boolean => new Date(text).toISOString().startsWith(text)

const FIRST_ISSUE = { abortPipeEarly: true }

/** A day of the UTC calendar, `YYYY-MM-DD`. */
export const Day = v.config(
  v.pipe(
    v.string(),
    v.isoDate('must be a day like 2026-11-21'),
    v.check(isInCalendar, 'must be a day of the calendar'),
    v.check(isOfService, OF_SERVICE),
    v.brand('Day'),
  ),
  FIRST_ISSUE,
)
export type Day = v.InferOutput<typeof Day>

/** Days begin at 00:00 UTC. */
export const startOf = (day: Day): Date => new Date(`${day}T00:00:00.000Z`)

export const dayOf = (at: Date): Day => at.toISOString().slice(0, 10) as Day

export const dayAfter = (day: Day, days = 1): Day =>
  dayOf(secondsAfter(startOf(day), days * DAY_SECONDS))

/** A month of the UTC calendar, `YYYY-MM`. */
export const Month = v.config(
  v.pipe(
    v.string(),
    v.regex(/^[0-9]{4}-(?:0[1-9]|1[0-2])$/, 'must be a month like 2026-11'),
    v.check(isOfService, OF_SERVICE),
    v.brand('Month'),
  ),
  FIRST_ISSUE,
)
export type Month = v.InferOutput<typeof Month>

/** Returns the time from the beginning of a month to its end. */
export const spanOfMonth = (month: Month): { from: Date; before: Date } => {
  const from = new Date(`${month}-01T00:00:00.000Z`)
  const before = new Date(from)
  before.setUTCMonth(from.getUTCMonth() + 1)
  return { from, before }
}

export const monthOf = (at: Date): Month => at.toISOString().slice(0, 7) as Month

const FORM =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/

const REFUSED = 'must be a time like 2026-11-21T10:00:00Z'

/** Rejects 30 February. */
const isOnCalendar = (text: string): boolean =>
  new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10))

/** Years of four digits sort as text; an offset can lead to others. */
const isWithinYears = (at: Date): boolean => at.getUTCFullYear() >= 0 && at.getUTCFullYear() <= 9999

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: HOUR_MS, d: DAY_MS }

const millisecondsOf = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  return unit ? Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS] : undefined
}

/** Parses a duration such as 30s, 6m, 2h or 5d. Returns milliseconds. */
export const Duration = v.pipe(
  v.string(),
  v.transform(millisecondsOf),
  v.number('must be a duration such as 30s, 6m, 2h or 5d'),
)

/** Parses an ISO 8601 time with its offset, or a day, which means its start in UTC. */
export const Instant = v.pipe(
  v.string(REFUSED),
  v.regex(FORM, REFUSED),
  v.check(isOnCalendar, REFUSED),
  v.transform((text) => new Date(text)),
  v.check(isWithinYears, REFUSED),
)
