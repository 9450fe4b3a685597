/** The progress of a long command, on standard error. */

const minutes = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`

/**
 * Returns a function to call after each of `total` parts. A terminal shows one line, which it rewrites;
 * elsewhere a line is printed after each tenth.
 */
export const newProgress = (unit: string, total: number): (() => void) => {
  const { stderr } = process
  const startedAt = performance.now()
  let done = 0
  return () => {
    done += 1
    const elapsed = (performance.now() - startedAt) / 1_000
    const left = minutes(Math.ceil((elapsed / done) * (total - done)))
    const line = `${done} of ${total} ${unit}${done < total ? `, ${left} left` : ''}`
    if (stderr.isTTY) stderr.write(`\r\u001b[K${done < total ? line : ''}`)
    else if (Math.floor((done * 10) / total) > Math.floor(((done - 1) * 10) / total)) {
      stderr.write(`${line}\n`)
    }
  }
}
