import { createServer, type IncomingHttpHeaders } from 'node:http'
import { beforeEach, expect, test, vi } from 'vitest'
import { probeHandlers } from '../../commands/probe/handlers.ts'
import { captureOutput } from '../support/output.ts'
import { type Shown, useService } from '../support/running-service.ts'
import { received, useServer, whileListening } from '../support/servers.ts'
import { advance, useRunbooks } from './runbook.ts'
import { runInShell, shellOf } from './shell.ts'

/** The probe of a stage over real sockets, with the objects that its section creates. */

const service = useService()
const runbook = useRunbooks(service)

const MINUTE = 60
let secret: Record<string, string> = {}
const output = captureOutput()
const { probe, receive } = probeHandlers(async () => JSON.stringify(secret))

/** The URL of the receiving function. */
let alter = (headers: IncomingHttpHeaders): IncomingHttpHeaders => headers
const url = useServer(
  createServer(async (request, response) => {
    const { headers, body } = await received(request)
    const { statusCode } = (await receive({
      headers: alter(headers) as Record<string, string>,
      body: Buffer.from(body).toString('base64'),
      isBase64Encoded: true,
    })) as { statusCode: number }
    response.writeHead(statusCode).end()
  }),
)

beforeEach(() => {
  alter = (headers) => headers
  vi.stubEnv('SANDBOX_BANK', 'true')
})

/** Runs the probe at a time of the sandbox's clock. @returns whether it succeeded, or why not */
const run = async (): Promise<unknown> => {
  output.clear()
  vi.useFakeTimers({ now: service.sandbox().control.clock.now(), toFake: ['Date'] })
  await probe().finally(() => vi.useRealTimers())
  const lines: Shown[] = output.lines()
  const [metric] = lines.filter(({ ProbeSucceeded }) => ProbeSucceeded !== undefined)
  expect(metric).toMatchObject({
    service: 'debit-collection-sandbox',
    ProbeMilliseconds: expect.any(Number),
    _aws: { CloudWatchMetrics: [{ Namespace: 'DebitCollection', Dimensions: [['service']] }] },
  })
  const failed = lines.find(({ message }) => message === 'probe failed')
  expect(failed === undefined).toBe(metric.ProbeSucceeded === 1)
  for (const text of [secret.token, secret.webhook_secret])
    expect(output.text()).not.toContain(text)
  return failed ? failed.reason : true
}

runbook('deployment.md#probe')(
  'a probe charges, and two minutes later verifies the outcome and its signed webhook',
  async (book) => {
    await book.run('provider create', { id: 'probe' })
    const { token } = await book.run('credential issue', { owner: 'probe' })
    const set = { URL: url() }
    const { secret: webhookSecret } = await book.run(
      'webhook set',
      { event_names: 'transaction' },
      set,
    )
    secret = { api: service.sandbox().address, token, webhook_secret: webhookSecret }
    expect(await run()).toContain('bank and phone in the secret')
    // To the first seconds of a minute, so that a minute later is the next one.
    await advance(
      service,
      MINUTE - ((Number(service.sandbox().control.clock.now()) / 1000) % MINUTE),
    )
    Object.assign(secret, { bank: 'GCB', phone: '+233241234567' })
    expect(await run()).toContain('expected {"status":"completed"}')
    await advance(service, MINUTE)
    expect(await run()).toContain('expected {"status":"completed"}')
    await advance(service, MINUTE)
    expect(await run()).toBe(true)
  },
)

test('the commands of the probe store its secret in its own Region', async () => {
  const stored = createServer(async (request, response) => {
    const { headers, body } = await received(request)
    expect(headers['x-amz-target']).toBe('secretsmanager.PutSecretValue')
    expect(JSON.parse(body)).toMatchObject({ SecretId: 'ARN', Region: 'eu-central-1' })
    response.end('{}')
  })
  await whileListening(stored, (port) => {
    const commands = shellOf('deployment.md#probe').filter((one) => one.startsWith('aws '))
    expect(commands).toHaveLength(1)
    return runInShell({ address: `http://127.0.0.1:${port}` }, commands)
  })
})

test('a probe of a stage without the sandbox bank moves no money and expects a delivered ping', async () => {
  vi.stubEnv('SANDBOX_BANK', undefined)
  const debits = async () =>
    (await service.get('/api/v1/payment-providers/debit-requests', secret.token)).body.data.length
  const before = await debits()
  expect(await run()).toBe(true)
  expect(await debits()).toBe(before)
})

test.each([
  ['signature', () => ({ 'x-svc-signature': '0'.repeat(64) })],
  ['Standard Webhooks signature', () => ({ 'webhook-signature': `v1,${btoa('x'.repeat(32))}` })],
  ['time', () => ({ 'x-svc-timestamp': '1700000000' })],
])('a webhook with a wrong %s gets 401, and the probe fails', async (_, wrong) => {
  vi.stubEnv('SANDBOX_BANK', undefined)
  alter = (headers) => ({ ...headers, ...wrong() })
  expect(await run()).toContain('"delivered":false')
  expect(output.text()).toContain('webhook refused')
})

test.each([
  ['a revoked token', { token: 'sk_sandbox_revoked' }, '401'],
  ['an address without the API', { api: 'http://127.0.0.1:1' }, 'expected a reply to GET'],
  ['an unknown bank', { bank: 'NONE' }, 'expected the bank NONE'],
  ['no address', { api: '' }, 'The secret is not set'],
])('a probe with %s fails with its reason', async (_, change, reason) => {
  const whole = secret
  secret = { ...whole, ...change }
  expect(await run()).toContain(reason)
  secret = whole
})
