import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bankServer } from '../../sdk/typescript/src/bank-server.ts'
import { expectOneLine, nodePaths, printedBy, runScript, useCommands } from '../support/commands.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/folders.ts'
import { CHARGE, chargeBody } from '../support/requests.ts'
import { whileListening } from '../support/servers.ts'

/** The tarball of `npm run pack` runs in an empty folder, without this project's packages. */

const start = useCommands()
const folder = newFolder()
let tarball = ''
beforeAll(() => {
  tarball = execFileSync('npm', ['run', '-s', 'pack'], { encoding: 'utf8' }).trim()
  execFileSync('tar', ['-xzf', tarball, '-C', folder])
})

const bytesIn = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)

test('the tarball has less than 10 MB unpacked, and neither CDK nor TypeScript', () => {
  expect(bytesIn(folder)).toBeLessThan(10_000_000)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  expect(files.filter((file) => /cdk|\.ts$/.test(file))).toEqual([])
})

test('the tarball has a page for npm, and admits the versions of Node that have process.getBuiltinModule', () => {
  const read = (file: string) => readFileSync(join(folder, 'package', file), 'utf8')
  expect(read('README.md')).toContain('npx debit-collection-service sandbox')
  const { engines } = JSON.parse(read('package.json'))
  expect(engines).toEqual({ node: '^20.18 || >=22.3' })
  expect(read('docs/integration.md')).toContain('needs Node 20 from 20.18, or 22.3 or later:')
})

test('a Node without process.getBuiltinModule ends with one line', () => {
  const without = 'data:text/javascript,delete process.getBuiltinModule'
  const words = ['--import', without, join(folder, 'package/debit.mjs'), 'sandbox', '--port', '0']
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  expect([status, stderr]).toEqual([1, 'debit needs Node 20 from 20.18, or 22.3 or later\n'])
})

test('the tarball has the licence of each bundled package', () => {
  const notices = readFileSync(join(folder, 'package/THIRD-PARTY-NOTICES'), 'utf8')
  for (const name of [
    'valibot',
    '@aws-sdk/client-dynamodb',
    'undici',
    'preact',
    'vue',
    'minisearch',
  ]) {
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, (?:MIT|Apache-2.0)`, 'm'))
  }
  expect(notices).toContain('Permission is hereby granted, free of charge')
})

test.each(nodePaths)('the sandbox of the package accepts a charge on %s', async (node) => {
  const words = [join(folder, 'package/debit.mjs'), 'sandbox', '--port', '0']
  const sandbox = start(words, { PATH: process.env.PATH }, node)
  const address = await printedBy(sandbox, /^ready (http:\S+)$/m)
  const reply = await fetch(`${address}${CHARGE}`, {
    method: 'POST',
    headers: { Authorization: 'Bearer sk_sandbox_demo', 'Content-Type': 'application/json' },
    body: JSON.stringify(chargeBody()),
  })
  expect(reply.status).toBe(202)
  const paths = [
    ...['/docs/guides', '/docs/guides/errors', '/docs/guides/bank-protocol.json'],
    ...['/docs/guides.js', '/docs/guides/search.json'],
    '/docs/guides/drawings/architecture-1-dark.svg',
    ...['/docs', '/docs/reference.js', '/docs/scalar/standalone.esm.js', '/pages.css'],
    ...['/console', '/console/page.js', '/console/page.css'],
  ]
  const pages = await Promise.all(paths.map((path) => fetch(address + path)))
  expect(pages.map(({ status }) => status)).toEqual(paths.map(() => 200))
  expect(sandbox.printed.err).toBe('')
})

test.each(nodePaths)('each sample event of the package gets a reply on %s', async (node) => {
  const words = [join(folder, 'package/debit.mjs'), 'sandbox', '--port', '0', '--time-scale', '30']
  const sandbox = start(words, { PATH: process.env.PATH }, node)
  const address = await printedBy(sandbox, /^ready (http:\S+)$/m)
  const events = join(folder, 'package/events')
  const files = readdirSync(events)
  expect(files.length).toBeGreaterThan(50)
  for (const file of files) {
    const url = `${address}/2015-03-31/functions/${file.replace('.json', '')}/invocations`
    const reply = await fetch(url, { method: 'POST', body: readFileSync(join(events, file)) })
    const fault = reply.headers.get('x-amz-function-error')
    expect({ file, fault, text: fault && (await reply.text()) }).toEqual({
      file,
      fault: null,
      text: null,
    })
  }
  expect(sandbox.printed.out).not.toMatch(/^\S+ fault /m)
})

test.each(nodePaths)('each scenario of the package ends on %s', async (node) => {
  const words = [join(folder, 'package/debit.mjs'), 'sandbox', '--port', '0']
  const sandbox = start(words, { PATH: process.env.PATH }, node)
  const address = await printedBy(sandbox, /^ready (http:\S+)$/m)
  const listed = await (await fetch(`${address}/sandbox/scenarios`)).json()
  const { data } = listed as { data: { name: string }[] }
  for (const { name } of data) {
    const { status } = await fetch(`${address}/sandbox/scenarios/${name}`, { method: 'POST' })
    expect({ name, status }).toEqual({ name, status: 200 })
  }
})

test.each(nodePaths)(
  'the package compares a bank statement, or names the Node that can, on %s',
  async (node) => {
    const sandbox = start([join(folder, 'package/debit.mjs'), 'sandbox', '--port', '0'])
    const port = await printedBy(sandbox, /^ready http:\S+:(\d+)$/m)
    const file = join(folder, 'statement.csv')
    writeFileSync(file, 'uuid\n')
    const options = ['--bank', 'GCB', '--statement', file, '--date', '2026-11-20', '--port', port]
    const words = [join(folder, 'package/debit.mjs'), 'reconcile', ...options]
    const { printed, exited } = start(words, { PATH: process.env.PATH }, node)
    expect(await exited).toBe(1)
    expect(printed.err).toMatch(/^(?:A statement needs Node 22\.13|--statement: line 1: .*)\n$/)
  },
)

test.each(nodePaths)('the smoke test of the package passes every check on %s', async (node) => {
  const debit = join(folder, 'package/debit.mjs')
  const sandbox = start([debit, 'sandbox', '--port', '0', '--time-scale', '10'])
  const port = await printedBy(sandbox, /^ready http:\S+:(\d+)$/m)
  const smoke = start([debit, 'smoke', '--port', port], { PATH: process.env.PATH }, node)
  expect({ code: await smoke.exited, ...smoke.printed }).toMatchObject({
    ...{ code: 0, out: expect.stringMatching(/^[4-9][0-9] checks hold$/m), err: '' },
  })
})

test('the package has the nouns of the repository, invokes a sample event, or names the command of a sandbox', async () => {
  const sandbox = start([join(folder, 'package/debit.mjs'), 'sandbox', '--port', '0'])
  const port = await printedBy(sandbox, /^ready http:\S+:(\d+)$/m)
  const invoke = (...words: string[]) =>
    runScript([join(folder, 'package/debit.mjs'), 'invoke', 'charge', ...words])
  const { stdout, stderr } = await invoke('--port', port)
  expect({ status: JSON.parse(stdout).statusCode, stderr }).toEqual({ status: 202, stderr: '' })
  const show = ['bank', 'show', '--bank', 'GCB', '--port', port]
  const packed = await runScript([join(folder, 'package/debit.mjs'), ...show])
  expect(execFileSync('npm', ['run', '-s', 'debit', '--', ...show], { encoding: 'utf8' })).toBe(
    packed.stdout,
  )
  const line = 'No sandbox answers at port 1: start it with debit sandbox'
  expectOneLine(await invoke('--port', '1'), line)
})

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'the sandbox that npx started ends with npx at %s',
  async (signal) => {
    const words = `exec --yes --offline --package ${tarball} -- debit sandbox --port 0`.split(' ')
    const npx = start(words, { ...process.env, npm_config_cache: newFolder() }, 'npm')
    const address = await printedBy(npx, /^ready (http:\S+)$/m)
    npx.child.kill(signal)
    await eventually(() =>
      expect(fetch(`${address}/sandbox/clock`)).rejects.toThrow('fetch failed'),
    )
  },
)

test('the bank-check of the package checks a bank', async () => {
  const secret = 'cs_secret_of_the_bank'
  const onSubmission = () => ({ status: 'accepted', bankReference: 'B-1' }) as const
  const bank = createServer(bankServer({ secret, onSubmission }).node)
  await whileListening(bank, async (port) => {
    const words = ['bank-check', `http://127.0.0.1:${port}`, '--secret', secret]
    const { code, stdout } = await runScript([join(folder, 'package/debit.mjs'), ...words])
    expect({ code, failed: stdout.match(/^FAIL.*/gm) }).toEqual({ code: 0, failed: null })
  })
})

test('the sandbox of the package refuses to run bundles, which it cannot build, in one line', async () => {
  const words = [join(folder, 'package/debit.mjs'), 'sandbox', '--port', '0', '--bundles']
  const { printed, exited } = start(words)
  expect([await exited, printed.err]).toEqual([1, '--bundles needs the repository\n'])
})

test('an unknown command prints one line and exits with 2', async () => {
  const { printed, exited } = start([join(folder, 'package/debit.mjs'), 'nothing'])
  expect(await exited).toBe(2)
  expect(printed.err).toMatch(/^unknown command nothing; known: sandbox, .*\n$/)
})
