import './platform/register.ts'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

/**
 * `npm run simulate`: lives through as many worlds as it takes for so many debits, and says
 * whether anything that must hold did not. Ends with 1 if so.
 */

const { values } = parseArgs({
  options: {
    lifecycles: { type: 'string', default: '20000' },
    /** The first seed; each world has the next. */
    seed: { type: 'string', default: '1' },
    /** Debits in each world. */
    each: { type: 'string', default: '200' },
    workers: { type: 'string', default: String(availableParallelism()) },
    /** Of one world: the debits that are left, and the faults that are not. */
    lives: { type: 'string' },
    without: { type: 'string' },
    /** Prints what happens in one world, line by line. */
    trace: { type: 'boolean', default: false },
  },
})

const whole = (name: 'lifecycles' | 'seed' | 'each' | 'workers'): number => {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value > 0) return value
  process.stderr.write(`--${name} must be a whole number\n`)
  process.exit(2)
}

await import('./world/environment.ts')
const wanted = { seed: whole('seed'), lifecycles: whole('lifecycles'), each: whole('each') }

if (values.trace || values.lives || values.without) {
  const { replay } = await import('./replay.ts')
  process.exitCode = await replay(wanted, {
    ...(values.lives ? { lives: values.lives.split(',').map(Number) } : {}),
    ...(values.without ? { without: values.without.split(',') } : {}),
    isTold: values.trace,
  })
} else {
  const { simulate } = await import('./simulate.ts')
  process.exitCode = await simulate(wanted, whole('workers'))
}
