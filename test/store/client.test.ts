import { createServer, type IncomingHttpHeaders } from 'node:http'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { beforeEach, expect, test, vi } from 'vitest'
import { NOON, pendingDebit } from '../support/examples.ts'
import { useServer } from '../support/servers.ts'

/** The headers that the clients of the table and of the queues send from Lambda. */

const received: IncomingHttpHeaders[] = []
const statuses: number[] = []
const address = useServer(
  createServer((request, response) => {
    received.push(request.headers)
    request.resume()
    const headers = { 'content-type': 'application/x-amz-json-1.0' }
    response.writeHead(statuses.shift() ?? 200, headers).end('{}')
  }),
)

const silent = useServer(createServer(() => undefined))

const TRACE = 'Root=1-67891233-abcdef012345678912345678;Parent=1;Sampled=1'

// Some clients read their environment at the first call.
beforeEach(() => {
  process.env.AWS_ENDPOINT_URL = address()
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'charge')
  vi.stubEnv('_X_AMZN_TRACE_ID', TRACE)
})

test('the client of the table signs and repeats calls, and omits headers that nobody reads', async () => {
  const { read } = await import('../../shared/store/table.ts')
  statuses.push(500)
  expect(await read({ pk: 'a', sk: 'b' })).toBeUndefined()
  expect(received.map((headers) => headers['amz-sdk-request'])).toEqual([
    'attempt=1; max=2',
    'attempt=2; max=2',
  ])
  const [headers = {}] = received.splice(0)
  expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=/)
  expect(headers['x-amz-target']).toBe('DynamoDB_20120810.GetItem')
  for (const name of ['user-agent', 'x-amz-user-agent', 'x-amzn-trace-id']) {
    expect(headers).not.toHaveProperty(name)
  }
})

test('a read of a secret and a new schedule fail in time if AWS does not reply', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL', silent())
  vi.stubEnv('SEALING_KEY_ARN', 'arn:key')
  vi.stubEnv('BANK_CLIENT_CERTIFICATE_ARN', 'arn:certificate')
  for (const name of ['GROUP', 'ROLE_ARN', 'TARGET_ARN']) vi.stubEnv(`SCHEDULE_${name}`, 'arn:x')
  const { unseal } = await import('../../shared/store/sealing.ts')
  const { findClientCertificate } = await import('../../shared/store/banks/client-certificate.ts')
  const { scheduleExpiry } = await import('../../shared/queues/schedule.ts')
  const { reference } = pendingDebit().facts
  const calls = [
    unseal('c2VhbGVk', { kind: 'connector', id: 'GCB' }),
    findClientCertificate(),
    scheduleExpiry('expiry', NOON, { reference, phase: 'approval' }),
  ]
  expect(await Promise.allSettled(calls)).toEqual(
    calls.map(() => ({
      status: 'rejected',
      reason: expect.objectContaining({ message: expect.stringContaining('requestTimeout') }),
    })),
  )
})

test('the client of the queues sends the trace, by which Lambda detects loops', async () => {
  const { sqs } = await import('../../shared/queues/send.ts')
  const QueueUrl = `${address()}/000000000000/webhooks`
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' })).catch(() => undefined)
  expect(received[0]?.['x-amzn-trace-id']).toBe(TRACE)
})
