import { parseArgs } from 'node:util'
import { fail } from './fail.ts'
import { callSandbox } from './sandbox-client.ts'

/** `npm run -s clock -- VERB`: shows, moves, freezes and starts the clock of a sandbox. */

const USAGE =
  'usage: npm run -s clock -- show | advance 6m | to 2026-11-25T00:00:00Z | freeze | run [--port 3000]'

/** Returns the body of a verb; `show` has none. */
const bodies: Record<string, (value: string) => object | undefined> = {
  show: () => undefined,
  advance: (advance) => ({ advance }),
  to: (to) => ({ to }),
  freeze: () => ({ freeze: true }),
  run: () => ({ freeze: false }),
}

const readArguments = () => {
  try {
    const { values, positionals } = parseArgs({
      options: { port: { type: 'string', default: '3000' } },
      allowPositionals: true,
    })
    const [verb = '', value, ...others] = positionals
    const bodyOf = Object.hasOwn(bodies, verb) ? bodies[verb] : undefined
    const takesValue = verb === 'advance' || verb === 'to'
    const isValid = takesValue === (value !== undefined) && others.length === 0
    if (!bodyOf || !isValid || !/^[0-9]{1,5}$/.test(values.port)) return fail(USAGE)
    return { body: bodyOf(value ?? ''), port: Number(values.port) }
  } catch {
    return fail(USAGE)
  }
}

const { body, port } = readArguments()
const clock = await callSandbox(port, body ? 'POST' : 'GET', 'clock', body)
process.stdout.write(`${JSON.stringify(clock, null, 2)}\n`)
