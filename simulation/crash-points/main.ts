import '../platform/register.ts'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Crash } from '../engine/effects.ts'
import { wholeNumber } from '../terminal.ts'

/**
 * `npm run simulate:kills`: every shape of a script, with a worker lost before and after each of its
 * effects; with `--pairs` at each pair of them, for some shapes. Ends with 1 if anything is wrong.
 */

const { values } = parseArgs({
  options: {
    pairs: { type: 'boolean', default: false },
    /** Of all effects, one in so many. */
    'one-in': { type: 'string', default: '1' },
    workers: { type: 'string', default: String(availableParallelism()) },
    /** One world again: its shape, and where workers are lost (`12:before,15:after`). */
    shape: { type: 'string' },
    crashes: { type: 'string', default: '' },
    trace: { type: 'boolean', default: false },
  },
})

const deathIn = (text: string): Crash => {
  const [effect, when] = text.split(':')
  if (!Number(effect) || (when !== 'before' && when !== 'after')) {
    throw new Error(`${text} is no crash: 12:before, or 12:after`)
  }
  return { effect: Number(effect), when }
}

await import('../aws/environment.ts')
if (values.shape) {
  const { retry } = await import('./retry.ts')
  const crashes = values.crashes.split(',').filter(Boolean).map(deathIn)
  process.exitCode = await retry(values.shape, crashes, values.trace)
} else {
  const { killEverywhere } = await import('./run-all.ts')
  process.exitCode = await killEverywhere({
    pairs: values.pairs,
    oneIn: wholeNumber('one-in', values['one-in']),
    workers: wholeNumber('workers', values.workers),
  })
}
