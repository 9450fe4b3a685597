/** Prints one line on standard error and exits with 1. */
export const fail = (line: string): never => {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}
