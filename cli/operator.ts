import { readFile } from 'node:fs/promises'
import { buffer, text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../shared/domain/refusal.ts'
import type { Day } from '../shared/domain/time.ts'
import { nouns } from '../shared/operator/catalogue.ts'
import { explain, parseCall, secretsOf } from '../shared/operator/verbs.ts'
import { fail } from './fail.ts'
import {
  actorOf,
  type FunctionTarget,
  InvocationFailure,
  invokeFunction,
} from './functions-client.ts'
import { COMMAND, helpOfAll, helpOfNoun, helpOfVerb } from './operator-help.ts'
import type { LoadDebits } from './statement.ts'

/**
 * `npm run -s operator -- NOUN VERB [--option value ...] [--port N | --stage NAME]`: prints one JSON
 * document on standard output, or one line on standard error and exits 1.
 */

const shortForms: Record<string, [noun: string, verb: string]> = {
  reconcile: ['reconciliation', 'run'],
  ledger: ['ledger', 'show'],
}

/** `reconcile` compares a bank's statement if one of these options is given. */
const isStatementOption = (word: string): boolean => /^--(?:bank|statement)(?:=|$)/.test(word)

const HELP = /^(?:--help|-h)$/

const lookUp = <T>(rows: Record<string, T>, name: string, kind: string): T =>
  (Object.hasOwn(rows, name) ? rows[name] : undefined) ??
  fail(`unknown ${kind} ${name}; known: ${Object.keys(rows).join(', ')}`)

/** Parses options as `--option value` or `--option=value`; rejects repeated ones. */
const readOptions = (words: readonly string[]): Record<string, string> => {
  const options: Record<string, string> = {}
  const remaining = [...words]
  while (remaining.length > 0) {
    const word = remaining.shift() ?? ''
    const [, name, attached] = /^--([a-z][a-z-]*)(?:=(.*))?$/s.exec(word) ?? []
    if (!name) return fail(`expected --option value at: ${word}`)
    if (Object.hasOwn(options, name)) return fail(`--${name}: is given twice`)
    const value = attached ?? (remaining[0]?.startsWith('--') ? undefined : remaining.shift())
    if (value === undefined) return fail(`--${name}: has no value`)
    options[name] = value
  }
  return options
}

const readTarget = (port: string | undefined, stage: string | undefined): FunctionTarget => {
  if (stage === undefined) {
    const isPort = /^[1-9][0-9]{0,4}$/.test(port ?? '3000') && Number(port ?? 0) <= 65_535
    return isPort ? { port: Number(port ?? 3000) } : fail('--port: must be a port')
  }
  if (port !== undefined) fail('--port, --stage: only one of them is allowed')
  return /^[a-z][a-z0-9-]{0,19}$/.test(stage) ? { stage } : fail('--stage: must be a stage’s name')
}

/** Reads secrets from standard input: other users and the shell's history see arguments. */
const readSecrets = async (options: Record<string, string>, secrets: readonly string[]) => {
  const names = secrets.filter((name) => options[name] !== undefined && options[name] !== 'none')
  for (const name of names) {
    if (options[name] !== '-') fail(`--${name}: must be -, with the secret on standard input`)
  }
  const [name] = names
  if (name === undefined) return options
  return { ...options, [name]: (await text(process.stdin)).replace(/\r?\n$/, '') }
}

const print = (text: string): never => {
  process.stdout.write(text)
  process.exit(0)
}

/** A result that is too large for a reply has a presigned URL for download. */
const isDownload = (result: unknown): result is { download: string } =>
  typeof result === 'object' && result !== null && 'download' in result

const printFile = async (url: string): Promise<void> => {
  const { ok, status, body } = await fetch(url).catch(() =>
    fail('The file cannot be downloaded: its URL does not answer'),
  )
  if (!ok || !body) return fail(`The file cannot be downloaded: S3 answers ${status}`)
  await pipeline(body, process.stdout, { end: false })
}

const [first = '', ...others] = process.argv.slice(2)
// A short form may also be a noun; a verb after it decides.
const isNoun = others[0] !== undefined && Object.hasOwn(nouns[first]?.verbs ?? {}, others[0])
const shortForm = Object.hasOwn(shortForms, first) && !isNoun ? shortForms[first] : undefined
const isStatement = first === 'reconcile' && others.some(isStatementOption)
const expanded = isStatement ? ['reconciliation', 'statement'] : (shortForm ?? [first])
const [noun = '', verb = '', ...optionWords] = [...expanded, ...others]
if (noun === '') fail(`usage: ${COMMAND} NOUN VERB [--option value ...]; --help prints more`)
if (HELP.test(noun)) print(helpOfAll(shortForms))
const nounRow = lookUp(nouns, noun, 'noun')
if (HELP.test(verb)) print(helpOfNoun(noun, nounRow))
if (verb === '') fail(`${noun}: a verb is required: ${Object.keys(nounRow.verbs).join(', ')}`)
const verbRow = lookUp(nounRow.verbs, verb, `verb of ${noun}`)
if (optionWords.some((word) => HELP.test(word))) {
  const { statement } = nounRow.verbs
  const isAmbiguous = first === 'reconcile' && !isStatement && statement
  const statementHelp = isAmbiguous ? `\n${helpOfVerb(noun, 'statement', statement)}` : ''
  print(`${helpOfVerb(noun, verb, verbRow)}${statementHelp}`)
}

const { port, stage, ...callOptions } = readOptions(optionWords)
const target = readTarget(port, stage)
const options = await readSecrets(callOptions, secretsOf(verbRow))
// The function checks the call as well; this check is faster.
const call = parseCall(nounRow, { verb, options })
if (call instanceof Refusal) fail(explain(call))

const invoke = async (options: Record<string, string>, actor: string): Promise<unknown> => {
  const reply = await invokeFunction(target, `manage-${noun}`, { verb, options, actor })
  const { result, error } = reply as { result?: unknown; error?: string }
  return error === undefined ? result : fail(error)
}

/** A check of a large day takes several calls. */
const reconcile = async (actor: string): Promise<unknown> => {
  for (let next = options; ; ) {
    const result = (await invoke(next, actor)) as { run?: string }
    if (result.run === undefined) return result
    next = { ...options, run: result.run }
  }
}

const compareWithStatement = async (actor: string): Promise<unknown> => {
  const { compareFile, MalformedStatement } = await import('./statement.ts')
  const { statement: path = '', date } = options
  const loadDebits: LoadDebits = (request) =>
    invoke({ ...options, statement: JSON.stringify(request) }, actor) as ReturnType<LoadDebits>
  try {
    const file = await (path === '-' ? buffer(process.stdin) : readFile(path))
    const { report, ignored } = await compareFile({ file, date: date as Day }, loadDebits)
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
  const perform = { run: reconcile, statement: compareWithStatement }
  const isReconciliation = noun === 'reconciliation' && (verb === 'run' || verb === 'statement')
  const result = await (isReconciliation ? perform[verb](actor) : invoke(options, actor))
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
