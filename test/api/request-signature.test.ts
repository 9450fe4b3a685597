import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkSignature, type SignedRequest } from '../../shared/api/request-signature.ts'
import { rowsOf } from '../support/rows.ts'

const SECRET = 'rs_example'
const NOW = new Date('2025-01-02T10:00:00Z')
const PATH = '/api/v1/payment-providers/debit-requests/charge'
const BODY = '{"amount":100.00,"narration":"Nyansapɔ"}'
const INVALID = '401/1401 Invalid HMAC signature'

const hmac = (text: string, secret = SECRET): string =>
  createHmac('sha256', secret).update(text, 'utf8').digest('hex')

/** Returns a request with a valid signature, then applies the changes. */
const signed = (changes: Partial<SignedRequest> = {}, timestamp = '1735812000'): SignedRequest => ({
  method: 'POST',
  targets: [PATH],
  body: Buffer.from(BODY),
  signature: hmac(`POST${PATH}${timestamp}${BODY}`),
  timestamp,
  ...changes,
})

const resultOf = (request: SignedRequest, now = NOW, secrets = [SECRET]): string => {
  const refusal = checkSignature(request, secrets, now)
  return refusal ? `${refusal.http}/${refusal.error.code} ${refusal.error.message}` : 'accepted'
}

test('the signature covers method, path, query, timestamp and raw body in this order', () => {
  expect(resultOf(signed())).toBe('accepted')
  const path = '/api/v1/payment-providers/debit-requests?status=failed&page=2'
  const get = { method: 'GET', body: Buffer.alloc(0), signature: hmac(`GET${path}1735812000`) }
  expect(resultOf(signed({ ...get, targets: [path] }))).toBe('accepted')
  expect(resultOf(signed({ ...get, targets: [`${path}0`] }))).toBe(INVALID)
})

test('a signature over any candidate is accepted', () => {
  const targets = ['/lookup/1?a=b+c', '/lookup/1?a=b%20c']
  for (const path of targets) {
    const request = signed({ targets, signature: hmac(`POST${path}1735812000${BODY}`) })
    expect(resultOf(request)).toBe('accepted')
  }
})

test('both secrets of a rotation are accepted, and no other', () => {
  for (const secret of ['rs_new', SECRET]) {
    const request = signed({ signature: hmac(`POST${PATH}1735812000${BODY}`, secret) })
    expect(resultOf(request, NOW, ['rs_new', SECRET])).toBe('accepted')
    expect(resultOf(request, NOW, ['rs_other'])).toBe(INVALID)
  }
})

test.each([
  [{ signature: undefined }, '401/1401 HMAC signature required'],
  [{ signature: '' }, '401/1401 HMAC signature required'],
  [{ signature: undefined, timestamp: undefined }, '401/1401 HMAC signature required'],
  [{ timestamp: undefined }, '401/1401 Request timestamp required'],
  [{ timestamp: '' }, '401/1401 Request timestamp required'],
])('a request with %j is %s', (changes, expected) => {
  expect(resultOf(signed(changes))).toBe(expected)
})

const timestamps = rowsOf(`
  accepted                           "1735812000"  "1735811700"  "1735812300"
  401/1401 Request timestamp expired  "1735811699"  "1735812301"  "0000000000"  "9999999999"
  400/1400 Invalid timestamp format  "1735812000000"  "173581200"  "2025-01-02T10:00:00Z"  "1.735812e9"
  400/1400 Invalid timestamp format  "1735812000.0"  "0x67766120"  "1735812000a"  "+1735812000"  "-173581200"
  400/1400 Invalid timestamp format  "１７３５８１２０００"  "١٧٣٥٨١٢٠٠٠"  " 1735812000"  "1735812000 "  "1735812000\\n"
`).flatMap(([expected, ...texts]) => texts.map((text) => [text, expected] as const))

test.each(timestamps)('the timestamp %s is %s', (timestamp, expected) => {
  expect(resultOf(signed({}, JSON.parse(timestamp)))).toBe(expected)
})

test('a timestamp expires to the millisecond', () => {
  const justOver = new Date(NOW.getTime() + 300_001)
  expect(resultOf(signed(), justOver)).toBe('401/1401 Request timestamp expired')
})

const valid = signed().signature ?? ''

const wrong: [string, Partial<SignedRequest>][] = [
  ['another secret', { signature: hmac(`POST${PATH}1735812000${BODY}`, 'rs_other') }],
  ['another method', { method: 'PUT' }],
  ['another path', { targets: [`${PATH}/`] }],
  ['no path at all', { targets: [] }],
  ['another timestamp', { timestamp: '1735812001' }],
  ['spaces put into the body', { body: Buffer.from(BODY.replace(',', ', ')) }],
  ['the body in another charset', { body: Buffer.from(BODY, 'utf16le') }],
  ['no body', { body: Buffer.alloc(0) }],
  ['upper case', { signature: valid.toUpperCase() }],
  ['a prefix', { signature: `sha256=${valid}` }],
  ['base64', { signature: Buffer.from(valid, 'hex').toString('base64') }],
  ['one digit too few', { signature: valid.slice(0, -1) }],
  ['one digit too many', { signature: `${valid}0` }],
  ['no hex after the digits', { signature: `${valid}zz` }],
  ['a letter of two bytes', { signature: `${valid.slice(0, -1)}\u{E9}` }],
  ['no hex at all', { signature: 'z'.repeat(64) }],
]

test.each(wrong)('a wrong signature is 401/1401: %s', (_, changes) => {
  expect(resultOf(signed(changes))).toBe(INVALID)
})

test('a digit cannot move from the path to the timestamp', () => {
  const signature = hmac('GET/debit-requests/DCS-20250102-ABC1231735812000')
  const [path, timestamp] = ['/debit-requests/DCS-20250102-ABC12', '31735812000']
  const request = signed({ method: 'GET', body: Buffer.alloc(0), signature })
  expect(resultOf({ ...request, targets: [`${path}3`] })).toBe('accepted')
  const shifted = resultOf({ ...request, targets: [path], timestamp })
  expect(shifted).toBe('400/1400 Invalid timestamp format')
})
