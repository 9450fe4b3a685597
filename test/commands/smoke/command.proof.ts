import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { printedBy, runScript, type ScriptOutput, useCommands } from '../../support/commands.ts'
import { whileListening } from '../../support/servers.ts'
import { startSandbox } from './running-sandbox.ts'

const start = useCommands()

const smoke = (...options: string[]) => runScript(['commands/smoke.ts', ...options])

/** Returns the lines that are neither `ok` nor `kept`. */
const othersIn = (stdout: string): string[] =>
  stdout
    .trimEnd()
    .split('\n')
    .filter((line) => !/^(?:ok|kept) /.test(line))

/** Checks that about so many checks hold. */
const expectHolding = ({ code, stdout }: ScriptOutput, count = /^[4-9][0-9] checks hold$/) => {
  const others = [expect.stringMatching(count)]
  expect({ code, others: othersIn(stdout) }).toEqual({ code: 0, others })
}

/** Without debits. */
const FEW = /^[12][0-9] checks hold$/

type Forwarded = { url: string; method: string; headers: IncomingHttpHeaders; body: Buffer }
type Altered = { status: number; headers?: Record<string, string>; body: string }

/** Returns a proxy to the sandbox. `alter` replaces some replies. */
const proxyTo =
  (address: string, alter: (request: Forwarded) => Altered | undefined): RequestListener =>
  async (request, response) => {
    const { url = '', method = '', headers } = request
    const body = await buffer(request)
    const alteredReply = alter({ url, method, headers, body })
    if (alteredReply) {
      response.writeHead(alteredReply.status, alteredReply.headers).end(alteredReply.body)
      return
    }
    const { host, connection, 'content-length': _, ...forwarded } = headers
    const reply = await fetch(`${address}${url}`, {
      method,
      headers: forwarded as Record<string, string>,
      ...(body.length > 0 && { body }),
      redirect: 'manual',
    })
    response.writeHead(reply.status, Object.fromEntries(reply.headers))
    response.end(Buffer.from(await reply.arrayBuffer()))
  }

const { address, port, operator, stop } = await startSandbox('--time-scale', '10')
afterAll(stop)

test('the smoke test passes every check, and disables what it created', async () => {
  // The day of the service is not the day of this machine.
  await runScript(['commands/clock.ts', 'advance', '3d', '--port', port])
  const run = await smoke('--port', port)
  const { stdout, stderr } = run
  expectHolding(run)
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^ok payout$/m)
  expect(stdout).not.toMatch(/ (?:logs|sweep|event-sources)$/m)
  const providers = (await operator('provider', 'list')) as { id: string; status: string }[]
  const created = providers.filter(({ id }) => id.startsWith('smoke-'))
  expect(created.map(({ status }) => status)).toEqual(['suspended', 'suspended'])
  for (const { id } of created) {
    const credentials = await operator('credential', 'list', '--provider', id)
    expect(credentials).toEqual([
      expect.objectContaining({ revoked_at: expect.stringMatching(/Z$/) }),
    ])
  }
  expect(await operator('webhook', 'list')).toEqual([])
  const banks = (await operator('bank', 'list')) as { name: string; status: string }[]
  expect(banks.filter(({ name }) => name.startsWith('Smoke'))).toEqual([
    expect.objectContaining({ status: 'inactive' }),
  ])
  expect(await operator('exception', 'list', '--status', 'open')).toEqual([])
}, 240_000)

test('the smoke test names a check that fails, cleans up and exits with 1', async () => {
  const listener = proxyTo(address, ({ url }) =>
    url.endsWith('/DCS-20200101-AAAAAA')
      ? { status: 403, headers: { 'X-Request-ID': '1' }, body: '{"success":false}' }
      : undefined,
  )
  const { code, stdout } = await whileListening(createServer(listener), (proxy) =>
    smoke('--port', port, '--api', `http://127.0.0.1:${proxy}/`),
  )
  expect(othersIn(stdout)).toEqual([
    'FAIL unknown-debit: expected {"status":404,"success":false,"error":{"code":3404}}, ' +
      'got {"status":403,"success":false}',
    expect.stringMatching(
      /^FAIL envelope-and-headers: expected .*, got 403 to GET .*: no X-RateLimit-Limit$/,
    ),
    expect.stringMatching(/^2 of [4-9][0-9] checks failed$/),
  ])
  expect(stdout).toMatch(/^ok cleanup$/m)
  expect(code).toBe(1)
}, 240_000)

test('the smoke test waits until warm functions know the new bank', async () => {
  const headers = {
    'X-Request-ID': '1',
    'X-RateLimit-Limit': '1',
    'X-RateLimit-Remaining': '1',
    'X-RateLimit-Reset': '1',
  }
  const meta = { timestamp: '2026-11-21T10:00:00.000Z', request_id: '1', api_version: 'v1' }
  const unknown: Record<string, Altered> = {
    '/banks': { status: 200, headers, body: JSON.stringify({ success: true, data: [], meta }) },
    '/charge': { status: 402, headers, body: JSON.stringify({ success: false, meta }) },
  }
  const stale = proxyTo(address, ({ url, body }) => {
    const isCharge = url.endsWith('/charge') && body.includes('"100.00"')
    const path = isCharge ? '/charge' : url.endsWith('/banks') ? '/banks' : ''
    const reply = unknown[path]
    delete unknown[path]
    return reply
  })
  const run = await whileListening(createServer(stale), (proxy) =>
    smoke('--port', port, '--api', `http://127.0.0.1:${proxy}`),
  )
  expectHolding(run, / checks hold$/)
  expect(unknown).toEqual({})
}, 240_000)

test('the smoke test moves no money at a stage that refuses the sandbox bank', async () => {
  const refusal = '{"error":"--connector: sandbox is for sandboxes only"}'
  const headers = { 'x-amz-executed-version': '$LATEST' }
  const production = proxyTo(address, ({ url, body }) =>
    url.endsWith('/manage-bank/invocations') && body.includes('"connector":"sandbox"')
      ? { status: 200, headers, body: refusal }
      : undefined,
  )
  const run = await whileListening(createServer(production), (port) =>
    smoke('--port', String(port)),
  )
  const { stdout } = run
  expectHolding(run, FEW)
  expect(stdout).toMatch(/^ok bank-without-connector$/m)
  expect(stdout).not.toMatch(/^ok charge$/m)
}, 240_000)

test('the smoke test cleans up after SIGINT and exits with 1', async () => {
  const run = start(['commands/smoke.ts', '--port', port])
  await printedBy(run, /^ok (objects)$/m)
  run.child.kill('SIGINT')
  expect(await run.exited).toBe(1)
  expect(run.printed.out).toMatch(
    /^FAIL run: expected the end of the test, got an interruption\nok cleanup\n1 of [0-9]+ checks failed\n$/m,
  )
  expect(await operator('webhook', 'list')).toEqual([])
}, 240_000)

test('the smoke test prints what it keeps with --keep', async () => {
  const { code, stdout } = await smoke('--port', port, '--keep')
  expect(code).toBe(0)
  expect(stdout).not.toContain('cleanup')
  const [, provider = ''] = /^kept provider (smoke-[a-z]{4})$/m.exec(stdout) ?? []
  expect(await operator('provider', 'show', '--provider', provider)).toMatchObject({
    status: 'active',
  })
}, 240_000)

test('the smoke test passes every check of a sandbox that runs bundles', async () => {
  const { port, stop } = await startSandbox('--bundles', '--time-scale', '10')
  onTestFinished(stop)
  expectHolding(await smoke('--port', port, '--receiver'))
}, 240_000)

test('the smoke test moves no money where the sandbox bank needs an approval', async () => {
  const { port, operator, stop } = await startSandbox('--approvals')
  onTestFinished(stop)
  expectHolding(await smoke('--port', port), FEW)
  expect(await operator('approval', 'list', '--status', 'pending')).toEqual([])
}, 240_000)

test('the smoke test without a sandbox names the first check and exits with 1', async () => {
  const { code, stdout } = await smoke('--port', '1')
  expect(stdout).toMatch(
    /^ok api-address\nFAIL objects: expected a result, got No sandbox answers at port 1: .*\n1 of 2 checks failed\n$/,
  )
  expect(code).toBe(1)
})
