import type { Figure } from './figures.ts'

/**
 * One measured thing: a file in `measured/`, which the command runs in a process of its own by way of
 * this one.
 */

export type Options = {
  /** Each figure is the median of so many. */
  rounds: number
  /** Fewer requests are enough for a look. */
  short: boolean
  /** What takes longest is measured too. */
  full: boolean
}

export type Measured = {
  /** By the names of their rows. */
  figures: Record<string, Figure>
  /** What stands beneath the table: lines of Markdown. */
  notes?: string[]
}

export type Measure = (options: Options) => Promise<Measured>

if (import.meta.main && process.send) {
  // Whoever ends the command ends the database too, which goes with this process's own end.
  for (const reason of ['SIGINT', 'SIGTERM', 'disconnect'])
    process.once(reason, () => process.exit(1))
  const [, , part, options = ''] = process.argv
  const { measure } = (await import(`./measured/${part}.ts`)) as { measure: Measure }
  process.send(await measure(JSON.parse(options)), () => process.exit())
}
