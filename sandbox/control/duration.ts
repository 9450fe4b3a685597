const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns the milliseconds of a duration such as 30s, 6m, 2h or 5d; undefined for another text. */
export const durationMs = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  return unit ? Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS] : undefined
}
