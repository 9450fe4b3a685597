import { describe, expect, test, vi } from 'vitest'
import {
  CHARGE,
  chargeBody,
  type Reply,
  type RequestOptions,
  sampleEvent,
  statusPath,
  updatePath,
  useService,
} from '../support/running-service.ts'

/** Invalid requests get their published reply and never a 5xx. */

const service = useService()
const demo = 'sk_sandbox_demo'

// The sandbox allows 100 charges a minute to each provider.
let providers = 0
const freshProvider = async (settings: Record<string, string> = {}): Promise<string> => {
  providers += 1
  const provider = `fresh-${providers}`
  const token = `sk_sandbox_fresh_${providers}`
  await service.operate('provider', 'create', { provider, name: 'Fresh', ...settings })
  await service.operate('credential', 'issue', { provider, token })
  return token
}

const charge = (body: unknown, options: RequestOptions = {}): Promise<Reply> =>
  service.send('POST', CHARGE, { credential: demo, body, ...options })

const outcome = ({ status, body }: Reply) => `${status}/${body?.error?.code}`

const expectEnvelope = ({ headers, body }: Reply) => {
  expect(body.meta).toEqual({
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    request_id: headers.get('x-request-id'),
    api_version: 'v1',
  })
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    expect(headers.get(name), name).toMatch(/^[0-9]+$/)
  }
  expect(body.success).toBe(body.error === undefined)
}

describe('credentials', () => {
  const authorizations: [string, Record<string, string>][] = [
    ['none', {}],
    ['empty', { Authorization: '' }],
    ['another scheme', { Authorization: 'Basic c2s6c2s=' }],
    ['no token', { Authorization: 'Bearer' }],
    ['two blanks', { Authorization: `Bearer  ${demo}` }],
    ['two tokens', { Authorization: `Bearer ${demo}, Bearer ${demo}` }],
    ['unknown', { Authorization: 'Bearer sk_sandbox_nobody' }],
    ['very long', { Authorization: `Bearer ${'x'.repeat(10_000)}` }],
    ['a bank token', { Authorization: 'Bearer bt_sandbox_gcb' }],
  ]

  test.each(authorizations)(
    'an Authorization header with %s gets 401/1401',
    async (_name, headers) => {
      const reply = await charge(chargeBody(), { credential: undefined, headers })
      expect(outcome(reply)).toBe('401/1401')
      expect(reply.body.error).toMatchObject({
        message: 'Unauthorized',
        category: 'authentication',
      })
      expectEnvelope(reply)
    },
  )

  test('a provider key on a bank operation gets 401/1401 and not 404', async () => {
    const reply = await service.send('POST', updatePath('8b3f1f6e-7f0a-4b44-9d6e-1f4f5d1a2b3c'), {
      credential: demo,
      body: { status: 'completed', bank_reference: 'B' },
    })
    expect(outcome(reply)).toBe('401/1401')
  })

  test('the Token scheme is accepted', async () => {
    const headers = { Authorization: `Token ${demo}` }
    expect((await charge(chargeBody(), { credential: undefined, headers })).status).toBe(202)
  })

  test('a suspended provider gets 403/1403, and an address outside the allow-list gets 403/1451', async () => {
    const suspended = await freshProvider({ status: 'suspended' })
    expect(outcome(await charge(chargeBody(), { credential: suspended }))).toBe('403/1403')
    const fenced = await charge(chargeBody(), {
      credential: 'sk_sandbox_fenced',
      headers: { 'X-Forwarded-For': '203.0.113.7', Forwarded: 'for=203.0.113.7' },
    })
    expect(outcome(fenced)).toBe('403/1451')
  })

  test('a suspended bank gets 403/1403, and an expired token gets 401/1401', async () => {
    const issue = async (bank: string, more: Record<string, string>) => {
      await service.operate('bank', 'create', { bank, name: bank, ...more })
      const token = `bt_sandbox_${bank.toLowerCase()}`
      const expiry = { 'expires-on': '2020-01-01T00:00:00Z' }
      const expires = more.status ? {} : expiry
      await service.operate('credential', 'issue', { bank, token, ...expires })
      return token
    }
    const list = async (credential: string) =>
      outcome(await service.send('GET', '/api/v1/banks/debit-transactions', { credential }))
    expect(await list(await issue('SUSP', { status: 'suspended' }))).toBe('403/1403')
    expect(await list(await issue('EXPD', {}))).toBe('401/1401')
  })

  test('a revoked key is rejected', async () => {
    const token = await freshProvider()
    await service.operate('credential', 'revoke', { token })
    expect(outcome(await charge(chargeBody(), { credential: token }))).toBe('401/1401')
  })

  test('an address that guesses keys gets 401, then 429/1453, and valid keys from it still work', async () => {
    const codes = new Set<string>()
    for (let index = 0; index < 80; index += 1) {
      codes.add(outcome(await charge(chargeBody(), { credential: `sk_sandbox_guess_${index}` })))
    }
    expect([...codes]).toEqual(['401/1401', '429/1453'])
    expect((await charge(chargeBody())).status).toBe(202)
  })
})

describe('bodies', () => {
  const fields = JSON.stringify(chargeBody())
  const bodies: [string, string | Uint8Array][] = [
    ['empty', ''],
    ['blank', '  '],
    ['null', 'null'],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['a number', '1'],
    ['cut off', fields.slice(0, -1)],
    ['two values', `${fields}${fields}`],
    ['a leading zero', fields.replace('"100.00"', '01.00')],
    ['a leading plus', fields.replace('"100.00"', '+1.00')],
    ['no digit before the point', fields.replace('"100.00"', '.50')],
    ['NaN', fields.replace('"100.00"', 'NaN')],
    ['a key twice', fields.replace('{', '{"amount":"1.00",')],
    ['a key twice, once escaped', fields.replace('{', '{"\\u0061mount":"1.00",')],
    [
      'invalid UTF-8',
      Buffer.concat([Buffer.from(fields.slice(0, -2)), Buffer.from([0xff, 0x22, 0x7d])]),
    ],
    ['a byte order mark', `\ufeff${fields}`],
    ['UTF-16', Buffer.from(fields, 'utf16le')],
    ['over 64 KiB', fields.replace('Order 1', 'x'.repeat(65_536))],
    ['nested too deeply', `${'['.repeat(40)}${']'.repeat(40)}`],
    ['nested beyond all measure', '['.repeat(60_000)],
    ['flat and wrapped', `{"debit_request":${fields},${fields.slice(1)}`],
  ]

  test.each(bodies)('%s: 400/1400', async (_name, body) => {
    const reply = await charge(body)
    expect(outcome(reply)).toBe('400/1400')
    expectEnvelope(reply)
  })

  test.each([
    ['Content-Type', 'text/plain', 'Content-Type must be application/json'],
    ['Content-Type', 'multipart/form-data; boundary=x', 'Content-Type must be application/json'],
    ['Content-Type', 'application/json; charset=utf-16', 'charset of Content-Type must be UTF-8'],
    ['Content-Encoding', 'gzip', 'Content-Encoding must be identity or absent'],
  ])('%s %s: 400/1400 %s', async (name, value, message) => {
    const reply = await charge(fields, { headers: { [name]: value } })
    expect(outcome(reply)).toBe('400/1400')
    expect(reply.body.details).toEqual([message])
  })

  test('charset="UTF-8" and Content-Encoding: identity are accepted', async () => {
    const headers = {
      'Content-Type': 'application/json; charset="UTF-8"',
      'Content-Encoding': 'identity',
    }
    expect((await charge(chargeBody(), { headers })).status).toBe(202)
  })

  test('two Content-Type headers get 400/1400', async () => {
    const sample = await sampleEvent('charge')
    const headers = { ...(sample.multiValueHeaders as object), 'content-type': ['text/plain'] }
    const event = { ...sample, multiValueHeaders: headers }
    expect(await service.invoke('charge', event)).toMatchObject({
      statusCode: 400,
      body: expect.stringContaining('Content-Type must be given once'),
    })
  })
})

describe('fields of a charge', () => {
  const without = (name: string) =>
    Object.fromEntries(Object.entries(chargeBody()).filter(([key]) => key !== name))

  test.each([
    'phone_number',
    'bank_identifier',
    'amount',
    'currency',
    'narration',
    'partner_reference',
  ])('a charge without %s gets 422/1007 with the field in both published places', async (name) => {
    const credential = await freshProvider()
    for (const body of [without(name), chargeBody({ [name]: null })]) {
      const reply = await charge(body, { credential })
      expect(outcome(reply)).toBe('422/1007')
      expect(reply.body.details).toEqual({ [name]: ['is required'] })
      expect(reply.body.error.details).toEqual({ [name]: ['is required'] })
      expectEnvelope(reply)
    }
    for (const wrong of [12, true, [], {}]) {
      if (name === 'amount' && wrong === 12) continue
      const reply = await charge(chargeBody({ [name]: wrong }), { credential })
      expect(outcome(reply), JSON.stringify(wrong)).toBe('422/1007')
      expect(Object.keys(reply.body.details)).toEqual([name])
    }
  })

  test('a charge without any field names all of them', async () => {
    const { body } = await charge({})
    expect(Object.keys(body.details).sort()).toEqual([
      'amount',
      'bank_identifier',
      'currency',
      'narration',
      'partner_reference',
      'phone_number',
    ])
  })

  const values: [string, string, string][] = [
    // field, value as JSON, reply
    ['amount', '100.00', '202'],
    ['amount', '1.00', '202'],
    ['amount', '10000.00', '202'],
    ['amount', '"50.00"', '202'],
    ['amount', '100', '400/3007'],
    ['amount', '100.5', '400/3007'],
    ['amount', '100.000', '400/3007'],
    ['amount', '1e2', '400/3007'],
    ['amount', '1.00e2', '400/3007'],
    ['amount', '0.50', '400/3007'],
    ['amount', '0.99', '400/3007'],
    ['amount', '-5.00', '400/3007'],
    ['amount', '-0.00', '400/3007'],
    ['amount', '10000.01', '400/3007'],
    ['amount', '99999.00', '400/3007'],
    ['amount', '9007199254740993.00', '400/3007'],
    ['amount', '1e400', '400/3007'],
    ['amount', '" 100.00"', '400/3007'],
    ['amount', '"1e2"', '400/3007'],
    ['currency', '"ghs"', '400/3004'],
    ['currency', '"NGN"', '400/3004'],
    ['currency', '"GHS "', '400/3004'],
    ['bank_identifier', '"gcb"', '402/1402'],
    ['bank_identifier', '"XXXX"', '402/1402'],
    ['bank_identifier', '"NIB"', '402/1402'],
    ['bank_identifier', `"${'G'.repeat(10_000)}"`, '402/1402'],
    ['bank_identifier', '"UMB"', '503/2003'],
    ['phone_number', '"233241234567"', '422/1007'],
    ['phone_number', '"+233 24 123 4567"', '422/1007'],
    ['phone_number', '"+234801234567"', '422/1007'],
    ['phone_number', '"+233241234567\\n"', '422/1007'],
    ['narration', `"${'é'.repeat(100)}"`, '202'],
    ['narration', `"${'é'.repeat(101)}"`, '422/1007'],
    ['narration', '""', '422/1007'],
    ['narration', '"<b>bold</b>\\r\\nsecond line"', '202'],
    ['narration', '"nul\\u0000"', '422/1007'],
    ['narration', '"\\ud800"', '422/1007'],
    ['partner_reference', `"${'x'.repeat(51)}"`, '422/1007'],
    ['partner_reference', '"   "', '422/1007'],
    ['partner_reference', '"a/../b#%23|\u{1F600}"', '202'],
    ['metadata', '"text"', '422/1007'],
    ['metadata', '{"id":9007199254740993}', '422/1007'],
    ['metadata', '{"list":[{"endless":1e400}]}', '422/1007'],
    ['metadata', '{"l":[9007199254740993,1]}', '422/1007'],
    ['metadata', '{"l":[{"a":9007199254740993},{"a":1}]}', '422/1007'],
    ['metadata', '{"a.b":9007199254740993,"a":{"b":1}}', '422/1007'],
    ['metadata', '{"l":[1e400,1]}', '422/1007'],
    ['metadata', '{"id":9007199254740991,"rate":0.1,"sum":1e3,"large":1E22}', '202'],
    ['metadata', '{"note":"\\u202egnp"}', '422/1007'],
    ['metadata', '[]', '422/1007'],
    ['metadata', '{"a":{"__proto__":{"admin":true}}}', '422/1007'],
    ['metadata', '{"constructor":{"prototype":1}}', '422/1007'],
    ['metadata', `{"text":"${'x'.repeat(8 * 1024)}"}`, '422/1007'],
  ]

  test('each value gets its published reply', async () => {
    const credential = await freshProvider({ 'daily-limit': 'none' })
    const answers = await Promise.all(
      values.map(async ([field, value]) => {
        const text = JSON.stringify(chargeBody({ [field]: '@' })).replace('"@"', () => value)
        const reply = await charge(text, { credential })
        return [field, value, reply.status === 202 ? '202' : outcome(reply)]
      }),
    )
    expect(answers).toEqual(values)
  })

  test('an amount above the maximum of the bank gets 400/3005 with the maximum', async () => {
    const at = await charge(chargeBody({ bank_identifier: 'CAL', amount: '500.00' }))
    expect(at.status).toBe(202)
    const above = await charge(chargeBody({ bank_identifier: 'CAL', amount: '500.01' }))
    expect(outcome(above)).toBe('400/3005')
    expect(above.body.details).toEqual({
      amount: ["exceeds the bank's maximum"],
      limit: 'bank',
      maximum: '500.00',
    })
  })

  test('an amount above the remaining daily limit gets 400/3005 with the remainder and the reset time', async () => {
    const credential = await freshProvider({ 'daily-limit': '112.00' })
    const accepted = await charge(chargeBody({ phone_number: '+233242222222' }), { credential })
    expect(accepted.status).toBe(202)
    const above = await charge(chargeBody({ amount: '12.01' }), { credential })
    expect(outcome(above)).toBe('400/3005')
    expect(above.body.details).toEqual({
      amount: ['exceeds the remaining daily limit'],
      limit: 'daily',
      remaining: '12.00',
      resets_at: expect.stringMatching(/T00:00:00\.000Z$/),
    })
    const { timestamp } = above.body.meta
    const hours = (Date.parse(above.body.details.resets_at) - Date.parse(timestamp)) / 3_600_000
    expect(hours).toBeGreaterThan(0)
    expect(hours).toBeLessThanOrEqual(24)
  })

  test('fields that the caller must not set are ignored', async () => {
    const { body } = await charge(
      chargeBody({ status: 'completed', reference: 'X', uuid: 'Y', fee: '0.00', id: 1 }),
    )
    expect(body.data.status).toBe('pending')
    expect(body.data.reference).toMatch(/^DCS-/)
  })
})

describe('a repeated partner_reference', () => {
  test('with the same body in any key order replays the same transaction', async () => {
    const body = chargeBody({ metadata: { a: 1, b: 2 } })
    const first = await charge(body)
    const reversed = Object.fromEntries(Object.entries(body).reverse())
    const again = await charge({ ...reversed, metadata: { b: 2, a: 1 } })
    expect(again.status).toBe(202)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(again.body.data.reference).toBe(first.body.data.reference)
    expect(again.body.data.response.uuid).toBe(first.body.data.response.uuid)
  })

  test('treats absent, null and empty metadata as the same body', async () => {
    const body = chargeBody()
    const { reference } = (await charge(body)).body.data
    for (const metadata of [null, {}]) {
      const again = await charge({ ...body, metadata })
      expect([again.status, again.body.data.reference]).toEqual([202, reference])
    }
  })

  test('with a different body gets 409/3003 with the reference, uuid and status of the existing debit', async () => {
    const body = chargeBody({ phone_number: '+233242222222' })
    const { reference, response } = (await charge(body)).body.data
    const other = await charge({ ...body, amount: '100.01' })
    expect(outcome(other)).toBe('409/3003')
    expect(other.body.details).toEqual({ reference, uuid: response.uuid, status: 'pending' })
    expect(other.body.error.details).toEqual(other.body.details)
  })

  test('of twenty concurrent requests creates one debit and gets the same reply twenty times', async () => {
    const credential = await freshProvider()
    const body = chargeBody()
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => charge(body, { credential })),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 202))
    expect(new Set(replies.map(({ body }) => body.data.reference)).size).toBe(1)
    const fresh = replies.filter(({ headers }) => !headers.has('idempotent-replayed'))
    expect(fresh).toHaveLength(1)
  })

  test('gets 409/3003 also for the same body when the provider has duplicates: reject', async () => {
    const credential = await freshProvider({ duplicates: 'reject' })
    const body = chargeBody({ phone_number: '+233242222222' })
    const { reference, response } = (await charge(body, { credential })).body.data
    const again = await charge(body, { credential })
    expect(outcome(again)).toBe('409/3003')
    expect(again.body.details).toEqual({ reference, uuid: response.uuid, status: 'pending' })
  })

  test('returns the existing debit although its bank has closed since', async () => {
    await service.operate('bank', 'create', {
      bank: 'TMP',
      name: 'Closing Bank',
      connector: 'sandbox',
    })
    const body = chargeBody({ bank_identifier: 'TMP' })
    const first = await vi.waitFor(async () => {
      const reply = await charge(body)
      expect(reply.status).toBe(202)
      return reply
    }, 5_000)
    await service.operate('bank', 'update', { bank: 'TMP', status: 'inactive' })
    await expect
      .poll(async () => outcome(await charge(chargeBody({ bank_identifier: 'TMP' }))), {
        timeout: 5_000,
      })
      .toBe('402/1402')
    const again = await charge(body)
    expect(again.status).toBe(202)
    expect(again.body.data.reference).toBe(first.body.data.reference)
  })
})

describe('get-debit-request', () => {
  test('unknown, foreign and malformed references get the same 404/3404', async () => {
    const { body } = await charge(chargeBody())
    const credential = 'sk_sandbox_other'
    const paths = [
      body.data.reference,
      'DCS-20261121-ZZZZZZ',
      'nonsense',
      '%00',
      '%ff',
      '..%2f..%2f',
      'x%0d%0aX-Injected:%201',
      'x'.repeat(3_000),
    ]
    for (const path of paths) {
      const reply = await service.send('GET', statusPath(path), { credential })
      expect(reply.status, path).toBe(404)
      expect({ ...reply.body, meta: undefined }).toEqual({
        success: false,
        error: {
          code: 3404,
          message: 'Transaction not found',
          category: 'transactions',
          severity: 'low',
        },
      })
      expectEnvelope(reply)
    }
  })
})

describe('update-debit-transaction', () => {
  const reports: [string, object, string][] = [
    ['processing', { status: 'processing', bank_reference: 'B' }, 'status'],
    ['reversed', { status: 'reversed', bank_reference: 'B' }, 'status'],
    ['upper case', { status: 'COMPLETED', bank_reference: 'B' }, 'status'],
    ['no bank_reference', { status: 'completed' }, 'bank_reference'],
    ['no error_message', { status: 'failed', bank_reference: 'B' }, 'error_message'],
    [
      'fax',
      { status: 'completed', bank_reference: 'B', approval_method: 'fax' },
      'approval_method',
    ],
    ['a negative fee', { status: 'completed', bank_reference: 'B', fee: '-0.01' }, 'fee'],
    ['metadata as text', { status: 'completed', bank_reference: 'B', metadata: 'x' }, 'metadata'],
  ]

  test('each invalid field gets 422/1007 with its name', async () => {
    const { body } = await charge(chargeBody({ phone_number: '+233244444444' }))
    const { uuid } = body.data.response
    for (const [name, report, field] of reports) {
      const reply = await service.send('POST', updatePath(uuid), {
        credential: 'bt_sandbox_gcb',
        body: report,
      })
      expect(outcome(reply), name).toBe('422/1007')
      expect(Object.keys(reply.body.details), name).toEqual([field])
    }
  })
})

describe('a query parameter that is repeated or a list', () => {
  const phone = 'phone_number=%2B233241234567'
  test.each([
    ['payment-providers/debit-requests', 'status=pending&status=pending', 'status'],
    ['payment-providers/debit-requests', 'status[]=pending', 'status'],
    ['payment-providers/banks', 'per_page=2&per_page=2', 'per_page'],
    ['banks/debit-transactions', `${phone}&${phone}`, 'phone_number'],
    ['banks/debit-transactions', `${phone}&status=all&status=all`, 'status_filter'],
  ])('gets 422/1007, must be given once: %s?%s', async (path, query, name) => {
    const credential = path.startsWith('banks') ? 'bt_sandbox_gcb' : demo
    const reply = await service.send('GET', `/api/v1/${path}?${query}`, { credential })
    expect(outcome(reply)).toBe('422/1007')
    expect(reply.body.details).toEqual({ [name]: ['must be given once'] })
  })
})

describe('a request that matches no operation', () => {
  test('gets 404/1404 for its path or 405/1405 with Allow for its method, without a credential', async () => {
    const unknown = await service.send('GET', '/api/v1/nothing')
    expect(outcome(unknown)).toBe('404/1404')
    expectEnvelope(unknown)
    const wrong = await service.send('DELETE', CHARGE)
    expect(outcome(wrong)).toBe('405/1405')
    expect(wrong.headers.get('allow')).toBe('POST')
    expectEnvelope(wrong)
    const trailing = await service.send('POST', `${CHARGE}/`, { body: chargeBody() })
    expect(outcome(trailing)).toBe('404/1404')
  })

  test('gets 429/1453 above the general limit of its address', async () => {
    // One more than twice the limit, because the run may cross a minute.
    const replies: Reply[] = []
    while (replies.length < 61) replies.push(await service.send('GET', '/api/v1/nothing'))
    expect(new Set(replies.map(outcome))).toEqual(new Set(['404/1404', '429/1453']))
    const over = replies.find(({ status }) => status === 429) as Reply
    expectEnvelope(over)
    expect(over.body.details).toMatchObject({ limit: 30, period: 'minute' })
    expect(replies.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toContain('0')
  })
})

describe('rate limits', () => {
  test('a charge above the published limit gets 429/1456 with Retry-After and details', async () => {
    const credential = await freshProvider({ 'daily-limit': 'none' })
    // A run that crosses a minute is repeated in the next window.
    const burst = () => Promise.all(Array.from({ length: 101 }, () => charge('{}', { credential })))
    const refusals = (await burst()).filter(({ status }) => status === 429)
    const over = refusals[0] ?? (await burst()).find(({ status }) => status === 429)
    expect(over && outcome(over)).toBe('429/1456')
    expect(over?.body.details).toEqual({
      limit: 100,
      period: 'minute',
      retry_after: Number(over?.headers.get('retry-after')),
    })
    expect(over?.headers.get('x-ratelimit-remaining')).toBe('0')
  })

  test('a status read gets 429/1454 above 60 a minute for one reference in any spelling', async () => {
    const credential = await freshProvider()
    const spellings = ['DCS-20261121-000000', 'DCS%2D20261121-000000', '%44CS%2d20261121-000000']
    // One more than twice the limit, because the run may cross a minute.
    const outcomes = new Set<string>()
    for (let wave = 0; wave < 11; wave += 1) {
      const replies = await Promise.all(
        Array.from({ length: 11 }, (_, n) =>
          service.send('GET', statusPath(spellings[n % 3] ?? ''), { credential }),
        ),
      )
      for (const reply of replies) outcomes.add(outcome(reply))
    }
    expect(outcomes).toEqual(new Set(['404/3404', '429/1454']))
  })
})
