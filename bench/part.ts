import type { Measured } from './figures.ts'

/** Runs one part, a file of `measured/`, in its own process. */

export type Options = {
  /** A figure is the median of this many rounds. */
  rounds: number
  /** Sends fewer requests. */
  short: boolean
  /** Includes the slowest measurements. */
  full: boolean
}

export type Measure = (options: Options) => Promise<Measured>

if (import.meta.main && process.send) {
  // The exit of this process also stops the database.
  for (const reason of ['SIGINT', 'SIGTERM', 'disconnect'])
    process.once(reason, () => process.exit(1))
  const [, , part, options = ''] = process.argv
  const { measure } = (await import(`./measured/${part}.ts`)) as { measure: Measure }
  process.send(await measure(JSON.parse(options)), () => process.exit())
}
