import { parseArgs } from 'node:util'
import { fail } from './fail.ts'
import { callSandbox } from './sandbox-client.ts'

/**
 * `npm run -s trigger -- [NAME [--debit REFERENCE]] [--port 3000]`: plays a scenario in a sandbox and
 * prints its result, or lists the scenarios.
 */

const USAGE = 'usage: npm run -s trigger -- [NAME [--debit REFERENCE]] [--port 3000]'

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      options: { debit: { type: 'string' }, port: { type: 'string', default: '3000' } },
      allowPositionals: true,
    })
    const [name, ...others] = positionals
    const isValid = others.length === 0 && /^[0-9]{1,5}$/.test(values.port)
    return isValid ? { name, reference: values.debit, port: Number(values.port) } : fail(USAGE, 2)
  } catch {
    return fail(USAGE, 2)
  }
}

const { name, reference, port } = readArguments()
const scenarios = (await callSandbox(port, 'GET', 'scenarios')) as Record<string, string>[]
if (name === undefined) {
  const width = Math.max(...scenarios.map(({ name = '' }) => name.length))
  for (const { name = '', description } of scenarios) {
    process.stdout.write(`${name.padEnd(width)}  ${description}\n`)
  }
} else {
  const names = scenarios.map((scenario) => scenario.name)
  if (!names.includes(name)) fail(`unknown scenario ${name}; known: ${names.join(', ')}`)
  const result = await callSandbox(port, 'POST', `scenarios/${name}`, { reference })
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
}
