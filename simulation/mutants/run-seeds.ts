import '../platform/register.ts'
import { parseArgs } from 'node:util'
import { print, violationLine, wholeNumber } from '../terminal.ts'

/**
 * Clients through one world after the other, until something is wrong in one of them: what runs in
 * a copy with a fault. It says of each world how it was, and ends with 1 at the first that is wrong.
 */

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    worlds: { type: 'string', default: '1' },
    /** Debits in each world. */
    each: { type: 'string', default: '100' },
  },
})

// The product is loaded last: by then the world is in the place of the network and of AWS.
await import('../aws/environment.ts')
const { drawScenario } = await import('../scenario/scenario.ts')
const { checkScenario } = await import('../check.ts')

const first = wholeNumber('seed', values.seed)
const end = first + wholeNumber('worlds', values.worlds)
const each = wholeNumber('each', values.each)
for (let seed = first; seed < end && !process.exitCode; seed += 1) {
  const { violations } = await checkScenario(drawScenario(seed, each))
  for (const violation of violations) print(violationLine(violation))
  print(`seed ${seed}: ${violations.length} violations`)
  if (violations.length > 0) process.exitCode = 1
}
