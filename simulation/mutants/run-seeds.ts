import '../platform/register.ts'
import { parseArgs } from 'node:util'
import { print, violationLine, wholeNumber } from '../terminal.ts'

/** Runs the scenarios of consecutive seeds in a copy of the source; exits with 1 at a violation. */

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    /** Debits per run. */
    each: { type: 'string', default: '100' },
  },
})

// Loads the product last, after the replacements of the network and AWS.
await import('../aws/environment.ts')
const { drawScenario } = await import('../scenario/scenario.ts')
const { checkScenario } = await import('../check.ts')

const first = wholeNumber('seed', values.seed)
const end = first + wholeNumber('runs', values.runs)
const each = wholeNumber('each', values.each)
for (let seed = first; seed < end && !process.exitCode; seed += 1) {
  const { violations } = await checkScenario(drawScenario(seed, each))
  for (const violation of violations) print(violationLine(violation))
  print(`seed ${seed}: ${violations.length} violations`)
  if (violations.length > 0) process.exitCode = 1
}
