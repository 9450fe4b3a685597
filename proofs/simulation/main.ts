import './platform/register.ts'
import { availableParallelism } from 'node:os'
import { readArguments, wholeNumberIn } from '../../commands/terminal/arguments.ts'
import { print } from './terminal.ts'

/** `npm run simulate`: runs random scenarios, or one again. Exits with 1 after a violation. */

const { values, refuse } = await readArguments({
  name: 'simulate',
  form:
    '[--lifecycles 20000] [--seed 1] [--each 100] [--workers N] [--scenario KIND] ' +
    '[--lives N,...] [--without FAULT,...] [--trace] [--kinds]',
  summary:
    'Runs random scenarios, or one again (docs/simulation.md). Exits with 1 after a violation.',
  options: {
    lifecycles: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    each: { type: 'string', default: '100' },
    workers: { type: 'string', default: String(availableParallelism()) },
    lives: { type: 'string' },
    without: { type: 'string' },
    scenario: { type: 'string' },
    trace: { type: 'boolean', default: false },
    kinds: { type: 'boolean', default: false },
  },
})

await import('./aws/environment.ts')
const seed = wholeNumberIn('seed', values.seed, refuse)
const each = wholeNumberIn('each', values.each, refuse)
const lifecycles = wholeNumberIn('lifecycles', values.lifecycles, refuse)

const { kindNames } = await import('./scenario/kinds.ts')
const kind = kindNames.find((name) => name === values.scenario)
if (values.scenario && !kind) refuse(`--scenario: must be one of ${kindNames.join(', ')}`)

if (values.kinds) {
  const { printTables } = await import('./simulate.ts')
  await printTables(each)
} else if (values.trace || values.lives || values.without) {
  const { drawScenario } = await import('./scenario/scenario.ts')
  const { reduceScenario, replay } = await import('./check.ts')
  const scenario = reduceScenario(drawScenario(seed, each, kind), {
    ...(values.lives ? { scripts: values.lives.split(',').map(Number) } : {}),
    ...(values.without ? { without: values.without.split(',') } : {}),
  })
  const { scripts, steps, digest, violations } = await replay(scenario, values.trace)
  print(`seed ${seed}: ${scripts} debits, ${steps} steps, trace ${digest}`)
  process.exitCode = violations.length > 0 ? 1 : 0
} else {
  const { simulate } = await import('./simulate.ts')
  const workers = wholeNumberIn('workers', values.workers, refuse)
  process.exitCode = await simulate({ seed, lifecycles, each, kind }, workers)
}
