import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { Day } from '../shared/domain/settlement/batch.ts'
import { nouns } from '../shared/operator/catalogue.ts'
import { parseCall, secretsOf } from '../shared/operator/verbs.ts'
import {
  actorOf,
  fail,
  InvocationFailure,
  invokeFunction,
  type Target,
} from './functions-client.ts'
import { COMMAND, helpOfAll, helpOfNoun, helpOfVerb } from './operator-help.ts'
import type { Ask } from './statement.ts'

/**
 * `npm run -s operator -- NOUN VERB [--option value ...] [--port N | --stage NAME]`: prints one JSON
 * document on standard output, or one line on standard error and exits 1.
 */

/** Short forms of a noun and its verb. */
const words: Record<string, [noun: string, verb: string]> = {
  reconcile: ['reconciliation', 'run'],
  ledger: ['ledger', 'show'],
}

/** `reconcile` compares a bank's statement if one of these options is given. */
const isOfBank = (word: string): boolean => /^--(?:bank|statement)(?:=|$)/.test(word)

const HELP = /^(?:--help|-h)$/

const named = <T>(rows: Record<string, T>, name: string, kind: string): T =>
  (Object.hasOwn(rows, name) ? rows[name] : undefined) ??
  fail(`unknown ${kind} ${name}; known: ${Object.keys(rows).join(', ')}`)

/** Parses options as `--option value` or `--option=value`; rejects repeated ones. */
const readOptions = (given: readonly string[]): Record<string, string> => {
  const options: Record<string, string> = {}
  const rest = [...given]
  while (rest.length > 0) {
    const word = rest.shift() ?? ''
    const [, name, attached] = /^--([a-z][a-z-]*)(?:=(.*))?$/s.exec(word) ?? []
    if (!name) return fail(`expected --option value at: ${word}`)
    if (Object.hasOwn(options, name)) return fail(`--${name}: is given twice`)
    const value = attached ?? (rest[0]?.startsWith('--') ? undefined : rest.shift())
    if (value === undefined) return fail(`--${name}: has no value`)
    options[name] = value
  }
  return options
}

const readTarget = (port: string | undefined, stage: string | undefined): Target => {
  if (stage === undefined) {
    const isPort = /^[1-9][0-9]{0,4}$/.test(port ?? '3000') && Number(port ?? 0) <= 65_535
    return isPort ? { port: Number(port ?? 3000) } : fail('--port: must be a port')
  }
  if (port !== undefined) fail('--port, --stage: only one of them is allowed')
  return /^[a-z][a-z0-9-]{0,19}$/.test(stage) ? { stage } : fail('--stage: must be a stage’s name')
}

/** Reads secrets from standard input: other users and the shell's history see arguments. */
const readSecrets = async (
  options: Record<string, string>,
  secrets: readonly string[],
): Promise<Record<string, string>> => {
  const given = secrets.filter((name) => options[name] !== undefined && options[name] !== 'none')
  for (const name of given) {
    if (options[name] !== '-') fail(`--${name}: must be -, with the secret on standard input`)
  }
  const [first] = given
  if (first === undefined) return options
  return { ...options, [first]: (await text(process.stdin)).replace(/\r?\n$/, '') }
}

const print = (text: string): never => {
  process.stdout.write(text)
  process.exit(0)
}

/** A result that is too large for a reply has a presigned URL for download. */
const isDownload = (result: unknown): result is { download: string } =>
  typeof result === 'object' && result !== null && 'download' in result

const printFile = async (address: string): Promise<void> => {
  const { ok, status, body } = await fetch(address).catch(() =>
    fail('The file cannot be downloaded: its URL does not answer'),
  )
  if (!ok || !body) return fail(`The file cannot be downloaded: S3 answers ${status}`)
  await pipeline(body, process.stdout, { end: false })
}

const [first = '', ...others] = process.argv.slice(2)
// A short form may also be a noun; a verb after it decides.
const isNoun = others[0] !== undefined && Object.hasOwn(nouns[first]?.verbs ?? {}, others[0])
const word = Object.hasOwn(words, first) && !isNoun ? words[first] : undefined
const isStatement = first === 'reconcile' && others.some(isOfBank)
const short = isStatement ? ['reconciliation', 'statement'] : word
const [noun = '', verb = '', ...given] = [...(short ?? [first]), ...others]
if (noun === '') fail(`usage: ${COMMAND} NOUN VERB [--option value ...]; --help prints more`)
if (HELP.test(noun)) print(helpOfAll(words))
const known = named(nouns, noun, 'noun')
if (HELP.test(verb)) print(helpOfNoun(noun, known))
if (verb === '') fail(`${noun}: a verb is required: ${Object.keys(known.verbs).join(', ')}`)
const wanted = named(known.verbs, verb, `verb of ${noun}`)
if (given.some((word) => HELP.test(word))) {
  const { statement } = known.verbs
  const more = first === 'reconcile' && !isStatement && statement
  const second = more ? `\n${helpOfVerb(noun, 'statement', statement)}` : ''
  print(`${helpOfVerb(noun, verb, wanted)}${second}`)
}

const { port, stage, ...written } = readOptions(given)
const target = readTarget(port, stage)
const options = await readSecrets(written, secretsOf(wanted))
// The function checks the call as well; this check is faster.
const judged = parseCall(known, { verb, options })
if ('error' in judged) fail(judged.error)

const invoke = async (options: Record<string, string>, actor: string): Promise<unknown> => {
  const reply = await invokeFunction(target, `manage-${noun}`, { verb, options, actor })
  const { result, error } = reply as { result?: unknown; error?: string }
  return error === undefined ? result : fail(error)
}

/** Compares a local file with the debits that the function returns. */
const compareWithBooks = async (actor: string): Promise<unknown> => {
  const { compareFile, MalformedStatement } = await import('./statement.ts')
  const { statement: file = '', date } = options
  const ask: Ask = (request) =>
    invoke({ ...options, statement: JSON.stringify(request) }, actor) as ReturnType<Ask>
  try {
    const { report, ignored } = await compareFile({ file, date: date as Day }, ask)
    if (ignored > 0) process.stderr.write(`ignored: ${ignored} rows of other days\n`)
    return report
  } catch (error) {
    if (error instanceof MalformedStatement) return fail(`--statement: ${error.message}`)
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') {
      return fail(`--statement: the file cannot be read (${code})`)
    }
    throw error
  }
}

try {
  const actor = await actorOf(target)
  const isCompared = noun === 'reconciliation' && verb === 'statement'
  const result = await (isCompared ? compareWithBooks(actor) : invoke(options, actor))
  if (isDownload(result)) await printFile(result.download)
  // The result is a file or a JSON document.
  else
    process.stdout.write(
      typeof result === 'string' ? result : `${JSON.stringify(result, null, 2)}\n`,
    )
} catch (error) {
  if (!(error instanceof InvocationFailure)) throw error
  fail(error.message)
}
