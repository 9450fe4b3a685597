import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { getDescription, getTitle } from 'valibot'
import { expect, onTestFinished, test } from 'vitest'
import { helpOfVerb } from '../../commands/operator-help.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import { expectOneLine, runScript } from '../support/commands.ts'
import { whileListening } from '../support/servers.ts'

// Disables all sources of AWS credentials.
const withoutAws = {
  PATH: process.env.PATH,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
}

const run = (words: string[], env: NodeJS.ProcessEnv = {}, input?: string) =>
  runScript(words, { ...withoutAws, ...env }, input)

const operator = (args: string[], env?: NodeJS.ProcessEnv, input?: string) =>
  run(['commands/operator.ts', ...args], env, input)

const verbs = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  Object.entries(verbs).map(([name, verb]) => ({ noun, name, verb })),
)

test('the help of the command lists every noun', async () => {
  const { code, stdout, stderr } = await operator(['--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const [noun, { summary }] of Object.entries(nouns)) {
    expect(stdout).toMatch(new RegExp(`^ {2}${noun} +${summary}$`, 'm'))
  }
})

test.each([
  ['credential --help', [/^ {2}issue /m, /^ {2}list /m, /^ {2}show /m, /^ {2}revoke /m]],
  ['limit remove --provider demo --help', [/limit remove --provider ID \[--port/]],
  ['limit remove --help', [/^ {2}--provider ID +\(required\) provider id/m]],
  ['debit reverse --help', [/a second operator must approve it always\./]],
  ['bank update --help', [/--connector-secret, or if it ends a suspension\./]],
  ['bank disable --help', [/^(?!.*approve)/s]],
  ['reconcile -h', [/reconciliation run: /, /reconciliation statement: /]],
])('the command `%s` prints %j', async (words, patterns) => {
  const { code, stdout } = await operator(words.split(' '))
  expect(code).toBe(0)
  for (const pattern of patterns) expect(stdout).toMatch(pattern)
})

test.each(verbs)('the help of $noun $name has short lines for verb and options', (row) => {
  expect(row.verb.summary.length).toBeLessThan(90)
  for (const [option, schema] of Object.entries(row.verb.options.entries)) {
    const required = 'wrapped' in schema ? schema.wrapped : schema
    expect(getTitle(required as never), option).toBeTruthy()
    expect(getDescription(required as never), option).toBeTruthy()
  }
  expect(helpOfVerb(row.noun, row.name, row.verb)).not.toMatch(/undefined|\[object/)
})

test('the help covers exactly the operator functions', () => {
  const functions = functionRows.map(({ name }) => name).filter((name) => /^manage-/.test(name))
  expect(functions.sort()).toEqual(
    Object.keys(nouns)
      .map((noun) => `manage-${noun}`)
      .sort(),
  )
})

test.each([
  ['nothing', [], 'usage: debit NOUN VERB'],
  ['an unknown noun', ['toString', 'show'], 'unknown noun toString; known: provider,'],
  ['no verb', ['provider'], 'provider: a verb is required: create,'],
  ['an option for a verb', ['provider', '--port', '1'], 'provider: a verb is required: create,'],
  ['an unknown verb', ['provider', 'destroy'], 'unknown verb of provider destroy; known:'],
  ['an unknown option', ['provider', 'list', '--colour=red'], 'unknown option --colour; known: --'],
  ['a typo of an option', ['bank', 'list', '--prot', '3000'], 'did you mean --port?'],
  ['a missing option', ['provider', 'show'], '--provider: is required'],
  ['a bad value', ['limit', 'set', '--provider=demo', '--daily-limit=5'], 'must be an amount'],
  ['an option twice', ['bank', 'show', '--bank', 'GCB', '--bank=ECO'], '--bank: is given twice'],
  ['an option without a value', ['bank', 'show', '--bank'], '--bank: has no value'],
  ['an option as value', ['bank', 'show', '--bank', '--port', '1'], '--bank: has no value'],
  ['a second word', ['bank', 'show', 'GCB', 'ECO'], 'expected --option value at: ECO'],
  ['a typo', ['bank', 'shwo'], 'unknown verb of bank shwo; did you mean show?'],
  ['an unknown form', ['bank', 'list', '--output', 'xml'], '--output: must be table or json'],
  [
    'a repeated change',
    ['bank', 'disable', 'GCB', '--watch'],
    '--watch: disable cannot be repeated',
  ],
  ['a value of --watch', ['bank', 'list', '--watch=no'], '--watch: takes no value'],
  ['a bad port', ['bank', 'list', '--port', '0'], '--port: must be a port'],
  ['a bad stage', ['bank', 'list', '--stage', 'A/B'], '--stage: must be'],
  ['both targets', ['bank', 'list', '--stage', 'x', '--port', '1'], 'only one of them is'],
])('any wrong arguments print one line and exit with 2: %s', async (_case, args, line) => {
  expectOneLine(await operator(args), line, 2)
})

test.each([
  ['a full disk', '> /dev/full', 'ENOSPC'],
  ['a disk that fills up in the middle of the last write', '> "$FILE"', 'EFBIG'],
])('a command whose output meets %s prints one line and exits with 1', (_case, output, code) => {
  const folder = mkdtempSync(join(tmpdir(), 'output-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const script = 'process.stdout.write("x".repeat(9_000))'
  const command = [process.execPath, '--import', './commands/terminal/fail.ts', '-e', script]
  const env = { ...process.env, NODE_COMPILE_CACHE: '', FILE: join(folder, 'day.csv') }
  // A limit of a file's size cuts a write as a full disk does.
  const words = ['-c', `ulimit -f 8; exec "$0" "$@" ${output}`, ...command]
  const { status, stderr } = spawnSync('sh', words, { env })
  expect([status, `${stderr}`]).toEqual([1, `The output cannot be written (${code})\n`])
})

test('a port without a sandbox prints one line and exits with 1', async () => {
  const args = ['bank', 'list', '--port', '1']
  expectOneLine(await operator(args), 'No sandbox answers at port 1')
})

const RECONCILE = ['reconcile', '--bank', 'GCB']
const HEADER = 'uuid,amount,currency,completed_at\n'
const compare = (text: string) => {
  const words = [...RECONCILE, '--statement', '-', '--date', '2026-11-21', '--stage', 'sandbox']
  return runAgainst(200, { result: { columns: null, encoding: 'utf-8' } }, undefined, words, text)
}

const malformed = `${HEADER}x,5,GHS,2026-11-21\n,5.00,GHS,2026-11-21\n`
const otherDay = `${HEADER}3f2b8c1e-5d4a-4c3b-9a2f-0e1d2c3b4a59,5.00,GHS,2026-11-22\n`
const lines = [
  'line 2: uuid is malformed; amount must be like 100.00 or 1,234.00',
  'line 3: a uuid or a bank_reference is required',
]

test.each([
  ['an empty file', '', 'the file is empty'],
  ['malformed rows', malformed, lines.join('\n')],
  ['only rows of other days', otherDay, 'no row has completed_at on 2026-11-21'],
])(
  'the command exits with 1 for a statement with %s, after the request for its format',
  async (_case, text, line) => {
    const stderr = `--statement: ${line}\n`
    const { requests, ...output } = await compare(text)
    expect(output).toEqual({ code: 1, stdout: '', stderr })
    const [, format] = requests
    expect([requests.length, JSON.parse(format?.body ?? '').options.statement]).toEqual([
      2,
      '{"format":true}',
    ])
  },
)

test('a statement that does not exist is a wrong use', async () => {
  const args = ['--statement', '/nowhere.csv', '--date', '2026-11-21']
  expectOneLine(await operator([...RECONCILE, ...args]), 'the file cannot be read (ENOENT)', 2)
})

const http = (status: number, type: string, body: string) =>
  `HTTP/1.1 ${status} X\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`

const responses: Record<string, string> = {
  '204': 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n',
  'a page': http(200, 'text/html', '<!doctype html><title>Shop</title>'),
  'a page that says 404': http(404, 'text/html', '<title>Shop</title>'),
  'other JSON': http(200, 'application/json', '{"ok":true}'),
  'an envelope': http(403, 'application/json', '{"success":false,"error":{"code":1403}}'),
  text: http(200, 'text/plain', 'hello'),
  'another protocol': '-ERR unknown command\r\n',
}

test.each([
  ['operator', ['commands/operator.ts', 'bank', 'list', '--port']],
  ['invoke', ['commands/invoke.ts', 'list-banks', '--port']],
  ['clock', ['commands/clock.ts', 'show', '--port']],
  ['trigger', ['commands/trigger.ts', '--port']],
])('the command %s prints one line and exits with 1 if the port is taken', async (_name, words) => {
  for (const [what, response] of Object.entries(responses)) {
    const server = createTcpServer((socket) => socket.once('data', () => socket.end(response)))
    await whileListening(server, async (port) => {
      const stderr = `Another program than the sandbox answers at port ${port}\n`
      const output = await run([...words, String(port)])
      expect(output, what).toEqual({ code: 1, stdout: '', stderr })
    })
  }
})

test('a secret is read from standard input without its line end, and never from the command line', async () => {
  const update = ['bank', 'update', '--bank', 'GCB', '--port', '1']
  for (const option of ['--connector-secret=cs_0123456789abcdef', '--connector-secret=']) {
    const stderr = '--connector-secret: must be -, with the secret on standard input\n'
    expect(await operator([...update, option])).toEqual({ code: 2, stdout: '', stderr })
  }
  // The command invokes the function only after its own validation.
  const isValid = 'No sandbox answers at port 1'
  const isShort = '--connector-secret: must be 16 to 200 characters'
  const secrets = { 'cs_0123456789abcdef\n': isValid, 'cs_0123456789abcdef\r\n': isValid }
  for (const [input, line] of Object.entries({ ...secrets, short: isShort, '': isShort })) {
    expectOneLine(
      await operator([...update, '--connector-secret', '-'], {}, input),
      line,
      line === isShort ? 2 : 1,
    )
  }
  const none = ['provider', 'update', '--provider', 'demo', '--request-secret', 'none']
  expectOneLine(await operator([...none, '--port', '1']), isValid)
})

const list = ['bank', 'list', '--stage', 'sandbox']
const region = { AWS_REGION: 'eu-west-1' }
const credentials = { ...region, AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'x' }

/** Runs the command against a fake Lambda API whose function URL gives a reply. */
const runAgainst = async (
  status: number,
  body: unknown,
  api = { status: 200, type: '' },
  words = list,
  input = '',
) => {
  const requests: { line: string; authorization?: string | undefined; body: string }[] = []
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    requests.push({
      line: `${method} ${url}`,
      authorization: headers.authorization,
      body: await text(request),
    })
    if (url?.endsWith('/url')) {
      const FunctionUrl = `http://${headers.host}/`
      response
        .writeHead(api.status, api.type ? { 'x-amzn-errortype': api.type } : {})
        .end(JSON.stringify(api.type ? { Message: 'no\nno' } : { FunctionUrl }))
    } else response.writeHead(status).end(JSON.stringify(body))
  })
  const output = await whileListening(server, (port) =>
    operator(words, { ...credentials, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` }, input),
  )
  return { ...output, requests }
}

test('the command requests the function URL with a signature, and names no caller', async () => {
  const { code, stdout, requests } = await runAgainst(200, { result: [] })
  expect([code, stdout]).toEqual([0, '[]\n'])
  const [find, call] = requests
  expect(find?.line).toBe('GET /2021-10-31/functions/debit-collection-sandbox-manage-bank/url')
  expect(call).toMatchObject({
    line: 'POST /',
    authorization: expect.stringMatching(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/lambda\/aws4_request/,
    ),
    body: '{"verb":"list","options":{}}',
  })
})

test.each([
  [{ next_cursor: 'abc' }, 0, 'abc\n'],
  [{ differs: true }, 1, ''],
])('a list with %j exits with %i and prints %j on standard error', async (members, ...expected) => {
  const { code, stdout, stderr } = await runAgainst(200, { result: [], ...members })
  expect([code, stderr, stdout]).toEqual([...expected, '[]\n'])
})

test('a download that breaks off prints one line and exits with 1', async () => {
  const broken = http(200, 'text/csv', 'date,amount\r\n').slice(0, -2)
  const server = createTcpServer((socket) => socket.once('data', () => socket.end(broken)))
  const { requests, ...output } = await whileListening(server, (port) =>
    runAgainst(200, { result: { download: `http://127.0.0.1:${port}/` } }),
  )
  const stderr = 'The file is incomplete: its download ended early\n'
  expect(output).toEqual({ code: 1, stdout: 'date,amount', stderr })
})

test('the command requires credentials and a region', async () => {
  expectOneLine(await operator(list, region), 'No AWS credentials: set AWS_PROFILE, ')
  expectOneLine(await operator(list), 'No AWS region: set AWS_REGION')
})

test.each([
  [404, 'ResourceNotFound', 'Function debit-collection-sandbox-manage-bank does not exist'],
  [403, 'AccessDenied', 'These AWS credentials do not allow invoking'],
  [403, 'ExpiredToken', 'The AWS credentials have expired'],
])('the command prints a line for the answer %i %sException', async (status, name, line) => {
  expectOneLine(await runAgainst(200, {}, { status, type: `${name}Exception` }), line)
})

test.each([
  [200, { error: 'no such bank' }, 'no such bank'],
  [403, { Message: 'Forbidden' }, 'These AWS credentials do not allow invoking debit-'],
  [429, {}, 'Function debit-collection-sandbox-manage-bank did not run: AWS limits calls'],
  [502, 'Internal Server Error', 'debit-collection-sandbox-manage-bank: the function failed'],
])('the command prints one line for the reply %i %j of the URL', async (status, body, line) => {
  expectOneLine(await runAgainst(status, body), line)
})
