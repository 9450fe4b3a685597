export const fail = (line: string): never => {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}
