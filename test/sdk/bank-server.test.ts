import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, expect, test, vi } from 'vitest'
import { exchanges } from '../../sdk/openapi/bank-exchanges.ts'
import { type BankServerOptions, bankServer } from '../../sdk/typescript/src/bank-server.ts'
import { requestHmac } from '../../shared/request-hmac.ts'
import { whileListening } from '../support/servers.ts'

/** The kit for banks (docs/bank-protocol.md#start-with-the-kit). */

const SECRET = 'cs_secret_of_the_bank'

type Path = '/submissions' | '/settlements' | '/refunds'

const bodyOf = (path: Path, fields = {}) => ({
  ...exchanges[path].example,
  uuid: randomUUID() as string,
  amount: '100.00',
  ...fields,
})

type Sent = {
  method: string
  path: string
  body?: string
  secret?: string
  seconds?: number
  headers?: Record<string, string>
}

const requestTo = ({ method, path, body = '', secret = SECRET, seconds = 0, headers }: Sent) => {
  const timestamp = String(Math.floor(Date.now() / 1_000) + seconds)
  const signature = requestHmac(secret, { method, path: `/bank${path}`, timestamp, body })
  return new Request(`http://127.0.0.1/bank${path}`, {
    method,
    headers: { 'x-timestamp': timestamp, 'x-signature': signature, ...headers },
    body: body || null,
  })
}

/** Opens a bank that accepts debits, unless the options differ. */
const openBank = (options: Partial<BankServerOptions> = {}) => {
  const onSubmission = vi.fn(async () => ({
    status: 'accepted' as const,
    bankReference: `B-${onSubmission.mock.calls.length}`,
  }))
  const errors: unknown[] = []
  const bank = bankServer({
    secret: SECRET,
    onSubmission,
    onError: (error) => errors.push(error),
    ...options,
  })
  const send = async (sent: Sent) => {
    const reply = await bank.fetch(requestTo(sent))
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
  }
  const post = (path: Path, body: { uuid: string }, more: Partial<Sent> = {}) =>
    send({
      ...{ method: 'POST', path, body: JSON.stringify(body) },
      headers: { 'x-idempotency-key': body.uuid },
      ...more,
    })
  const query = (path: Path, { uuid }: { uuid: string }) =>
    send({ method: 'GET', path: `${path}/${uuid}` })
  return { bank, onSubmission, errors, send, post, query }
}

test('a submission and each repeat get the first reply, and the bank decides once', async () => {
  const { onSubmission, post, query } = openBank()
  const body = bodyOf('/submissions', { amount: '999.90' })
  const accepted = { status: 'accepted', uuid: body.uuid, amount: '999.90', bank_reference: 'B-1' }
  expect(await query('/submissions', body)).toEqual({
    status: 404,
    body: { error: 'not received' },
  })
  const replies = await Promise.all([1, 2, 3].map(() => post('/submissions', body)))
  replies.push(await post('/submissions', { ...body, account_number: '1' } as typeof body))
  replies.push(await query('/submissions', body))
  for (const reply of replies) expect(reply).toEqual({ status: 200, body: accepted })
  expect(onSubmission.mock.calls).toEqual([[body, undefined]])
})

test('the address of a bank may end like a path of the protocol', async () => {
  const { send } = openBank()
  const body = bodyOf('/submissions')
  const headers = { 'x-idempotency-key': body.uuid }
  const sent = { method: 'POST', path: '/refunds/submissions', headers, body: JSON.stringify(body) }
  expect((await send(sent)).body).toMatchObject({ status: 'accepted' })
})

test('one uuid can be a debit, a payout and a refund', async () => {
  const paid = async () => ({ status: 'paid' as const, bankReference: 'P-1' })
  const { post } = openBank({ onPayout: paid, onRefund: paid })
  const { uuid } = bodyOf('/submissions')
  const statuses = ['/submissions', '/settlements', '/refunds'] as const
  const replies = await Promise.all(statuses.map((path) => post(path, bodyOf(path, { uuid }))))
  expect(replies.map(({ body }) => body.status)).toEqual(['accepted', 'paid', 'paid'])
})

test('a bank without handlers for payments rejects them, also in the reply to a query', async () => {
  const { post, query } = openBank()
  for (const path of ['/settlements', '/refunds'] as const) {
    const body = bodyOf(path)
    const { uuid, amount } = body
    const rejected = {
      status: 'rejected',
      uuid,
      amount,
      message: expect.stringMatching(/makes no/),
    }
    expect((await post(path, body)).body).toEqual(rejected)
    expect((await query(path, body)).body).toEqual(rejected)
  }
})

describe('the current outcome', () => {
  test('an outcome replaces an accepted reply in queries only', async () => {
    const completed = { status: 'completed', bankReference: 'B-9', fee: '1.50' } as const
    const onQuery = vi.fn(async () => ({ ...completed, approvalMethod: 'ussd' as const }))
    const { post, query } = openBank({ onQuery })
    const body = bodyOf('/submissions')
    await post('/submissions', body)
    expect((await query('/submissions', body)).body).toEqual({
      ...{ status: 'completed', uuid: body.uuid, amount: '100.00', bank_reference: 'B-9' },
      ...{ fee: '1.50', approval_method: 'ussd' },
    })
    expect((await post('/submissions', body)).body).toMatchObject({ status: 'accepted' })
    expect(onQuery.mock.calls).toEqual([[{ kind: 'submission', uuid: body.uuid }]])
  })

  test.each(['/settlements', '/refunds'] as const)(
    'an outcome of %s replaces underway, also in replies to repeats, and the kit queries it until it is final',
    async (path) => {
      let outcome: { status: 'paid'; bankReference: string } | undefined
      const onQuery = vi.fn(() => outcome)
      const onPayment = vi.fn(() => outcome ?? ({ status: 'underway' } as const))
      const { post, query } = openBank({ onQuery, onPayout: onPayment, onRefund: onPayment })
      const body = bodyOf(path)
      expect((await post(path, body)).body).toMatchObject({ status: 'underway' })
      expect((await query(path, body)).body).toMatchObject({ status: 'underway' })
      outcome = { status: 'paid', bankReference: 'P-1' }
      const paid = { status: 'paid', uuid: body.uuid, amount: '100.00', bank_reference: 'P-1' }
      expect((await post(path, body)).body).toEqual(paid)
      expect((await query(path, body)).body).toEqual(paid)
      expect(onPayment).toHaveBeenCalledTimes(1)
      const calls = onQuery.mock.calls.length
      const next = bodyOf(path)
      expect((await post(path, next)).body).toMatchObject({ status: 'paid' })
      expect((await query(path, next)).body).toMatchObject({ status: 'paid' })
      expect(onQuery).toHaveBeenCalledTimes(calls)
    },
  )
})

describe('a signature', () => {
  test('a signature may have any of several secrets', async () => {
    const { post } = openBank({ secret: ['cs_new', SECRET] })
    for (const secret of ['cs_new', SECRET]) {
      expect((await post('/submissions', bodyOf('/submissions'), { secret })).status).toBe(200)
    }
  })

  test.each<[string, Partial<Sent>]>([
    ['with another secret', { secret: 'cs_another' }],
    ['of 301 seconds ago', { seconds: -302 }],
    ['of a future time', { seconds: 302 }],
    ['that is empty', { headers: { 'x-signature': '' } }],
    ['without a timestamp', { headers: { 'x-timestamp': '' } }],
    ['in capitals', { headers: { 'x-signature': 'A'.repeat(64) } }],
  ])('a signature %s is refused without an effect', async (_, change) => {
    const { post, query, onSubmission } = openBank()
    const body = bodyOf('/submissions')
    const headers = { 'x-idempotency-key': body.uuid, ...change.headers }
    expect((await post('/submissions', body, { ...change, headers })).status).toBe(401)
    expect((await query('/submissions', body)).status).toBe(404)
    expect(onSubmission).not.toHaveBeenCalled()
  })

  test.each([[''], [[]], [['cs_new', '']]])(
    'a signature cannot be verified with the secret %j',
    (secret) => {
      expect(() => openBank({ secret })).toThrow(new TypeError('secret is empty'))
    },
  )
})

describe('a request', () => {
  const { uuid } = bodyOf('/submissions')
  test.each<[string, number, Partial<Sent>]>([
    ['to an unknown path', 404, { path: '/other' }],
    ['with an unknown method', 405, { method: 'PUT' }],
    ['that queries without a uuid', 405, { method: 'GET', body: '' }],
    ['that posts to a uuid', 405, { path: `/submissions/${uuid}` }],
    ['without an idempotency key', 400, { headers: {} }],
    ['with another idempotency key', 400, { headers: { 'x-idempotency-key': randomUUID() } }],
    ['without JSON', 400, { body: '{' }],
    ['with null', 400, { body: 'null' }],
    ['without an amount', 400, { body: JSON.stringify({ uuid }) }],
    ['with a number as amount', 400, { body: `{"uuid":"${uuid}","amount":100.00}` }],
    ['above 64 KiB', 413, { body: ' '.repeat(65_537) }],
  ])('a request %s is refused with %i', async (_, status, change) => {
    const { send, onSubmission } = openBank()
    const sent = { method: 'POST', path: '/submissions', headers: { 'x-idempotency-key': uuid } }
    const body = JSON.stringify(bodyOf('/submissions', { uuid }))
    const reply = await send({ ...sent, body, ...change })
    expect(reply).toEqual({ status, body: { error: expect.any(String) } })
    expect(onSubmission).not.toHaveBeenCalled()
  })
})

describe('a handler', () => {
  test('a handler that throws is called again for a repeat', async () => {
    const onSubmission = vi
      .fn<BankServerOptions['onSubmission']>()
      .mockRejectedValueOnce(new Error('no database'))
      .mockResolvedValueOnce({ status: 'rejected', code: 'invalid_account', message: 'No' })
    const { post, query, errors } = openBank({ onSubmission })
    const body = bodyOf('/submissions')
    const failed = { status: 500, body: { error: 'internal error' } }
    expect(await post('/submissions', body)).toEqual(failed)
    expect(errors).toEqual([new Error('no database')])
    expect((await query('/submissions', body)).status).toBe(404)
    expect((await post('/submissions', body)).body).toMatchObject({ code: 'invalid_account' })
    expect(onSubmission).toHaveBeenCalledTimes(2)
  })

  test.each([
    [undefined, /undefined/],
    [{ status: 'accepted' }, 'a submission that is accepted needs bankReference'],
    [{ status: 'rejected', message: 'No' }, 'a submission that is rejected needs code'],
    [{ status: 'accepted', bankReference: 42 }, 'needs bankReference as text'],
    [{ status: 'accepted', bankReference: ' ' }, 'needs bankReference as text'],
    [{ status: 'accepted', bankReference: 'B'.repeat(256) }, 'at most 255 characters'],
    [{ status: 'rejected', code: 'timeout', message: 'No', bankReference: 7 }, 'must be text'],
    [{ status: 'paid', bankReference: 'B-1' }, 'a submission cannot be paid'],
    [{ status: 'toString' }, 'a submission cannot be toString'],
  ])('a handler cannot return %j, which the service would reject', async (result, error) => {
    const onSubmission = async () => result as never
    const { post, query, errors } = openBank({ onSubmission })
    const body = bodyOf('/submissions')
    expect((await post('/submissions', body)).status).toBe(500)
    expect(String(errors)).toMatch(error)
    expect((await query('/submissions', body)).status).toBe(404)
  })

  test('a handler gets the transaction of a durable store, which keeps the reply', async () => {
    const replies = new Map<string, string>()
    const transactions: object[] = []
    const bank = bankServer<{ id: number }>({
      secret: SECRET,
      store: {
        read: (key) => replies.get(key),
        once: async (key, decide) => {
          const reply = replies.get(key) ?? (await decide({ id: replies.size }))
          replies.set(key, reply)
          return reply
        },
      },
      onSubmission: (_, transaction) => {
        transactions.push(transaction)
        return { status: 'accepted', bankReference: 'B-1' }
      },
    })
    const body = bodyOf('/submissions')
    const headers = { 'x-idempotency-key': body.uuid }
    const sent = { method: 'POST', path: '/submissions', body: JSON.stringify(body), headers }
    for (const _ of [1, 2]) expect((await bank.fetch(requestTo(sent))).status).toBe(200)
    expect(transactions).toEqual([{ id: 0 }])
    expect([...replies.keys()]).toEqual([`submission/${body.uuid}`])
  })
})

describe('a listener of node:http', () => {
  const post = async (port: number, sent: Sent) => {
    const { method, headers, url } = requestTo(sent)
    const target = url.replace('127.0.0.1', `127.0.0.1:${port}`)
    const reply = await fetch(target, { method, headers, body: sent.body ?? null })
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
  }

  const sentFor = (body: { uuid: string }): Sent => ({
    method: 'POST',
    path: '/submissions',
    body: JSON.stringify(body),
    headers: { 'x-idempotency-key': body.uuid },
  })

  test('a listener replies like the fetch handler, also to a body above the limit', async () => {
    const { bank } = openBank()
    await whileListening(createServer(bank.node), async (port) => {
      const body = bodyOf('/submissions')
      expect(await post(port, sentFor(body))).toMatchObject({ body: { status: 'accepted' } })
      const query = { method: 'GET', path: `/submissions/${body.uuid}` }
      expect(await post(port, query)).toMatchObject({ status: 200, body: { uuid: body.uuid } })
      const large = { ...body, narration: 'x'.repeat(1_000_000) }
      expect((await post(port, sentFor(large))).status).toBe(413)
    })
  })

  test.each([
    ['raw bytes', (text: string): unknown => Buffer.from(text), 200],
    ['a parsed body', JSON.parse, 500],
  ])('a listener below a parser that leaves %s replies %s', async (_, parse, status) => {
    const { bank, errors } = openBank()
    const server = createServer(async (request, response) => {
      const chunks = await request.toArray()
      const body = parse(Buffer.concat(chunks).toString())
      await bank.node(
        Object.assign(request, { body, originalUrl: request.url, url: '/' }),
        response,
      )
    })
    await whileListening(server, async (port) => {
      expect((await post(port, sentFor(bodyOf('/submissions')))).status).toBe(status)
    })
    expect(String(errors)).toBe(
      status === 200
        ? ''
        : 'TypeError: the body is parsed already: install no parser before the kit',
    )
  })
})
