import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { nouns } from '../../shared/operator/catalogue.ts'
import { expectOneLine, runScript } from '../support/commands.ts'

/** The command `debit`: help, versions, suggestions and completion. */

const debit = (...words: string[]) => runScript(['commands/debit.ts', ...words])

const COMMANDS =
  'sandbox console listen trigger clock fixtures invoke bank-check restore-check restore-drill smoke operator'.split(
    ' ',
  )

test.each([[], ['help'], ['--help'], ['-h']])(
  '`debit %s` prints all commands and nouns',
  async (...words) => {
    const { code, stdout, stderr } = await debit(...words)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const word of [...COMMANDS, 'completion', 'help', ...Object.keys(nouns)]) {
      expect(stdout).toMatch(new RegExp(`^  ${word} +\\S`, 'm'))
    }
  },
)

test.each(COMMANDS)('`debit %s --help` prints its usage on standard output', async (command) => {
  const { code, stdout, stderr } = await debit(command, '--help')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('usage: debit ')
})

test('the completion has the options of each command, and `completion --help` prints its usage', async () => {
  const { stdout } = await debit('completion', 'bash')
  for (const command of COMMANDS.filter((name) => name !== 'operator')) {
    const help = (await debit(command, '--help')).stdout
    const [, usage = ''] = /^usage: (.*)$/m.exec(help) ?? []
    const [, completed = ''] =
      new RegExp(`^ +"${command}"\\) next="([^"]*)"`, 'm').exec(stdout) ?? []
    const options = new Set([...(usage.match(/--[a-z-]+/g) ?? []), '--help'])
    expect(new Set(completed.match(/--[a-z-]+/g)), command).toEqual(options)
  }
  expect(await debit('completion', '--help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('usage: debit completion bash | zsh | fish\n'),
  })
})

test('`debit help` prints the usage of a command, a noun and a verb', async () => {
  for (const words of [['sandbox'], ['completion'], ['provider'], ['provider', 'show']]) {
    expect(await debit('help', ...words)).toEqual(await debit(...words, '--help'))
  }
})

test('the shell bash completes the options of a verb only, and functions and scenarios', async () => {
  const { stdout } = await debit('completion', 'bash')
  const completed = (...words: string[]): string[] => {
    const list = ['debit', ...words].map((word) => `'${word}'`).join(' ')
    const set = `COMP_WORDS=(${list}); COMP_CWORD=${words.length}`
    const script = `${stdout}${set}; _debit; echo "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ')
  }
  expect(completed('provider', 'sh')).toEqual(['show'])
  expect(completed('provider', 'show', '--')).toEqual(
    '--provider --port --stage --output --watch --help'.split(' '),
  )
  expect(completed('trigger', 'late-')).toEqual(['late-completion'])
  expect(completed('invoke', 'charge', '--p')).toEqual(['--port'])
  expect(completed('invoke', 'char')).toEqual(['charge'])
})

test('`debit --version` prints the version', async () => {
  const { code, stdout } = await debit('--version')
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

const BANK = ['--url', 'http://127.0.0.1:1', '--secret', 'x']

test.each([
  [['debits', 'list'], 'unknown command debits; did you mean debit?'],
  [['triger'], 'unknown command triger; did you mean trigger?'],
  [['--verison'], 'unknown command --verison; did you mean --version?'],
  [['completion', 'tcsh'], 'unknown shell tcsh; known: bash, zsh, fish'],
  [['xyz'], 'unknown command xyz; known: sandbox, '],
  [['clock', 'show', '--prot', '1'], 'unknown option --prot; did you mean --port?'],
  [['clock', 'advnce'], 'unknown verb advnce; did you mean advance?'],
  [['listen', '--sandbox', '0'], '--sandbox: must be a port'],
  [['listen', '--forward-to', 'ftp://shop'], '--forward-to: must be a URL with http or https'],
  [['listen', '--times', '2'], '--times: requires --fail'],
  [['listen', '--secret', 'whsec'], '--secret: must be the secret of a webhook, whsec_...'],
  [['smoke', 'production', '--port', '1'], 'usage: debit smoke'],
  [['bank-check', ...BANK, '--phone', '0241234567'], '--phone: must be in E.164 format'],
  [['bank-check', ...BANK, '--account', '12-3'], '--account: must be 6 to 20 digits'],
  [['sandbox', '--names', 'http://shop'], '--names: must be names like shop, or addresses'],
  [['sandbox', '--webhook-hosts', 'shop:80'], '--webhook-hosts: must be names like shop'],
  [['invoke', 'charge', '/nowhere.json'], '/nowhere.json: ENOENT'],
  [['sandbox', '--port', '-1'], 'argument is ambiguous; usage: '],
  [['bank', 'lst'], 'unknown verb of bank lst; did you mean list?'],
  [['completion', 'csh'], 'unknown shell csh'],
  [['completion'], 'usage: debit completion bash | zsh | fish'],
])('the words %j of `debit` print one line and exit with 2', async (words, line) => {
  expectOneLine(await debit(...words), line, 2)
})

test.each(['bash', 'zsh', 'fish'])('all nouns and options complete in %s', async (shell) => {
  const { code, stdout } = await debit('completion', shell)
  expect(code).toBe(0)
  const words = new Set(stdout.match(/[a-z-]+/g))
  for (const [noun, { verbs }] of Object.entries(nouns)) {
    expect(words).toContain(noun)
    for (const [verb, { options }] of Object.entries(verbs)) {
      expect(words).toContain(verb)
      for (const option of Object.keys(options.entries)) expect(words).toContain(`--${option}`)
    }
  }
})
