const HOUR_MS = 3_600_000

/** Says how old the objects are, such as `2 of the last hour, 1 older than a day`. */
export const agesText = (times: readonly string[], now: number): string => {
  const hours = times.map((at) => (now - Date.parse(at)) / HOUR_MS)
  const counts = [
    [hours.filter((age) => age < 1).length, 'of the last hour'],
    [hours.filter((age) => age >= 1 && age < 24).length, 'of the last day'],
    [hours.filter((age) => age >= 24).length, 'older than a day'],
  ] as const
  return counts
    .filter(([count]) => count > 0)
    .map(([count, text]) => `${count} ${text}`)
    .join(', ')
}
