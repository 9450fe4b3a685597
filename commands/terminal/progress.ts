/** The progress of a long command, on standard error. */

const minutes = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`

const { stderr } = process

/** Replaces the last line of a terminal. */
const replaceLine = (line: string): void => {
  if (stderr.isTTY) stderr.write(`\r\u001b[K${line.slice(0, (stderr.columns || 80) - 1)}`)
}

/** Shows how far a call is: in one line of a terminal, elsewhere in a line each. An empty line ends it. */
export const showProgress = (line: string): void => {
  if (stderr.isTTY) replaceLine(line)
  else if (line) stderr.write(`${line}\n`)
}

/** Prints a line above the progress. */
export const showLine = (line: string): void => {
  replaceLine('')
  stderr.write(`${line}\n`)
}

const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1_000

/**
 * Returns a function to call after each of `total` parts. A terminal shows one line, which it rewrites;
 * elsewhere a line is printed after each tenth.
 */
export const newProgress = (unit: string, total: number): (() => void) => {
  const startedAt = performance.now()
  let done = 0
  return () => {
    done += 1
    const remaining = minutes(Math.ceil((secondsSince(startedAt) / done) * (total - done)))
    const line = `${done} of ${total} ${unit}${done < total ? `, ${remaining} left` : ''}`
    if (stderr.isTTY) replaceLine(done < total ? line : '')
    else if (Math.floor((done * 10) / total) > Math.floor(((done - 1) * 10) / total)) {
      stderr.write(`${line}\n`)
    }
  }
}

/**
 * Returns functions for the steps of a command, which prints a line after each step. A terminal also shows
 * the step in progress and the remaining time.
 * @param usualSeconds of each step, by its name
 */
export const newSteps = <Step extends string>(usualSeconds: Record<Step, number>) => {
  const startedAt = performance.now()
  const count = Object.keys(usualSeconds).length
  const shares = new Map<Step, number>()
  let isFailed = false
  const show = (): void => {
    const running = [...shares].flatMap(([step, share]) => (share < 1 ? [step] : []))
    if (isFailed || running.length === 0) {
      replaceLine('')
      return
    }
    const done = [...shares].reduce((sum, [step, share]) => sum + share * usualSeconds[step], 0)
    const all = Object.values<number>(usualSeconds).reduce((sum, seconds) => sum + seconds, 0)
    // The usual pace applies until the first result.
    const pace = done > 0 ? secondsSince(startedAt) / done : 1
    const remaining = minutes(Math.ceil((all - done) * pace))
    replaceLine(
      `${running.join(', ')}: ${finishedCount()} of ${count} steps done, about ${remaining} left`,
    )
  }
  const finishedCount = (): number => [...shares.values()].filter((share) => share === 1).length
  const print = (line: string): void => {
    replaceLine('')
    process.stdout.write(`${line}\n`)
    show()
  }
  /** @param share of the step that is done, from 0 to 1 */
  const advance = (step: Step, share: number): void => {
    shares.set(step, share)
    show()
  }
  return {
    /** Prints a line above the progress. */
    print,
    advance,
    run: async <T>(step: Step, work: () => T | Promise<T>): Promise<T> => {
      const stepStartedAt = performance.now()
      advance(step, 0)
      try {
        const result = await work()
        shares.set(step, 1)
        print(
          `${step}: ${secondsSince(stepStartedAt).toFixed(1)} s (${finishedCount()} of ${count} steps)`,
        )
        return result
      } catch (error) {
        isFailed = true
        show()
        throw error
      }
    },
  }
}
