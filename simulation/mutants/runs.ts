import '../platform/register.ts'
import { parseArgs } from 'node:util'
import { complaintLine, print, wholeNumber } from '../terminal.ts'

/**
 * Lives through one world after the other, until something is wrong in one of them: what runs in
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
await import('../engine/environment.ts')
const { drawPlan } = await import('../scenario/scenario.ts')
const { tryPlan } = await import('../trial.ts')

const first = wholeNumber('seed', values.seed)
const end = first + wholeNumber('worlds', values.worlds)
const each = wholeNumber('each', values.each)
for (let seed = first; seed < end && !process.exitCode; seed += 1) {
  const { complaints } = await tryPlan(drawPlan(seed, each))
  for (const complaint of complaints) print(complaintLine(complaint))
  print(`seed ${seed}: ${complaints.length} complaints`)
  if (complaints.length > 0) process.exitCode = 1
}
