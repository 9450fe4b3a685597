import { fstatSync, writeFileSync } from 'node:fs'

if (fstatSync(1).isFile()) {
  // On a full disk, the stream of a file writes what fits and reports no error.
  process.stdout._write = (chunk, _, done) => {
    try {
      writeFileSync(1, chunk)
      done()
    } catch (error) {
      done(error as Error)
    }
  }
}

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // A reader such as `head` can close the pipe early.
  if (code === 'EPIPE') process.exit(0)
  // A sandbox whose terminal is closed still stores its data.
  if (code !== 'EIO') fail(`The output cannot be written (${code})`)
})

/** @param code 1, or 2 for a wrong use of the command */
export const fail = (line: string, code = 1): never => {
  process.stderr.write(`${line}\n`)
  process.exit(code)
}
