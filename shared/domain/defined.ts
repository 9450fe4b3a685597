type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Returns the members that are not undefined. */
export const defined = <T extends object>(members: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Defined<T>
