/** @param code 1, or 2 for a wrong use of the command */
export const fail = (line: string, code = 1): never => {
  process.stderr.write(`${line}\n`)
  process.exit(code)
}
