import { functionRows } from '../functions.ts'
import { fail, InvocationFailure, invokeFunction } from './functions-client.ts'

/**
 * `npm run -s operator -- NOUN VERB [--option value ...] [--port N | --stage NAME]`: one JSON
 * document on standard output, or one line on standard error and exit 1. Some words stand for a
 * noun and its verb.
 */

const PREFIX = 'manage-'

const nouns = functionRows
  .map(({ name }) => name)
  .filter((name) => name.startsWith(PREFIX))
  .map((name) => name.slice(PREFIX.length))

/** Words of their own, and the noun and the verb that each stands for. */
const words: Record<string, [noun: string, verb: string]> = {
  reconcile: ['reconciliation', 'run'],
}

const usage = (): never =>
  fail(
    'usage: npm run -s operator -- NOUN VERB [--option value ...] [--port N | --stage NAME]; ' +
      `nouns: ${nouns.join(', ')}; or ${Object.keys(words).join(', ')} alone`,
  )

const readOptions = (given: readonly string[]): Record<string, string> => {
  const options: Record<string, string> = {}
  for (let n = 0; n < given.length; n += 2) {
    const name = /^--([a-z][a-z-]*)$/.exec(given[n] ?? '')?.[1]
    const value = given[n + 1]
    if (!name || value === undefined) return fail(`expected --option value at: ${given[n]}`)
    options[name] = value
  }
  return options
}

const [first = '', ...others] = process.argv.slice(2)
const [noun = '', verb = '', ...given] = [...(words[first] ?? [first]), ...others]
if (!nouns.includes(noun) || verb === '') usage()
const { port = '3000', stage, ...options } = readOptions(given)
if (!/^[0-9]{1,5}$/.test(port)) fail('--port: must be a port')

try {
  const target = stage === undefined ? { port: Number(port) } : { stage }
  const reply = await invokeFunction(target, `${PREFIX}${noun}`, { verb, options })
  const { result, error } = reply as { result?: unknown; error?: string }
  if (error !== undefined) fail(error)
  // A file, as it stands, or a document.
  process.stdout.write(typeof result === 'string' ? result : `${JSON.stringify(result, null, 2)}\n`)
} catch (error) {
  if (!(error instanceof InvocationFailure)) throw error
  fail(error.message)
}
