import { afterEach, describe, expect, test, vi } from 'vitest'
import { NO_BANK_FILTER } from '../../shared/domain/debits/list-query.ts'
import { atOnce } from '../support/examples.ts'
import { createProvider } from '../support/provider.ts'
import { CHARGE, chargeBody, SILENT, sampleEvent, statusPath } from '../support/requests.ts'
import { rowsOf } from '../support/rows.ts'
import {
  codeOf,
  isBundled,
  type Reply,
  type RequestOptions,
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

const fields = JSON.stringify(chargeBody())
const invalid = [Buffer.from(fields.slice(0, -2)), Buffer.from([0xff, 0x22, 0x7d])]

// All forms of JSON: test/api/json-body.test.ts.
test.each<[string, string | Uint8Array]>([
  ['blanks', '  '],
  ['null', 'null'],
  ['a key twice, once escaped', fields.replace('{', '{"\\u0061mount":"1.00",')],
  ['invalid UTF-8', Buffer.concat(invalid)],
  ['a byte order mark', `\ufeff${fields}`],
  ['over 64 KiB', fields.replace('Order 1', 'x'.repeat(65_536))],
  ['nested 60,000 levels', '['.repeat(60_000)],
  ['flat and wrapped', `{"debit_request":${fields},${fields.slice(1)}`],
])('a charge with this body gets 400/1400: %s', async (_name, body) => {
  expect(codeOf(await charge(body))).toBe('400/1400')
})

test.each([
  ['Content-Type', 'text/plain', 'Content-Type must be application/json'],
  ['Content-Type', 'multipart/form-data; boundary=x', 'Content-Type must be application/json'],
  ['Content-Type', 'application/json-seq', 'Content-Type must be application/json'],
  ['Content-Type', 'application/json; charset=utf-16', 'charset of Content-Type must be UTF-8'],
  ['Content-Type', 'application/json; charset = "utf-16"', 'charset of Content-Type must be UTF-8'],
  ['Content-Type', 'application/json;v=1;charset=', 'charset of Content-Type must be UTF-8'],
  ['Content-Encoding', 'gzip', 'Content-Encoding must be identity or absent'],
])('a charge with %s %s gets 400/1400 %s', async (name, value, message) => {
  const reply = await charge(fields, { headers: { [name]: value } })
  expect([codeOf(reply), reply.body.details]).toEqual(['400/1400', [message]])
})

test.each([
  ...['application/json; charset="UTF-8"', 'Application/JSON ;charset=utf-8', 'application/json;'],
  ...['application/json; version=1', 'application/json; version=1; charset=utf-8;'],
])('a charge with Content-Type %s and Content-Encoding identity is accepted', async (type) => {
  const headers = { 'Content-Type': type, 'Content-Encoding': 'identity' }
  expect((await charge(chargeBody(), { headers })).status).toBe(202)
})

test('a charge with two Content-Type headers gets 400/1400', async () => {
  const sample = await sampleEvent('charge')
  const twice = { ...(sample.multiValueHeaders as object), 'content-type': ['text/plain'] }
  const reply = await service.invoke('charge', { ...sample, multiValueHeaders: twice })
  const body = expect.stringContaining('Content-Type must be given once')
  expect(reply).toMatchObject({ statusCode: 400, body })
})

test('a charge without any field names all of them, in both places', async () => {
  const names = ['amount', 'bank_identifier', 'currency', 'narration', 'partner_reference']
  const details = Object.fromEntries(
    [...names, 'phone_number'].map((name) => [name, ['is required']]),
  )
  const reply = await charge({})
  expect(codeOf(reply)).toBe('422/1007')
  expect([reply.body.details, reply.body.error.details]).toEqual([details, details])
})

const E = (count: number) => `"${'é'.repeat(count)}"`
// All values of the fields: test/domain.
const values = rowsOf(`
    202       amount  100.00  1.00  10000.00  "50.00"
    400/3007  amount  100  100.5  1e2  0.99  -5.00  10000.01  9007199254740993.00  1e400  "1e2"
    422/1007  amount  null  {}
    400/3004  currency  "ghs"
    402/1402  bank_identifier  "gcb"  "XXXX"  "NIB"  "${'G'.repeat(10_000)}"
    503/2003  bank_identifier  "UMB"
    422/1007  phone_number  "+233 24 123 4567"
    202       narration  ${E(100)}  "<b>bold</b>\\r\\nsecond line"
    422/1007  narration  ${E(101)}  "\\ud800"
    202       partner_reference  "a/../b#%23|\u{1F600}"
    202       metadata  {"id":9007199254740991,"rate":0.1,"sum":1e3,"large":1E22}
    422/1007  metadata  {"id":9007199254740993}  {"a":{"__proto__":{"admin":true}}}
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

test('the first charge of a day may take the whole daily limit', async () => {
  const { credential } = await createProvider(service, 'whole', { 'daily-limit': '112.00' })
  const whole = chargeBody({ amount: '112.00', phone_number: SILENT })
  expect((await charge(whole, { credential })).status).toBe(202)
})

const minuteOf = (at: number): number => Math.floor(at / 60_000)

describe('get-debit-request', () => {
  test.each([
    ['one reference in any spelling', ['DCS-20261121-', '%44CS%2d20261121-'], 'GET'],
    ['GET and HEAD', ['DCS-20261122-'], 'HEAD'],
  ])('a status read gets 429 above 60 a minute for %s', async (_name, days, method) => {
    const { credential } = await createProvider(service, `reads-${method.toLowerCase()}`)
    const readAtOnce = (minute: number) =>
      atOnce(61, (n) => {
        const path = statusPath(`${days[n % days.length]}${String(minute).slice(-6)}`)
        return service.send(n % 2 ? method : 'GET', path, { credential })
      })
    let replies: Awaited<ReturnType<typeof readAtOnce>>
    let minute: number
    // Bundles have their own clock: the reads must not span two minutes.
    do {
      minute = minuteOf(Date.now())
      replies = await readAtOnce(minute)
    } while (minuteOf(Date.now()) !== minute)
    const statuses = replies.map(({ status }) => status).sort()
    const served = statuses.filter((status) => status === 404).length
    expect(statuses).toEqual([...Array(served).fill(404), ...Array(61 - served).fill(429)])
    expect(served).toBeLessThanOrEqual(60)
    // 5 % of the limit may be held by other workers, or by a reply that comes after a later one's.
    expect(served).toBeGreaterThanOrEqual(isBundled ? 57 : 60)
  })

  test('a status read of an unknown, foreign or malformed reference gets the same 404/3404', async () => {
    const { reference } = await service.charge()
    const malformed = ['nonsense', '%00', '%ff', '..%2f..%2f', 'x%0d%0aX-Injected:%201']
    const paths = [reference, 'DCS-20261121-ZZZZZZ', ...malformed, 'x'.repeat(3_000)]
    const message = 'Transaction not found'
    const doc_url = `${service.sandbox().address}/docs/guides/errors#c3404`
    const error = { code: 3404, message, category: 'transactions', severity: 'low', doc_url }
    for (const path of paths) {
      const reply = await service.get(statusPath(path), 'sk_sandbox_other')
      expect({ ...reply.body, meta: reply.status }).toEqual({ success: false, error, meta: 404 })
      expectEnvelope(reply)
    }
  })
})

const [ONCE, PHONE] = ['must be given once', 'phone_number=%2B233241234567']

/** A list, a parameter, its message if it is fixed, and malformed values or whole queries. */
const parameters = rowsOf(`
  debit-requests  status  ${ONCE}  =pending&status=pending  []=pending
  debit-requests  status  -  =nonsense
  debit-requests  created_from  -  =yesterday  =2026-02-30  =2026-11-21T12:00:00
  debit-requests  created_to  -  =9999-12-31T23:59:59-01:00  =2026-11-21&created_from=2026-11-22
  debit-requests  partner_reference  -  =  =a%00b  =${'x'.repeat(51)}
  debit-requests  per_page  -  =101  =0
  debit-requests  page  -  =0  =1000000000
  debit-requests  cursor  -  =x
  banks  per_page  ${ONCE}  =2&per_page=2  []=2
  banks  per_page  -  =0  =-1  =101  =1e3  =20;  =1${'0'.repeat(30)}
  settlements  per_page  ${ONCE}  =2&per_page=2
  settlements  per_page  -  =  =0  =101  =1.5  =all
  settlements  cursor  -  =  =x  =%27  =MjAyNi0xMS0yMQ  =MjAyNi0xMS0yMiMwMDAxIzE
  settlements/x/report  format  ${ONCE}  =json&format=csv
  settlements/x/report  format  -  =xml  =  =CSV
  events  per_page  -  =  =0  =101  =-1  =all
  events  cursor  -  =  =garbage  =MS4  =%27  =-1  =MS4xMDAw  =2026-11-21T12:00:00Z
  events  after  -  =  =garbage  =MS4xMDAw
  debit-transactions  phone_number  ${ONCE}  =%2B1&${PHONE}
  debit-transactions  phone_number  is required  ?page=1
  debit-transactions  customer  account not found  ?phone_number=%2B233249999999
  debit-transactions  status_filter  ${ONCE}  ?${PHONE}&status=all&status=all
  debit-transactions  status_filter  ${NO_BANK_FILTER}  ?${PHONE}&status=pending,failed  ?${PHONE}&status=ALL
  debit-transactions  page  -  =0&${PHONE}
  debit-transactions  per_page  -  =101&${PHONE}
  debit-transactions  cursor  -  =x&${PHONE}
`)

test.each(parameters)('a malformed query of %s gets 422/1007: %s', async (...row) => {
  const [list, field = '', message, ...values] = row
  const texts = [message === '-' ? expect.any(String) : message]
  const [path, credential] =
    list === 'debit-transactions'
      ? ['/api/v1/banks/debit-transactions', 'bt_sandbox_gcb']
      : [`/api/v1/payment-providers/${list}`, 'sk_sandbox_other']
  for (const value of values) {
    const query = value.startsWith('?') ? value : `?${field}${value}`
    const reply = await service.get(path + query, credential)
    expect([codeOf(reply), reply.body.details], query).toEqual(['422/1007', { [field]: texts }])
  }
})

test.each([
  ['GET', '/api/v1/nothing', '404/1404', null],
  ['POST', `${CHARGE}/`, '401/1401', null],
  ['DELETE', `/${CHARGE}/`, '405/1405', 'POST'],
  ['DELETE', CHARGE, '405/1405', 'POST'],
  ['DELETE', '/api/v1/payment-providers/banks', '405/1405', 'GET, HEAD'],
  ['OPTIONS', statusPath('x'), '405/1405', 'GET, HEAD'],
])('the request %s %s gets %s without a credential', async (method, path, code, allow) => {
  const reply = await service.send(method, path)
  expect([codeOf(reply), reply.headers.get('allow')]).toEqual([code, allow])
  expectEnvelope(reply)
})
