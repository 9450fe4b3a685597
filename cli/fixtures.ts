import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { fail } from './fail.ts'
import { applySteps, StepFailure } from './fixtures/apply.ts'
import { MalformedFixtures, parseSteps } from './fixtures/steps.ts'

/**
 * `npm run -s fixtures -- apply FILE [--port 3000]`: applies the steps of a YAML or JSON file to a
 * sandbox. Exits 1 when a step fails, 2 for a malformed file or command.
 */

const USAGE = 'usage: npm run -s fixtures -- apply FILE [--port 3000]'

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      options: { port: { type: 'string', default: '3000' } },
      allowPositionals: true,
    })
    const [verb, file, ...others] = positionals
    const isValid = verb === 'apply' && others.length === 0 && /^[0-9]{1,5}$/.test(values.port)
    return isValid && file ? { file, port: Number(values.port) } : fail(USAGE, 2)
  } catch {
    return fail(USAGE, 2)
  }
}

const { file, port } = readArguments()

const text = await readFile(file, 'utf8').catch((error: Error) =>
  fail(`${file}: ${error.message}`, 2),
)
try {
  await applySteps(parseSteps(text), port, (line) => process.stdout.write(`${line}\n`))
} catch (error) {
  if (error instanceof MalformedFixtures) fail(`${file}: ${error.message}`, 2)
  if (error instanceof StepFailure) fail(`${file}: ${error.message}`)
  throw error
}
