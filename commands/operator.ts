import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { isStageName } from '../infra/definitions/resource-name.ts'
import { StartFailure } from '../sandbox/start-failure.ts'
import { Refusal } from '../shared/domain/refusal.ts'
import { nouns } from '../shared/operator/catalogue.ts'
import { type NounCall, operateFully } from '../shared/operator/operate.ts'
import { explain, parseCall, secretsOf } from '../shared/operator/verbs.ts'
import type { FunctionTarget } from './functions-client.ts'
import { operate } from './operator-client.ts'
import { COMMAND, helpOfAll, helpOfNoun, helpOfVerb, isWatchable } from './operator-help.ts'
import { inFull, readOptions, shortForms } from './operator-words.ts'
import {
  callersPath,
  misuse,
  portIn,
  printAndExit as print,
  unknownOption,
  unknownWord,
} from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'
import { showLine, showProgress } from './terminal/progress.ts'
import { tableOf } from './terminal/table.ts'

/**
 * `debit NOUN VERB [--option value ...] [--port N | --stage NAME]`: prints the result, as a table on a
 * terminal and as one JSON document elsewhere. A refusal prints one line on standard error and exits
 * with 1, a wrong use with 2.
 */

const HELP = /^(?:--help|-h)$/

const lookUp = async <T>(rows: Record<string, T>, name: string, kind: string): Promise<T> =>
  (Object.hasOwn(rows, name) ? rows[name] : undefined) ??
  misuse(await unknownWord(kind, name, Object.keys(rows)))

const readTarget = (port: string | undefined, stage: string | undefined): FunctionTarget => {
  if (stage === undefined) {
    return { port: portIn(port ?? '3000', misuse) }
  }
  if (port !== undefined) misuse('--port, --stage: only one of them is allowed')
  return isStageName(stage) ? { stage } : misuse('--stage: must be a stage’s name')
}

/** Reads secrets from standard input: other users and the shell's history see arguments. */
const readSecrets = async (options: Record<string, string>, secrets: readonly string[]) => {
  const names = secrets.filter((name) => options[name] !== undefined && options[name] !== 'none')
  for (const name of names) {
    if (options[name] !== '-') misuse(`--${name}: must be -, with the secret on standard input`)
  }
  const [name] = names
  if (name === undefined) return options
  return { ...options, [name]: (await text(process.stdin)).replace(/\r?\n$/, '') }
}

/** A result that is too large for a reply has a presigned URL for download. */
const isDownload = (result: unknown): result is { download: string } =>
  typeof result === 'object' && result !== null && 'download' in result

const WATCH_MS = 2_000

/** Returns the text of a result, which is a file or an object. */
const textOf = (result: unknown, hasNext: boolean): string => {
  if (typeof result === 'string') return result
  if (verbRow.printsLines && !isTable && Array.isArray(result)) {
    return `[\n${result.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`
  }
  const width = process.stdout.columns || 120
  return `${isTable ? tableOf(result, width, hasNext) : JSON.stringify(result, null, 2)}\n`
}

const printFile = async (url: string): Promise<void> => {
  const { ok, status, body } = await fetch(url).catch(() =>
    fail('The file cannot be downloaded: its URL does not answer'),
  )
  if (!ok || !body) return fail(`The file cannot be downloaded: S3 answers ${status}`)
  await pipeline(body, process.stdout, { end: false }).catch(() =>
    fail('The file is incomplete: its download ended early'),
  )
}

const [first = '', ...others] = process.argv.slice(2)
const [noun = '', verb = '', ...optionWords] = inFull([first, ...others])
if (noun === '') misuse(`usage: ${COMMAND} NOUN VERB [--option value ...]; --help prints more`)
if (HELP.test(noun)) print(helpOfAll(shortForms))
const nounRow = await lookUp(nouns, noun, 'noun')
if (HELP.test(verb)) print(helpOfNoun(noun, nounRow))
if (verb === '' || verb.startsWith('-'))
  misuse(`${noun}: a verb is required: ${Object.keys(nounRow.verbs).join(', ')}`)
const verbRow = await lookUp(nounRow.verbs, verb, `verb of ${noun}`)
if (optionWords.some((word) => HELP.test(word))) {
  const { statement } = nounRow.verbs
  const isAmbiguous = first === 'reconcile' && verb !== 'statement' && statement
  const statementHelp = isAmbiguous ? `\n${helpOfVerb(noun, 'statement', statement)}` : ''
  print(`${helpOfVerb(noun, verb, verbRow)}${statementHelp}`)
}

const { port, stage, output, watch, ...callOptions } = readOptions(optionWords, verbRow)
const known = [...Object.keys(verbRow.options.entries), 'port', 'stage', 'output', 'watch']
const unknown = Object.keys(callOptions).find((name) => !known.includes(name))
if (unknown) misuse(await unknownOption(unknown, known))
if (output !== undefined && output !== 'table' && output !== 'json') {
  misuse('--output: must be table or json')
}
if (watch !== undefined && !isWatchable(verb)) misuse(`--watch: ${verb} cannot be repeated`)
const isTable = output ? output === 'table' : process.stdout.isTTY
const target = readTarget(port, stage)
const options = await readSecrets(callOptions, secretsOf(verbRow))
// The function checks the call as well; this check is faster.
const parsed = parseCall(nounRow, { verb, options })
if (parsed instanceof Refusal) misuse(explain(parsed))

const onProgress = (processed: number, total?: number): void =>
  showProgress(total === undefined ? `${processed} rows uploaded` : `${processed} of ${total}`)

const perform = ({ noun, verb, options }: NounCall) => operate(target, noun, { verb, options })

/** Reads the file while its rows are processed: its size is that of a bank. */
async function* readFile(option: string, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* path === '-' ? process.stdin : createReadStream(callersPath(path))
  } catch (error) {
    fail(`--${option}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`, 2)
  }
}

try {
  const option = ['statement', 'file'].find((name) => options[name] !== undefined)
  const file = option && readFile(option, options[option] ?? '')
  let shown: string | undefined
  do {
    if (shown !== undefined) await pause(WATCH_MS)
    const call = { noun, verb, options }
    const reply = await operateFully(call, perform, {
      file: file || undefined,
      onProgress,
      onRefused: showLine,
    })
    showProgress('')
    const { result, next_cursor, differs, fault } = 'error' in reply ? fail(reply.error) : reply
    process.exitCode = differs || fault ? 1 : 0
    if (isDownload(result)) await printFile(result.download)
    else if (textOf(result, next_cursor !== undefined) !== shown) {
      // Replaces the last table.
      if (watch && isTable) process.stdout.write('\u001b[2J\u001b[H')
      shown = textOf(result, next_cursor !== undefined)
      process.stdout.write(shown)
      if (fault) showLine(fault)
      if (next_cursor && !watch) process.stderr.write(`${next_cursor}\n`)
    }
  } while (watch)
} catch (error) {
  if (!(error instanceof StartFailure)) throw error
  fail(error.message)
}
