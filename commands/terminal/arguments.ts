import { resolve } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { fail } from './fail.ts'

/** The arguments of all commands: `--help` exits with 0, a wrong use with 2 and one line. */

const { npm_lifecycle_event: event, INIT_CWD = '' } = process.env

/** The script of npm that runs this command; a test that runs a command has the script of vitest. */
const script = process.argv[1]?.endsWith(`/${event}.ts`) ? event : undefined

/** Returns a command as its caller types it: a script of npm, or the command `debit`. */
export const commandLine = (name: string): string => {
  if (script === 'debit') return `npm run -s debit -- ${name}`
  return script || event === name ? `npm run -s ${name} --` : `debit ${name}`
}

/** Returns a path that the caller typed: npm runs a script in the root of the project. */
export const callersPath = (path: string): string => resolve(script ? INIT_CWD : '', path)

export const misuse = (line: string): never => fail(line, 2)

/** Returns `unknown KIND WORD` with the nearest known word, or with all. */
export const unknownWord = async (
  kind: string,
  word: string,
  known: readonly string[],
): Promise<string> => {
  // Loaded here, because it delays the first line of the sandbox.
  const { closest, distance } = await import('fastest-levenshtein')
  const nearest = known.length > 0 ? closest(word, known as string[]) : ''
  const isNear = nearest !== '' && distance(word, nearest) <= Math.max(2, nearest.length / 3)
  return isNear
    ? `unknown ${kind} ${word}; did you mean ${nearest}?`
    : `unknown ${kind} ${word}; known: ${known.join(', ')}`
}

/** Returns the same for the name of an option. */
export const unknownOption = (name: string, known: readonly string[]): Promise<string> =>
  unknownWord(
    'option',
    `--${name}`,
    known.map((one) => `--${one}`),
  )

export const printAndExit = (text: string): never => {
  process.stdout.write(text)
  process.exit(0)
}

type CommandForm<O extends ParseArgsOptionsConfig> = {
  name: string
  /** The words after the name, as the usage shows them. */
  form: string
  summary: string
  options: O
}

/**
 * Parses the words of the process. Prints the usage for --help.
 * @returns also `refuse`, which ends the command because its words make no call
 */
export const readArguments = async <const O extends ParseArgsOptionsConfig>({
  name,
  form,
  summary,
  options,
}: CommandForm<O>) => {
  const usage = `usage: ${commandLine(name)} ${form}`
  const refuse = (reason?: string): never => misuse(reason ? `${reason}; ${usage}` : usage)
  try {
    const { values, positionals, tokens } = parseArgs({
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      tokens: true,
    })
    if ((values as { help?: boolean }).help) return printAndExit(`${summary}\n\n${usage}\n`)
    const names = tokens.flatMap((token) => (token.kind === 'option' ? token.name : []))
    const repeated = names.find(
      (option, index) => names.indexOf(option) < index && !options[option]?.multiple,
    )
    if (repeated) return refuse(`--${repeated}: is given twice`)
    return { values, positionals, refuse }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (!code?.startsWith('ERR_PARSE_ARGS')) throw error
    const [, option = ''] = /^Unknown option '--?([^']*)'/.exec(message) ?? []
    return refuse(
      option
        ? await unknownOption(option, [...Object.keys(options), 'help'])
        : message.split(/\.\s/)[0],
    )
  }
}

/** The "bad ports" of the Fetch standard that are above 1023: browsers and Node refuse to connect to them. */
const FORBIDDEN_PORTS = [
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668],
  ...[6669, 6679, 6697, 10_080],
]

/** Parses the port of a sandbox. */
export const portIn = (
  text: string,
  refuse: (reason: string) => never,
  min = 1,
  option = 'port',
): number => {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : -1
  if (FORBIDDEN_PORTS.includes(port)) return refuse(`--${option}: browsers refuse port ${port}`)
  return port >= min && port <= 65_535 ? port : refuse(`--${option}: must be a port`)
}

/** Parses a whole number above zero. */
export const wholeNumberIn = (
  option: string,
  text: string,
  refuse: (reason: string) => never,
): number => {
  const value = Number(text)
  return Number.isSafeInteger(value) && value > 0
    ? value
    : refuse(`--${option}: must be a whole number above 0`)
}
