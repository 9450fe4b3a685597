import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { checkSignature, type SignedRequest } from '../../shared/api/request-signature.ts'
import { rowsOf } from '../support/rows.ts'

const SECRET = 'rs_example'
const NOW = new Date('2025-01-02T10:00:00Z')
const PATH = '/api/v1/payment-providers/debit-requests/charge'
const BODY = '{"amount":100.00,"narration":"Nyansapɔ"}'

const hmac = (text: string, secret = SECRET): string =>
  createHmac('sha256', secret).update(text, 'utf8').digest('hex')

/** Returns a request with a valid signature, then applies the changes. */
const signed = (timestamp = '1735812000', changes: Partial<SignedRequest> = {}): SignedRequest => ({
  method: 'POST',
  targets: [PATH],
  body: Buffer.from(BODY),
  signature: hmac(`POST${PATH}${timestamp}${BODY}`),
  timestamp,
  ...changes,
})

const verdict = (request: SignedRequest, now = NOW, secrets = [SECRET]): string => {
  const refusal = checkSignature(request, secrets, now)
  return refusal ? `${refusal.http}/${refusal.error.code} ${refusal.error.message}` : 'accepted'
}

test('the signature covers method, path, timestamp and raw body in this order', () => {
  expect(verdict(signed())).toBe('accepted')
})

test('the signature covers the query', () => {
  const path = '/api/v1/payment-providers/debit-requests?status=failed&page=2'
  const signature = hmac(`GET${path}1735812000`)
  const request = { ...signed(), method: 'GET', body: Buffer.alloc(0), signature }
  expect(verdict({ ...request, targets: [path] })).toBe('accepted')
  const other = path.replace('page=2', 'page=3')
  expect(verdict({ ...request, targets: [other] })).toBe('401/1401 Invalid HMAC signature')
})

test('a signature over any candidate is accepted', () => {
  const targets = ['/lookup/1?a=b+c', '/lookup/1?a=b%20c']
  for (const path of targets) {
    const request = signed('1735812000', { signature: hmac(`POST${path}1735812000${BODY}`) })
    expect(verdict({ ...request, targets })).toBe('accepted')
  }
})

test('during a rotation both secrets are accepted, and no other', () => {
  for (const secret of ['rs_new', SECRET]) {
    const signature = hmac(`POST${PATH}1735812000${BODY}`, secret)
    const request = signed('1735812000', { signature })
    expect(verdict(request, NOW, ['rs_new', SECRET])).toBe('accepted')
    expect(verdict(request, NOW, ['rs_other'])).toBe('401/1401 Invalid HMAC signature')
  }
})

test.each([
  [undefined, '1735812000', '401/1401 HMAC signature required'],
  ['', '1735812000', '401/1401 HMAC signature required'],
  [undefined, undefined, '401/1401 HMAC signature required'],
  [signed().signature, undefined, '401/1401 Request timestamp required'],
  [signed().signature, '', '401/1401 Request timestamp required'],
])('signature %s with timestamp %s is %s', (signature, timestamp, expected) => {
  expect(verdict({ ...signed(), signature, timestamp })).toBe(expected)
})

const timestamps = rowsOf(`
  1735812000            accepted
  1735811700            accepted
  1735811699            401/1401 Request timestamp expired
  1735812300            accepted
  1735812301            401/1401 Request timestamp expired
  0000000000            401/1401 Request timestamp expired
  9999999999            401/1401 Request timestamp expired
  1735812000000         400/1400 Invalid timestamp format
  173581200             400/1400 Invalid timestamp format
  2025-01-02T10:00:00Z  400/1400 Invalid timestamp format
  1.735812e9            400/1400 Invalid timestamp format
  1735812000.0          400/1400 Invalid timestamp format
  0x67766120            400/1400 Invalid timestamp format
  1735812000a           400/1400 Invalid timestamp format
  +1735812000           400/1400 Invalid timestamp format
  -173581200            400/1400 Invalid timestamp format
  １７３５８１２０００  400/1400 Invalid timestamp format
  ١٧٣٥٨١٢٠٠٠            400/1400 Invalid timestamp format
`)

describe('the timestamp: ten digits of epoch seconds within five minutes', () => {
  test.each(timestamps)('the timestamp %s is %s', (timestamp, expected) => {
    expect(verdict(signed(timestamp))).toBe(expected)
  })

  const spaced = [' 1735812000', '1735812000 ', '1735812000\n']
  test.each(spaced)('the timestamp %j has an invalid format', (timestamp) => {
    expect(verdict(signed(timestamp))).toBe('400/1400 Invalid timestamp format')
  })

  test('a timestamp expires to the millisecond', () => {
    const justOver = new Date(NOW.getTime() + 300_001)
    expect(verdict(signed(), justOver)).toBe('401/1401 Request timestamp expired')
  })
})

const validSignature = signed().signature ?? ''

const wrong: Record<string, Partial<SignedRequest>> = {
  'another secret': { signature: hmac(`POST${PATH}1735812000${BODY}`, 'rs_other') },
  'another method': { method: 'PUT' },
  'another path': { targets: [`${PATH}/`] },
  'no path at all': { targets: [] },
  'another timestamp': { timestamp: '1735812001' },
  'spaces put into the body': { body: Buffer.from(BODY.replace(',', ', ')) },
  'keys of the body in another order': {
    body: Buffer.from('{"narration":"Nyansapɔ","amount":100.00}'),
  },
  'the body in another charset': { body: Buffer.from(BODY, 'utf16le') },
  'no body': { body: Buffer.alloc(0) },
  'upper case': { signature: validSignature.toUpperCase() },
  'a prefix': { signature: `sha256=${validSignature}` },
  base64: { signature: Buffer.from(validSignature, 'hex').toString('base64') },
  'one digit too few': { signature: validSignature.slice(0, -1) },
  'one digit too many': { signature: `${validSignature}0` },
  'no hex after the digits': { signature: `${validSignature}zz` },
  'a letter of two bytes': { signature: `${validSignature.slice(0, -1)}\u{E9}` },
  'no hex at all': { signature: 'z'.repeat(64) },
}

test.each(Object.entries(wrong))('a wrong signature is 401/1401: %s', (_name, changes) => {
  expect(verdict(signed('1735812000', changes))).toBe('401/1401 Invalid HMAC signature')
})

test('a digit cannot move from the path to the timestamp', () => {
  const text = `GET/debit-requests/DCS-20250102-ABC1231735812000`
  const request = { ...signed(), method: 'GET', body: Buffer.alloc(0), signature: hmac(text) }
  const original = { targets: ['/debit-requests/DCS-20250102-ABC123'], timestamp: '1735812000' }
  const shifted = { targets: ['/debit-requests/DCS-20250102-ABC12'], timestamp: '31735812000' }
  expect(verdict({ ...request, ...original })).toBe('accepted')
  expect(verdict({ ...request, ...shifted })).toBe('400/1400 Invalid timestamp format')
})
