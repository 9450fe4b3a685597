/** Returns the cells of a table whose columns are separated by two or more spaces. */
export const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s{2,}/))
