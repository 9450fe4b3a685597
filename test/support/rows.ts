/** The rows of an aligned table; two blanks or more part its columns. */
export const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s{2,}/))
