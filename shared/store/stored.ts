/** The stored form of an object: its times as ISO text. */
export type Stored<T> = {
  [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K]
}

export const toStored = <T extends object>(members: T): Stored<T> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      value instanceof Date ? value.toISOString() : value,
    ]),
  ) as Stored<T>

/** The keys of all times of an object. */
type TimeKey<T> = {
  [K in keyof Required<T>]: Extract<T[K], Date> extends never ? never : K
}[keyof T]

/**
 * Parses stored members. Times that are absent or null stay so.
 * @param times names all of them: a time that is not named does not compile
 */
export const fromStored = <T extends object>(
  members: object,
  times: Record<TimeKey<T>, true>,
): T => {
  const parsed: Record<string, unknown> = { ...members }
  for (const name of Object.keys(times)) {
    const text = parsed[name]
    if (typeof text === 'string') parsed[name] = new Date(text)
  }
  return parsed as T
}
