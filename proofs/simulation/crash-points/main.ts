import '../platform/register.ts'
import { availableParallelism } from 'node:os'
import { readArguments, wholeNumberIn } from '../../../commands/terminal/arguments.ts'
import type { Crash } from '../engine/effects.ts'
import { print } from '../terminal.ts'

/**
 * `npm run simulate:kills`: runs every shape with a crash before and after each of its effects, or
 * some shapes with a crash at each pair of effects. Exits with 1 after a violation.
 */

const { values, refuse } = await readArguments({
  name: 'simulate:kills',
  form: '[--one-in N] [--pairs] [--workers N] [--shape NAME --deaths 12:before,... [--trace]]',
  summary:
    'Runs each shape with a crash before and after each of its effects (docs/simulation.md).',
  options: {
    pairs: { type: 'boolean', default: false },
    'one-in': { type: 'string', default: '1' },
    workers: { type: 'string', default: String(availableParallelism()) },
    shape: { type: 'string' },
    deaths: { type: 'string', default: '' },
    trace: { type: 'boolean', default: false },
  },
})

const parseCrash = (text: string): Crash => {
  const [effect, when] = text.split(':')
  if (!Number(effect) || (when !== 'before' && when !== 'after'))
    return refuse(`${text} is not a crash: use 12:before or 12:after`)
  return { effect: Number(effect), when }
}

await import('../aws/environment.ts')
if (values.shape) {
  const { replay } = await import('../check.ts')
  const { scenarioOf, shapeNamed } = await import('./shapes.ts')
  const crashes = values.deaths.split(',').filter(Boolean).map(parseCrash)
  const scenario = { ...scenarioOf(shapeNamed(values.shape)), crashes }
  const { effects, digest, violations } = await replay(scenario, values.trace)
  for (const [index, effect] of effects.entries()) print(`effect ${index + 1}: ${effect}`)
  print(`${values.shape}: trace ${digest}`)
  process.exitCode = violations.length > 0 ? 1 : 0
} else {
  const { runAllCrashPoints } = await import('./run-all.ts')
  process.exitCode = await runAllCrashPoints({
    pairs: values.pairs,
    oneIn: wholeNumberIn('one-in', values['one-in'], refuse),
    workers: wholeNumberIn('workers', values.workers, refuse),
  })
}
