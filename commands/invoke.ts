import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { functionRows } from '../infra/definitions/functions.ts'
import { localOperator } from '../sandbox/local-operator.ts'
import { StartFailure } from '../sandbox/start-failure.ts'
import { invokeFunction } from './functions-client.ts'
import { callersPath, misuse, portIn, readArguments, unknownWord } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'

/** `debit invoke FUNCTION [EVENT.json]`: prints the function's reply. */

// In the packed command they are next to it.
const packed = new URL('events/', import.meta.url)
const EVENTS = existsSync(packed) ? packed : new URL('../events/', import.meta.url)

const names: string[] = functionRows.map((row) => row.name)

const { values, positionals, refuse } = await readArguments({
  name: 'invoke',
  form: 'FUNCTION [EVENT.json] [--port 3000]',
  summary: `Invokes a function of a sandbox and prints its reply. Functions: ${names.join(', ')}.`,
  options: { port: { type: 'string', default: '3000' } },
})
const [name = '', own, ...others] = positionals
if (name === '' || others.length > 0) refuse()
if (!names.includes(name)) misuse(await unknownWord('function', name, names))
const port = portIn(values.port, refuse)

const file = own === undefined ? fileURLToPath(new URL(`${name}.json`, EVENTS)) : callersPath(own)
const event = await readFile(file, 'utf8')
  .then((text) => JSON.parse(text) as object)
  .catch((error: Error) => fail(`${file}: ${error.message}`, 2))

try {
  const isOperators = name.startsWith('manage-')
  const sent = isOperators ? { actor: localOperator(), ...event } : event
  const reply = await invokeFunction({ port }, name, sent)
  process.stdout.write(`${JSON.stringify(reply, null, 2)}\n`)
} catch (error) {
  if (!(error instanceof StartFailure)) throw error
  fail(error.message)
}
