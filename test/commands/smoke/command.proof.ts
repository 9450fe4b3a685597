import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printedBy, runScript, useCommands } from '../../support/commands.ts'
import { whileListening } from '../../support/servers.ts'
import { type RunningSandbox, startSandbox } from './running-sandbox.ts'

const start = useCommands()

const smoke = (...options: string[]) => runScript(['commands/smoke.ts', ...options])

/** Returns the lines that are neither `ok` nor `kept`. */
const othersIn = (stdout: string): string[] =>
  stdout
    .trimEnd()
    .split('\n')
    .filter((line) => !/^(?:ok|kept) /.test(line))

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

describe('the smoke test of a sandbox', () => {
  let sandbox: RunningSandbox
  beforeAll(async () => {
    sandbox = await startSandbox('--time-scale', '10')
  })
  afterAll(() => sandbox.stop())

  const operator = (...words: string[]) => sandbox.operator(...words)

  test('the smoke test passes every check, and disables what it created', async () => {
    // The day of the service is not the day of this machine.
    await runScript(['commands/clock.ts', 'advance', '3d', '--port', sandbox.port])
    const { code, stdout, stderr } = await smoke('--port', sandbox.port)
    expect({ code, stderr, others: othersIn(stdout) }).toEqual({
      code: 0,
      stderr: '',
      others: [expect.stringMatching(/^[4-9][0-9] checks hold$/)],
    })
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
    const listener = proxyTo(sandbox.address, ({ url }) =>
      url.endsWith('/DCS-20200101-AAAAAA')
        ? { status: 403, headers: { 'X-Request-ID': '1' }, body: '{"success":false}' }
        : undefined,
    )
    const { code, stdout } = await whileListening(createServer(listener), (port) =>
      smoke('--port', sandbox.port, '--api', `http://127.0.0.1:${port}/`),
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
    const stale = proxyTo(sandbox.address, ({ url, body }) => {
      const isCharge = url.endsWith('/charge') && body.includes('"100.00"')
      const path = isCharge ? '/charge' : url.endsWith('/banks') ? '/banks' : ''
      const reply = unknown[path]
      delete unknown[path]
      return reply
    })
    const { code, stdout } = await whileListening(createServer(stale), (port) =>
      smoke('--port', sandbox.port, '--api', `http://127.0.0.1:${port}`),
    )
    expect({ code, unknown, others: othersIn(stdout) }).toEqual({
      code: 0,
      unknown: {},
      others: [expect.stringMatching(/ checks hold$/)],
    })
  }, 240_000)

  test('the smoke test moves no money at a stage that refuses the sandbox bank', async () => {
    const refusal = '{"error":"--connector: sandbox is for sandboxes only"}'
    const headers = { 'x-amz-executed-version': '$LATEST' }
    const production = proxyTo(sandbox.address, ({ url, body }) =>
      url.endsWith('/manage-bank/invocations') && body.includes('"connector":"sandbox"')
        ? { status: 200, headers, body: refusal }
        : undefined,
    )
    const { code, stdout } = await whileListening(createServer(production), (port) =>
      smoke('--port', String(port)),
    )
    expect({ code, others: othersIn(stdout) }).toEqual({
      code: 0,
      others: [expect.stringMatching(/^[12][0-9] checks hold$/)],
    })
    expect(stdout).toMatch(/^ok bank-without-connector$/m)
    expect(stdout).not.toMatch(/^ok charge$/m)
  }, 240_000)

  test('the smoke test cleans up after SIGINT and exits with 1', async () => {
    const run = start(['commands/smoke.ts', '--port', sandbox.port])
    await printedBy(run, /^ok (objects)$/m)
    run.child.kill('SIGINT')
    expect(await run.exited).toBe(1)
    expect(run.printed.out).toMatch(
      /^FAIL run: expected the end of the test, got an interruption\nok cleanup\n1 of [0-9]+ checks failed\n$/m,
    )
    expect(await operator('webhook', 'list')).toEqual([])
  }, 240_000)

  test('the smoke test prints what it keeps with --keep', async () => {
    const { code, stdout } = await smoke('--port', sandbox.port, '--keep')
    expect(code).toBe(0)
    expect(stdout).not.toContain('cleanup')
    const [, provider = ''] = /^kept provider (smoke-[a-z]{4})$/m.exec(stdout) ?? []
    expect(await operator('provider', 'show', '--provider', provider)).toMatchObject({
      status: 'active',
    })
  }, 240_000)
})

test('the smoke test passes every check of a sandbox that runs bundles', async () => {
  const sandbox = await startSandbox('--bundles', '--time-scale', '10')
  try {
    const { code, stdout } = await smoke('--port', sandbox.port, '--receiver')
    expect({ code, others: othersIn(stdout) }).toEqual({
      code: 0,
      others: [expect.stringMatching(/^[4-9][0-9] checks hold$/)],
    })
  } finally {
    await sandbox.stop()
  }
}, 240_000)

test('the smoke test moves no money where the sandbox bank needs an approval', async () => {
  const sandbox = await startSandbox('--approvals')
  try {
    const { code, stdout } = await smoke('--port', sandbox.port)
    expect({ code, others: othersIn(stdout) }).toEqual({
      code: 0,
      others: [expect.stringMatching(/^[12][0-9] checks hold$/)],
    })
    expect(await sandbox.operator('approval', 'list', '--status', 'pending')).toEqual([])
  } finally {
    await sandbox.stop()
  }
}, 240_000)

test('the smoke test without a sandbox names the first check and exits with 1', async () => {
  const { code, stdout } = await smoke('--port', '1')
  expect(stdout).toMatch(
    /^ok api-address\nFAIL objects: expected a result, got No sandbox answers at port 1: .*\n1 of 2 checks failed\n$/,
  )
  expect(code).toBe(1)
})

test.each([
  '',
  '--port x',
  '--port 3000 --stage sandbox',
  '--stage Sandbox',
  '--port 3000 --api localhost',
  '--colour red',
])('the smoke test prints the usage in one line and exits with 2 for "%s"', async (options) => {
  const { code, stdout, stderr } = await smoke(...options.split(' ').filter(Boolean))
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^.*usage: debit smoke .*\n$/)
})
