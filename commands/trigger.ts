import { callSandbox } from './sandbox-client.ts'
import { misuse, portIn, readArguments, unknownWord } from './terminal/arguments.ts'

/**
 * `debit trigger [NAME [--debit REFERENCE]]`: plays a scenario in a sandbox and
 * prints its result, or lists the scenarios.
 */

const { values, positionals, refuse } = await readArguments({
  name: 'trigger',
  form: '[NAME [--debit REFERENCE]] [--port 3000]',
  summary: 'Plays a scenario in a sandbox and prints its result, or lists the scenarios.',
  options: { debit: { type: 'string' }, port: { type: 'string', default: '3000' } },
})
const [name, ...others] = positionals
if (others.length > 0) refuse()
const port = portIn(values.port, refuse)
const scenarios = (await callSandbox(port, 'GET', 'scenarios')) as Record<string, string>[]
if (name === undefined) {
  const width = Math.max(...scenarios.map(({ name = '' }) => name.length))
  for (const { name = '', description } of scenarios) {
    process.stdout.write(`${name.padEnd(width)}  ${description}\n`)
  }
} else {
  const names = scenarios.map((scenario) => scenario.name ?? '')
  if (!names.includes(name)) misuse(await unknownWord('scenario', name, names))
  const result = await callSandbox(port, 'POST', `scenarios/${name}`, { reference: values.debit })
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
}
