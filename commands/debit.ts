import { existsSync, readFileSync } from 'node:fs'
import manifest from '../package.json' with { type: 'json' }
import { nouns } from '../shared/operator/catalogue.ts'
import { commandLine, misuse, printAndExit, unknownWord } from './terminal/arguments.ts'

/** `debit COMMAND`: all commands of the service, also in the packed tarball (commands/pack.ts). */

type CommandRow = readonly [summary: string, run?: () => Promise<unknown>]

const commands: Record<string, CommandRow> = {
  sandbox: ['runs the service on this machine', () => import('./sandbox.ts')],
  console: ['serves the console of a stage', () => import('./console.ts')],
  listen: ['receives and verifies webhooks', () => import('./listen.ts')],
  trigger: ['plays a scenario in a sandbox', () => import('./trigger.ts')],
  clock: ['moves the clock of a sandbox', () => import('./clock.ts')],
  fixtures: ['applies a file of calls to a sandbox', () => import('./fixtures.ts')],
  invoke: ['invokes a function of a sandbox', () => import('./invoke.ts')],
  'bank-check': ['checks a bank against the protocol', () => import('./bank-check.ts')],
  'restore-check': [
    'rebuilds the books from a copy of the table',
    () => import('./restore-check.ts'),
  ],
  'restore-drill': [
    'restores a copy of the table of a stage, checks and removes it',
    () => import('./restore-drill.ts'),
  ],
  smoke: ['checks a stage or a sandbox', () => import('./smoke.ts')],
  operator: ['calls an operator verb: NOUN VERB', () => import('./operator.ts')],
  help: ['prints this help'],
}

const lineOf = (word: string, summary: string): string => `  ${word.padEnd(15)} ${summary}\n`
const commandLines = Object.entries(commands).map(([word, [summary]]) => lineOf(word, summary))
const nounLines = Object.entries(nouns).map(([word, { summary }]) => lineOf(word, summary))

const scripts = Object.keys(manifest.scripts).filter((name) => name in commands)

/** npm sets it; the package has no scripts. */
const isClone = process.env.npm_lifecycle_event !== undefined && !import.meta.url.endsWith('.mjs')

const scriptsHelp = (): string =>
  isClone
    ? `\nIn a clone, npm run -s NAME -- ... is the same for ${scripts.join(', ')}.\nCONTRIBUTING.md lists the scripts of developers.\n`
    : ''

const help = (): string => `usage: ${commandLine('').trim()} COMMAND [options]

Commands:
${commandLines.join('')}
Nouns of operators, followed by a verb:
${nounLines.join('')}
--help after a command, a noun or a verb prints its options.
${scriptsHelp()}`

// The package contains its SDK, so the advice to upgrade Node would not help.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'

const [command, ...rest] = process.argv.slice(2)
if (command === 'help' && rest.length > 0)
  process.argv.splice(2, rest.length + 1, ...rest, '--help')
const [word = ''] = process.argv.slice(2)
/** Returns the parent and, where the system tells, its parent: npx starts a shell. */
const ancestors = (): string => {
  const file = `/proc/${process.ppid}/stat`
  return `${process.ppid} ${existsSync(file) ? readFileSync(file, 'utf8').split(' ')[3] : ''}`
}

// npx ends at a signal without its command.
const origin = ancestors()
const endWithParent = () => {
  if (ancestors() === origin) return
  clearInterval(watch)
  process.kill(process.pid, 'SIGTERM')
}
const watch =
  process.env.npm_lifecycle_event === 'npx' ? setInterval(endWithParent, 500) : undefined
watch?.unref()
if (word === '' || word === 'help' || word === '--help' || word === '-h') printAndExit(help())
if (word === '--version' || word === '-v') printAndExit(`${manifest.version}\n`)
if (Object.hasOwn(commands, word)) {
  process.argv.splice(2, 1)
  const [, run] = commands[word] ?? []
  await run?.()
  // Short forms of the operator command.
} else if (Object.hasOwn(nouns, word) || word === 'reconcile') {
  await import('./operator.ts')
} else {
  const known = [...Object.keys({ ...commands, ...nouns }), 'reconcile', '--help', '--version']
  misuse(await unknownWord('command', word, known))
}
