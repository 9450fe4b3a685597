import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { nouns } from '../../shared/operator/catalogue.ts'
import { expectOneLine, runScript } from '../support/commands.ts'
import { whileListening } from '../support/servers.ts'

/** The command `debit`: help, versions and suggestions. */

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
    for (const word of [...COMMANDS, 'help', ...Object.keys(nouns)]) {
      expect(stdout).toMatch(new RegExp(`^  ${word} +\\S`, 'm'))
    }
  },
)

test.each(COMMANDS)('`debit %s --help` prints its usage on standard output', async (command) => {
  const { code, stdout, stderr } = await debit(command, '--help')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('usage: debit ')
})

test('`debit help` prints the usage of a command, a noun and a verb', async () => {
  for (const words of [['sandbox'], ['provider'], ['provider', 'show']]) {
    expect(await debit('help', ...words)).toEqual(await debit(...words, '--help'))
  }
})

test('`debit --version` prints the version', async () => {
  const { code, stdout } = await debit('--version')
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

const URL = 'http://127.0.0.1:1'
const WHSEC = `whsec_${'A'.repeat(43)}=`
const BANK = `bank-check --url ${URL} --secret x`

const wrongWords: [line: string, ...words: string[]][] = [
  ['unknown command debits; did you mean debit?', 'debits list'],
  ['unknown command triger; did you mean trigger?', 'triger'],
  ['unknown command --verison; did you mean --version?', '--verison'],
  ['unknown command xyz; known: sandbox, ', 'xyz'],
  ['unknown option --prot; did you mean --port?', 'clock show --prot 1'],
  ['unknown verb advnce; did you mean advance?', 'clock advnce'],
  ['unknown verb of bank lst; did you mean list?', 'bank lst'],
  ['--port: must be a port', 'sandbox --port x', 'sandbox --port 70000', 'listen --port 70000'],
  ['--port: is given twice', 'sandbox --port 3001 --port=3002', 'invoke --port 1 --port 1'],
  [
    '--time-scale: must be a number of at least 0.3',
    'sandbox --time-scale 0.2',
    'sandbox --time-scale 1e400',
  ],
  ['--host: must be 127.0.0.1, 0.0.0.0 or ::', 'sandbox --host ::1', 'sandbox --host 192.168.1.5'],
  ['unknown option --colour; known: --port, ', 'sandbox --colour red', 'listen --colour red'],
  ['--names: must be names like shop, or addresses', 'sandbox --names http://shop'],
  ['--webhook-hosts: must be names like shop', 'sandbox --webhook-hosts shop:80'],
  ['argument is ambiguous; usage: ', 'sandbox --port -1'],
  ['usage: debit listen [--port 4242]', 'listen 4242'],
  ['--secret, --register: only one of them is', `listen --secret ${WHSEC} --register demo`],
  ['--sandbox: must be a port', 'listen --sandbox 0'],
  ['--port: browsers refuse port 6000', 'sandbox --port 6000', 'clock show --port 06000'],
  ['--forward-to: must be a URL with http', 'listen --forward-to ftp://a', 'listen --forward-to a'],
  ['--fail: must be a number from 300', 'listen --fail 200'],
  ['--times: requires --fail', 'listen --times 2'],
  ['--times: must be a number from 1', 'listen --fail 500 --times 0'],
  ['--secret: must be the secret of a webhook', 'listen --secret whsec', 'listen --secret '],
  ['unknown event transaction.shipped; did you mean ', 'listen --events shipped'],
  ['usage: debit smoke ', 'smoke', 'smoke --stage Sandbox', 'smoke --port 1 --stage sandbox'],
  ['usage: debit smoke ', 'smoke production --port 1', 'smoke --colour red'],
  ['--api: must be a URL; usage: debit smoke ', 'smoke --port 1 --api localhost'],
  ['usage: debit console --stage NAME [--port 3100]', 'console', 'console --stage Sandbox'],
  ['--port: must be a port', 'console --stage sandbox --port x', 'smoke --port x'],
  ['usage: debit restore-drill ', 'restore-drill', 'restore-drill --stage X'],
  ['--at: must be a time that ends with Z', 'restore-drill --stage sandbox --at yesterday'],
  ['--days: must be a whole number above 0; usage: ', 'restore-drill --stage sandbox --days 0'],
  ['unknown function charg; did you mean charge?', 'invoke charg'],
  ['usage: debit invoke ', 'invoke charge --colour red'],
  ['--port: must be a port; usage: debit invoke ', 'invoke charge --port x'],
  ['/nowhere.json: ENOENT', 'invoke charge /nowhere.json'],
  ['usage: debit bank-check --url URL', 'bank-check', `bank-check ${URL}`, `${BANK} ${URL}`],
  ['usage: debit bank-', `bank-check ${URL} --secret `, `bank-check ${URL} ${URL} --secret x`],
  ['--url: must use https', 'bank-check http://bank.example --secret x'],
  ['--url: is not a URL', 'bank-check bank --secret x'],
  ['--phone: must be in E.164 format', `${BANK} --phone 0241234567`],
  ['--account: must be 6 to 20 digits', `${BANK} --account 12-3`],
  ['unknown part refund; did you mean refunds?', `${BANK} --skip refund`],
  ['unknown option --secrt; did you mean --secret?', `bank-check ${URL} --secrt x`],
]

test.each(wrongWords.flatMap(([line, ...all]) => all.map((words) => [words, line] as const)))(
  'the words "%s" of `debit` print one line and exit with 2',
  async (words, line) => expectOneLine(await debit(...words.split(' ')), line, 2),
)

test.each(['sandbox', 'listen'])(
  '`debit %s` prints one line if the port is taken',
  (command) =>
    whileListening(createServer(), async (port) => {
      const stderr = `Port ${port} is taken; choose another with --port\n`
      expect(await debit(command, '--port', `${port}`)).toMatchObject({ code: 1, stderr })
    }),
  60_000,
)
