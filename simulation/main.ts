import './platform/register.ts'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { wholeNumber } from './terminal.ts'

/**
 * `npm run simulate`: scripts through as many worlds as it takes for so many debits, and says
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
    scripts: { type: 'string' },
    without: { type: 'string' },
    /** Prints what happens in one world, line by line. */
    trace: { type: 'boolean', default: false },
  },
})

await import('./aws/environment.ts')
const wanted = {
  seed: wholeNumber('seed', values.seed),
  lifecycles: wholeNumber('lifecycles', values.lifecycles),
  each: wholeNumber('each', values.each),
}

if (values.trace || values.scripts || values.without) {
  const { replay } = await import('./replay.ts')
  process.exitCode = await replay(wanted, {
    ...(values.scripts ? { scripts: values.scripts.split(',').map(Number) } : {}),
    ...(values.without ? { without: values.without.split(',') } : {}),
    isTold: values.trace,
  })
} else {
  const { simulate } = await import('./simulate.ts')
  process.exitCode = await simulate(wanted, wholeNumber('workers', values.workers))
}
