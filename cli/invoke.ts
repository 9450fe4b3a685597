import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { functionRows } from '../infra/definitions/functions.ts'
import { fail } from './fail.ts'
import { InvocationFailure, invokeFunction } from './functions-client.ts'

/** `npm run -s invoke -- FUNCTION [EVENT.json] [--port 3000]`: prints the function's reply. */

const names: string[] = functionRows.map((row) => row.name)

const usage = (): never =>
  fail(
    `usage: npm run -s invoke -- FUNCTION [EVENT.json] [--port 3000]; functions: ${names.join(', ')}`,
  )

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      options: { port: { type: 'string', default: '3000' } },
      allowPositionals: true,
    })
    const [name = '', file = `events/${name}.json`, ...others] = positionals
    const isValid = names.includes(name) && others.length === 0 && /^[0-9]{1,5}$/.test(values.port)
    return isValid ? { name, file, port: Number(values.port) } : usage()
  } catch {
    return usage()
  }
}

const { name, file, port } = readArguments()

const event = await readFile(file, 'utf8')
  .then((text) => JSON.parse(text) as unknown)
  .catch((error: Error) => fail(`${file}: ${error.message}`))

try {
  const reply = await invokeFunction({ port }, name, event)
  process.stdout.write(`${JSON.stringify(reply, null, 2)}\n`)
} catch (error) {
  if (!(error instanceof InvocationFailure)) throw error
  fail(error.message)
}
