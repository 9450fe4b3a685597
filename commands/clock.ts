import * as v from 'valibot'
import { Duration, Instant } from '../shared/domain/time.ts'
import { callSandbox } from './sandbox-client.ts'
import { portIn, readArguments, unknownWord } from './terminal/arguments.ts'

/** `debit clock VERB`: shows, moves, freezes and starts the clock of a sandbox. */

/** Returns the body of a verb; `show` has none. */
const bodies: Record<string, (value: string) => object | undefined> = {
  show: () => undefined,
  advance: (advance) => ({ advance }),
  to: (to) => ({ to }),
  freeze: () => ({ freeze: true }),
  run: () => ({ freeze: false }),
}

const { values, positionals, refuse } = await readArguments({
  name: 'clock',
  form: 'show | advance 6m | to 2026-11-25T00:00:00Z | freeze | run [--port 3000]',
  summary: 'Shows, moves, freezes or starts the clock of a sandbox.',
  options: { port: { type: 'string', default: '3000' } },
})
const [verb = '', value, ...others] = positionals
const bodyOf = Object.hasOwn(bodies, verb) ? bodies[verb] : undefined
const form = verb === 'advance' ? Duration : verb === 'to' ? Instant : undefined
if (verb !== '' && !bodyOf) refuse(await unknownWord('verb', verb, Object.keys(bodies)))
if (!bodyOf || (form !== undefined) !== (value !== undefined) || others.length > 0) refuse()
const parsed = form && v.safeParse(form, value)
if (parsed && !parsed.success) refuse(`${verb}: ${parsed.issues[0].message}`)
const body = bodyOf?.(value ?? '')
const port = portIn(values.port, refuse)
const clock = await callSandbox(port, body ? 'POST' : 'GET', 'clock', body)
process.stdout.write(`${JSON.stringify(clock, null, 2)}\n`)
