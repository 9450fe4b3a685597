import { existsSync, readFileSync } from 'node:fs'
import manifest from '../package.json' with { type: 'json' }
import { nouns } from '../shared/operator/catalogue.ts'
import { commandLine, misuse, printAndExit, unknownWord } from './terminal/arguments.ts'

/** `debit COMMAND`: all commands of the service, also in the packed tarball (commands/pack.ts). */

type CommandRow = {
  summary: string
  /** The words and options that shells complete. */
  words: string
  run: () => Promise<unknown>
}

const commands: Record<string, CommandRow> = {
  sandbox: {
    summary: 'runs the service on this machine',
    words:
      '--port --data --time-scale --approvals --bundles --host --names --webhook-hosts --verbose',
    run: () => import('./sandbox.ts'),
  },
  console: {
    summary: 'serves the console of a stage',
    words: '--stage --port',
    run: () => import('./console.ts'),
  },
  listen: {
    summary: 'receives and verifies webhooks',
    words:
      '--port --register --sandbox --secret --events --print --json --forward-to --slow --fail --times',
    run: () => import('./listen.ts'),
  },
  trigger: {
    summary: 'plays a scenario in a sandbox',
    words: '--debit --port',
    run: () => import('./trigger.ts'),
  },
  clock: {
    summary: 'moves the clock of a sandbox',
    words: 'show advance to freeze run --port',
    run: () => import('./clock.ts'),
  },
  fixtures: {
    summary: 'applies a file of calls to a sandbox',
    words: 'apply --port',
    run: () => import('./fixtures.ts'),
  },
  invoke: {
    summary: 'invokes a function of a sandbox',
    words: '--port',
    run: () => import('./invoke.ts'),
  },
  'bank-check': {
    summary: 'checks a bank against the protocol',
    words: '--url --secret --skip --account --phone',
    run: () => import('./bank-check.ts'),
  },
  'restore-check': {
    summary: 'rebuilds the books from a copy of the table',
    words: '--from --on --days',
    run: () => import('./restore-check.ts'),
  },
  'restore-drill': {
    summary: 'restores a copy of the table of a stage, checks and removes it',
    words: '--stage --at --days --remove',
    run: () => import('./restore-drill.ts'),
  },
  smoke: {
    summary: 'checks a stage or a sandbox',
    words: '--stage --port --api --receiver --keep',
    run: () => import('./smoke.ts'),
  },
  operator: {
    summary: 'calls an operator verb: NOUN VERB',
    words: Object.keys(nouns).join(' '),
    run: () => import('./operator.ts'),
  },
}

const shells = ['bash', 'zsh', 'fish']

const others = {
  completion: {
    summary: `prints the completion of a shell: ${shells.join(', ')}`,
    words: shells.join(' '),
  },
  help: { summary: 'prints this help', words: '' },
}

const rowsOf = (rows: Record<string, { summary: string }>): string =>
  Object.entries(rows)
    .map(([word, { summary }]) => `  ${word.padEnd(15)} ${summary}\n`)
    .join('')

const scripts = Object.keys(manifest.scripts).filter((name) => name in commands)

/** npm sets it; the package has no scripts. */
const isClone = process.env.npm_lifecycle_event !== undefined && !import.meta.url.endsWith('.mjs')

const scriptsHelp = (): string =>
  isClone
    ? `\nIn a clone, npm run -s NAME -- ... is the same for ${scripts.join(', ')}.\nCONTRIBUTING.md lists the scripts of developers.\n`
    : ''

const help = (): string => `usage: ${commandLine('').trim()} COMMAND [options]

Commands:
${rowsOf({ ...commands, ...others })}
Nouns of operators, followed by a verb:
${rowsOf(nouns)}
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
const endWithParent = () => ancestors() !== origin && process.kill(process.pid, 'SIGTERM')
if (process.env.npm_lifecycle_event === 'npx') setInterval(endWithParent, 500).unref()
const words = [...Object.keys({ ...commands, ...others, ...nouns }), 'reconcile']
if (word === '' || word === 'help' || word === '--help' || word === '-h') printAndExit(help())
if (word === '--version' || word === '-v') printAndExit(`${manifest.version}\n`)
if (word === 'completion') {
  const [shell = '', ...extra] = process.argv.slice(3)
  const usage = `usage: ${commandLine('completion')} ${shells.join(' | ')}`
  if (shell === '--help' || shell === '-h')
    printAndExit(`${others.completion.summary}\n\n${usage}\n`)
  if (shell === '' || extra.length > 0) misuse(usage)
  const { completionOf } = await import('./completion.ts')
  const script = completionOf(shell, words, { ...commands, ...others })
  printAndExit(script ?? misuse(`unknown shell ${shell}; known: ${shells.join(', ')}`))
}
if (Object.hasOwn(commands, word)) {
  process.argv.splice(2, 1)
  await commands[word]?.run()
  // Short forms of the operator command.
} else if (Object.hasOwn(nouns, word) || word === 'reconcile') {
  await import('./operator.ts')
} else misuse(await unknownWord('command', word, [...words, '--help', '--version']))
