import type { Measure } from './figures.ts'

/** Measures one part in its own process, because a part warms and patches modules. */

// The exit of this process also stops the database.
for (const reason of ['SIGINT', 'SIGTERM', 'disconnect']) {
  process.once(reason, () => process.exit(1))
}
const [, , file, part = '', options = ''] = process.argv
const { parts } = (await import(`./measured/${file}.ts`)) as { parts: Record<string, Measure> }
process.send?.(await parts[part]?.(JSON.parse(options)), () => process.exit())
