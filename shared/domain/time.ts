import * as v from 'valibot'

/** Instants as they are written down and shown: ISO 8601 in UTC with milliseconds; null stays null. */

export const iso = (at: Date | null): string | null => at?.toISOString() ?? null

export const fromIso = (text: string | null): Date | null => (text === null ? null : new Date(text))

const FORM =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$/

const REFUSED = 'must be a time like 2026-11-21T10:00:00Z'

/** Date reads 30 February as 2 March. */
const isOnCalendar = (text: string): boolean =>
  new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10))

/** Years of four digits sort as text; an offset can lead out of them. */
const isWithinYears = (at: Date): boolean => at.getUTCFullYear() >= 0 && at.getUTCFullYear() <= 9999

/** An ISO 8601 time with its offset, or a day, which stands for its beginning in UTC. */
export const Instant = v.pipe(
  v.string(REFUSED),
  v.regex(FORM, REFUSED),
  v.check(isOnCalendar, REFUSED),
  v.transform((text) => new Date(text)),
  v.check(isWithinYears, REFUSED),
)
