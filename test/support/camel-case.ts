/** Returns a name of the wire as TypeScript writes it. */
export const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns an object of the wire with the names of TypeScript. */
export const camelCased = (members: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [camelCase(name), value]))
