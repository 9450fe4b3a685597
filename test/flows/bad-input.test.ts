import { afterEach, describe, expect, test, vi } from 'vitest'
import { atOnce } from '../support/examples.ts'
import { createProvider } from '../support/provider.ts'
import { rowsOf } from '../support/rows.ts'
import {
  CHARGE,
  chargeBody,
  codeOf,
  type Reply,
  type RequestOptions,
  SILENT,
  sampleEvent,
  statusPath,
  updatePath,
  useService,
} from '../support/running-service.ts'

/** Invalid requests get their published reply and never a 5xx. */

const service = useService()
const demo = 'sk_sandbox_demo'
afterEach(() => vi.useRealTimers())

const charge = (body: unknown, options: RequestOptions = {}): Promise<Reply> =>
  service.send('POST', CHARGE, { credential: demo, body, ...options })

const expectEnvelope = ({ headers, body }: Reply) => {
  const request_id = headers.get('x-request-id')
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
  expect(body.meta).toEqual({ timestamp, request_id, api_version: 'v1' })
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    expect(headers.get(name), name).toMatch(/^[0-9]+$/)
  }
  expect(body.success).toBe(body.error === undefined)
}

describe('bodies', () => {
  const fields = JSON.stringify(chargeBody())
  const amount = (text: string) => fields.replace('"100.00"', text)
  const invalid = [Buffer.from(fields.slice(0, -2)), Buffer.from([0xff, 0x22, 0x7d])]

  // All forms of JSON: test/api/json-body.test.ts.
  test.each<[string, string | Uint8Array]>([
    ['blanks', '  '],
    ['null', 'null'],
    ['01.00', amount('01.00')],
    ['NaN', amount('NaN')],
    ['two values', `${fields}${fields}`],
    ['a key twice, once escaped', fields.replace('{', '{"\\u0061mount":"1.00",')],
    ['invalid UTF-8', Buffer.concat(invalid)],
    ['a byte order mark', `\ufeff${fields}`],
    ['UTF-16', Buffer.from(fields, 'utf16le')],
    ['over 64 KiB', fields.replace('Order 1', 'x'.repeat(65_536))],
    ['nested 60,000 levels', '['.repeat(60_000)],
    ['flat and wrapped', `{"debit_request":${fields},${fields.slice(1)}`],
  ])('%s gets 400/1400', async (_name, body) => {
    const reply = await charge(body)
    expect(codeOf(reply)).toBe('400/1400')
    expectEnvelope(reply)
  })

  test.each([
    ['Content-Type', 'text/plain', 'Content-Type must be application/json'],
    ['Content-Type', 'multipart/form-data; boundary=x', 'Content-Type must be application/json'],
    ['Content-Type', 'application/json; charset=utf-16', 'charset of Content-Type must be UTF-8'],
    ['Content-Encoding', 'gzip', 'Content-Encoding must be identity or absent'],
  ])('%s %s gets 400/1400 %s', async (name, value, message) => {
    const reply = await charge(fields, { headers: { [name]: value } })
    expect([codeOf(reply), reply.body.details]).toEqual(['400/1400', [message]])
  })

  test('charset="UTF-8" and identity are accepted, two Content-Type headers are not', async () => {
    const type = 'application/json; charset="UTF-8"'
    const headers = { 'Content-Type': type, 'Content-Encoding': 'identity' }
    expect((await charge(chargeBody(), { headers })).status).toBe(202)
    const sample = await sampleEvent('charge')
    const twice = { ...(sample.multiValueHeaders as object), 'content-type': ['text/plain'] }
    const reply = await service.invoke('charge', { ...sample, multiValueHeaders: twice })
    const body = expect.stringContaining('Content-Type must be given once')
    expect(reply).toMatchObject({ statusCode: 400, body })
  })
})

describe('fields of a charge', () => {
  const names = ['amount', 'bank_identifier', 'currency', 'narration', 'partner_reference']
  const required = [...names, 'phone_number']

  test.each(required)('%s is required and a string, and is named in both places', async (name) => {
    const { [name as 'amount']: _, ...without } = chargeBody()
    for (const body of [without, chargeBody({ [name]: null })]) {
      const reply = await charge(body)
      const details = { [name]: ['is required'] }
      expect(codeOf(reply)).toBe('422/1007')
      expect([reply.body.details, reply.body.error.details]).toEqual([details, details])
      expectEnvelope(reply)
    }
    for (const wrong of [12, true, [], {}].slice(name === 'amount' ? 1 : 0)) {
      const reply = await charge(chargeBody({ [name]: wrong }))
      expect(codeOf(reply), JSON.stringify(wrong)).toBe('422/1007')
      expect(Object.keys(reply.body.details)).toEqual([name])
    }
  })

  test('a charge without any field names all of them', async () => {
    expect(Object.keys((await charge({})).body.details).sort()).toEqual(required)
  })

  const E = (count: number) => `"${'é'.repeat(count)}"`
  const values = rowsOf(`
    202       amount  100.00  1.00  10000.00  "50.00"
    400/3007  amount  100  100.5  100.000  1e2  1.00e2  0.50  0.99  -5.00  -0.00  10000.01  99999.00
    400/3007  amount  9007199254740993.00  1e400  "\\u0020100.00"  "1e2"
    400/3004  currency  "ghs"  "NGN"  "GHS\\u0020"
    402/1402  bank_identifier  "gcb"  "XXXX"  "NIB"  "${'G'.repeat(10_000)}"
    503/2003  bank_identifier  "UMB"
    422/1007  phone_number  "233241234567"  "+233 24 123 4567"  "+234801234567"  "+233241234567\\n"
    202       narration  ${E(100)}  "<b>bold</b>\\r\\nsecond line"
    422/1007  narration  ${E(101)}  ""  "nul\\u0000"  "\\ud800"
    202       partner_reference  "a/../b#%23|\u{1F600}"
    422/1007  partner_reference  "${'x'.repeat(51)}"  "\\u0020\\u0020"
    202       metadata  {"id":9007199254740991,"rate":0.1,"sum":1e3,"large":1E22}
    422/1007  metadata  "text"  []  {"id":9007199254740993}  {"list":[{"endless":1e400}]}  {"l":[1e400,1]}
    422/1007  metadata  {"l":[9007199254740993,1]}  {"l":[{"a":9007199254740993},{"a":1}]}
    422/1007  metadata  {"a.b":9007199254740993,"a":{"b":1}}  {"note":"\\u202egnp"}
    422/1007  metadata  {"a":{"__proto__":{"admin":true}}}  {"constructor":{"prototype":1}}
    422/1007  metadata  {"text":"${'x'.repeat(8 * 1024)}"}
  `).flatMap(([code = '', field = '', ...texts]) => texts.map((text) => [field, text, code]))

  test('each value gets its published reply', async () => {
    const { credential } = await createProvider(service, 'values')
    const replies = await Promise.all(
      values.map(async ([field = '', value = '']) => {
        const text = JSON.stringify(chargeBody({ [field]: '@' })).replace('"@"', () => value)
        return [field, value, codeOf(await charge(text, { credential }))]
      }),
    )
    expect(replies).toEqual(values)
  })

  test('an amount above the maximum of the bank gets 400/3005 with the maximum', async () => {
    const cal = (amount: string) => charge(chargeBody({ bank_identifier: 'CAL', amount }))
    expect((await cal('500.00')).status).toBe(202)
    const above = await cal('500.01')
    expect(codeOf(above)).toBe('400/3005')
    const amount = ["exceeds the bank's maximum"]
    expect(above.body.details).toEqual({ amount, limit: 'bank', maximum: '500.00' })
  })

  test('an amount above the remaining daily limit gets 400/3005 with the remainder and the reset time', async () => {
    const limit = { 'daily-limit': '112.00' }
    const { credential } = await createProvider(service, 'daily', limit)
    const body = chargeBody({ phone_number: SILENT })
    expect((await charge(body, { credential })).status).toBe(202)
    const above = await charge(chargeBody({ amount: '12.01' }), { credential })
    expect(codeOf(above)).toBe('400/3005')
    const midnight = new Date(`${above.body.meta.timestamp.slice(0, 10)}T24:00:00Z`)
    expect(above.body.details).toEqual({
      ...{ amount: ['exceeds the remaining daily limit'], limit: 'daily', remaining: '12.00' },
      resets_at: midnight.toISOString(),
    })
  })

  test('fields that the caller must not set are ignored', async () => {
    const mine = { status: 'completed', reference: 'X', uuid: 'Y', fee: '0.00', id: 1 }
    const { data } = (await charge(chargeBody(mine))).body
    expect([data.status, data.reference.slice(0, 4)]).toEqual(['pending', 'DCS-'])
  })
})

describe('get-debit-request', () => {
  test.each([
    ['one reference in any spelling', ['DCS-20261121-000000', '%44CS%2d20261121-000000'], 'GET'],
    ['GET and HEAD', ['DCS-20261121-111111'], 'HEAD'],
  ])('gets 429 above 60 a minute for %s', async (_name, paths, method) => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    const { credential } = await createProvider(service, `reads-${method.toLowerCase()}`)
    const replies = await atOnce(61, (n) => {
      const path = statusPath(paths[n % paths.length] ?? '')
      return service.send(n % 2 ? method : 'GET', path, { credential })
    })
    const statuses = replies.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(60).fill(404), 429])
  })

  test('of unknown, foreign and malformed references gets the same 404/3404', async () => {
    const { reference } = await service.charge()
    const malformed = ['nonsense', '%00', '%ff', '..%2f..%2f', 'x%0d%0aX-Injected:%201']
    const paths = [reference, 'DCS-20261121-ZZZZZZ', ...malformed, 'x'.repeat(3_000)]
    const message = 'Transaction not found'
    const error = { code: 3404, message, category: 'transactions', severity: 'low' }
    for (const path of paths) {
      const reply = await service.get(statusPath(path), 'sk_sandbox_other')
      expect(reply.status, path).toBe(404)
      expect({ ...reply.body, meta: undefined }).toEqual({ success: false, error })
      expectEnvelope(reply)
    }
  })
})

test('update-debit-transaction names each invalid field with 422/1007', async () => {
  const { uuid } = await service.charge({ phone_number: SILENT })
  const reports: [string, object][] = [
    ['status', { status: 'processing' }],
    ['status', { status: 'COMPLETED' }],
    ['bank_reference', { bank_reference: undefined }],
    ['error_message', { status: 'failed' }],
    ['approval_method', { approval_method: 'fax' }],
    ['fee', { fee: '-0.01' }],
    ['metadata', { metadata: 'x' }],
  ]
  for (const [field, fields] of reports) {
    const body = { status: 'completed', bank_reference: 'B', ...fields }
    const options = { credential: 'bt_sandbox_gcb', body }
    const reply = await service.send('POST', updatePath(uuid), options)
    expect([codeOf(reply), ...Object.keys(reply.body.details)]).toEqual(['422/1007', field])
  }
})

const phone = 'phone_number=%2B233241234567'

test.each([
  ['payment-providers/debit-requests', 'status=pending&status=pending', 'status'],
  ['payment-providers/debit-requests', 'status[]=pending', 'status'],
  ['payment-providers/banks', 'per_page=2&per_page=2', 'per_page'],
  ['banks/debit-transactions', `${phone}&${phone}`, 'phone_number'],
  ['banks/debit-transactions', `${phone}&status=all&status=all`, 'status_filter'],
])('a repeated parameter gets 422/1007, must be given once: %s?%s', async (path, query, name) => {
  const credential = path.startsWith('banks') ? 'bt_sandbox_gcb' : demo
  const reply = await service.get(`/api/v1/${path}?${query}`, credential)
  expect(codeOf(reply)).toBe('422/1007')
  expect(reply.body.details).toEqual({ [name]: ['must be given once'] })
})

test.each([
  ['GET', '/api/v1/nothing', '404/1404', null],
  ['POST', `${CHARGE}/`, '404/1404', null],
  ['DELETE', CHARGE, '405/1405', 'POST'],
  ['DELETE', '/api/v1/payment-providers/banks', '405/1405', 'GET, HEAD'],
  ['OPTIONS', statusPath('x'), '405/1405', 'GET, HEAD'],
])('%s %s gets %s without a credential', async (method, path, code, allow) => {
  const reply = await service.send(method, path)
  expect([codeOf(reply), reply.headers.get('allow')]).toEqual([code, allow])
  expectEnvelope(reply)
})
