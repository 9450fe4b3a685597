// A reader such as `head` can close the pipe early.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0)
})

/** @param code 1, or 2 for a wrong use of the command */
export const fail = (line: string, code = 1): never => {
  process.stderr.write(`${line}\n`)
  process.exit(code)
}
