import { expect, test } from 'vitest'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { CHARGE, chargeBody, pathOf, sampleEvent, sign } from '../support/requests.ts'
import { rowsOf } from '../support/rows.ts'
import { type Reply, useService } from '../support/running-service.ts'

/** Signed requests of a provider (docs/api.md#request-signing); all forms: test/api. */

const service = useService()
const LIST = '/api/v1/payment-providers/debit-requests'
const BANKS = '/api/v1/payment-providers/banks'
const credential = 'sk_sandbox_signed'

const charge = (body: string): Promise<Reply> => {
  const headers = sign({ method: 'POST', path: CHARGE, body })
  return service.send('POST', CHARGE, { credential, body, headers })
}

const body = JSON.stringify(chargeBody())

test('a signed charge is accepted, and a repeat returns the same debit', async () => {
  const [first, replayed] = [await charge(body), await charge(body)]
  expect([first.status, replayed.status]).toEqual([202, 202])
  expect(replayed.body.data.reference).toBe(first.body.data.reference)
  expect(replayed.headers.get('idempotent-replayed')).toBe('true')
})

test('a base64 body is verified by its bytes', async () => {
  const bytes = JSON.stringify(chargeBody())
  const Authorization = `Bearer ${credential}`
  const type = { 'Content-Type': 'application/json' }
  const flagged = {
    ...(await sampleEvent('charge')),
    ...{
      headers: { Authorization, ...type, ...sign({ method: 'POST', path: CHARGE, body: bytes }) },
      multiValueHeaders: null,
    },
    ...{ body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true },
  }
  expect(await service.invoke('charge', flagged)).toMatchObject({ statusCode: 202 })
})

const targets = rowsOf(`
  ${BANKS}?x=a+b  ${BANKS}?x=a+b1
  ${BANKS}?a=1&b=2&a=3  ${BANKS}?a=1&b=2
  ${LIST}?status=failed  ${LIST}?status=completed
  ${BANKS}/lookup/%2B233241234567  ${BANKS}/lookup/+233241234567
  ${BANKS}/  ${BANKS}
  /${BANKS}  ${BANKS}/
`)

test.each(targets)('the target %s is signed as sent, not as %s', async (path = '', other = '') => {
  const get = async (signed: string) => {
    const headers = sign({ path: signed })
    return (await service.send('GET', path, { credential, headers })).status
  }
  expect([await get(path), await get(other)]).toEqual([200, 401])
})

test('every operation of a provider verifies signatures, also when it replies 404', async () => {
  // Each key has 30 rejections a minute; other tests use some of the common key.
  const { token } = await service.call('credential', 'issue', { provider: 'signed' })
  for (const name of operationNames.filter((name) => operations[name].caller === 'provider')) {
    const [{ method }, path] = [operations[name], pathOf(name)]
    const request = async (secret?: string) => {
      const headers = sign({ method, path, ...(secret && { secret }) })
      return (await service.send(method, path, { credential: token, headers })).status
    }
    expect(await request(), name).not.toBe(401)
    expect(await request('rs_other'), name).toBe(401)
  }
})

test('the secret of a provider is sealed, rotated with an overlap, kept, replaced and removed', async () => {
  const given = 'rs_given_by_the_provider'
  const operate = (verb: string, options: Record<string, string>) =>
    service.call('provider', verb, { provider: 'rotating', ...options })
  const token = 'sk_sandbox_rotating'
  const isAccepted = async (secret?: string) => {
    const headers = secret === undefined ? {} : sign({ path: LIST, secret })
    return (await service.send('GET', LIST, { credential: token, headers })).status !== 401
  }
  const areAccepted = (...secrets: (string | undefined)[]) => Promise.all(secrets.map(isAccepted))
  await operate('create', { name: 'Rotating', 'request-secret': given })
  await service.call('credential', 'issue', { provider: 'rotating', token })
  const stored = JSON.stringify(await service.items())
  expect(stored).toContain('"requestSigning"')
  expect(stored).not.toMatch(/rs_sandbox_signed|rs_given/)
  expect(JSON.stringify(await operate('show', {}))).not.toContain('rs_')

  const { request_secret: first, ...rotation } = await operate('rotate-request-secret', {})
  expect(first).toMatch(/^rs_[A-Za-z0-9_-]{43}$/)
  const previous_until = expect.any(String)
  expect(rotation).toEqual({ provider: 'rotating', previous_until })
  const day = Date.parse(rotation.previous_until) - Date.now()
  expect(Math.abs(day - 86_400_000)).toBeLessThan(60_000)
  expect(await areAccepted(given, first)).toEqual([true, true])
  const second = await operate('rotate-request-secret', { 'grace-seconds': '0' })
  expect(second.previous_until).toBeNull()
  expect(await areAccepted(given, first, second.request_secret)).toEqual([false, false, true])

  await operate('update', { 'request-secret': given })
  const { previous_request_secret_until } = await operate('show', {})
  expect(previous_request_secret_until).not.toBeNull()
  const kept = { previous_request_secret_until, signs_requests: true }
  expect(await operate('update', { 'request-secret': given })).toMatchObject(kept)
  expect(await areAccepted(given, undefined)).toEqual([true, false])
  const removed = { previous_request_secret_until: null, signs_requests: false }
  expect(await operate('update', { 'request-secret': 'none' })).toMatchObject(removed)
  expect(await areAccepted('rs_any', undefined)).toEqual([true, true])
})
