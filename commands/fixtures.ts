import { readFile } from 'node:fs/promises'
import { applySteps, StepFailure } from './fixtures/apply.ts'
import { MalformedFixtures, parseSteps } from './fixtures/steps.ts'
import { callersPath, portIn, readArguments } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'

/**
 * `debit fixtures apply FILE`: applies the steps of a YAML or JSON file to a
 * sandbox. Exits 1 when a step fails, 2 for a malformed file or command.
 */

const { values, positionals, refuse } = await readArguments({
  name: 'fixtures',
  form: 'apply FILE [--port 3000]',
  summary: 'Applies the steps of a YAML or JSON file to a sandbox.',
  options: { port: { type: 'string', default: '3000' } },
})
const [verb, file = '', ...others] = positionals
if (verb !== 'apply' || file === '' || others.length > 0) refuse()
const port = portIn(values.port, refuse)

const text = await readFile(callersPath(file), 'utf8').catch((error: Error) =>
  fail(`${file}: ${error.message}`, 2),
)
try {
  await applySteps(parseSteps(text), port, (line) => process.stdout.write(`${line}\n`))
} catch (error) {
  if (error instanceof MalformedFixtures) fail(`${file}: ${error.message}`, 2)
  if (error instanceof StepFailure) fail(`${file}: ${error.message}`)
  throw error
}
