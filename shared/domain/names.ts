/** Returns the names of the rows of a table, in their order. */
export const namesOf = <T extends object>(rows: T) =>
  Object.keys(rows) as [keyof T & string, ...(keyof T & string)[]]
