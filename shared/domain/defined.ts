type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Returns the members that are not undefined. */
export const defined = <T extends object>(members: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Defined<T>
