import { expect, test, vi } from 'vitest'
import { fingerprint, requestOf } from '../../shared/domain/debits/charge.ts'
import { wholeFacts } from '../../shared/domain/debits/debit.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { keys, sha256 } from '../../shared/store/keys.ts'
import { put, read } from '../../shared/store/table.ts'
import { createProvider } from '../support/provider.ts'
import { CHARGE, chargeBody, FAILS_AT_ONCE, SILENT } from '../support/requests.ts'
import { codeOf, type Reply, testInProcess, useService } from '../support/running-service.ts'

/** A repeated partner_reference (docs/api.md#idempotency). */

const service = useService()

const charge = (body: object, credential = 'sk_sandbox_demo'): Promise<Reply> =>
  service.send('POST', CHARGE, { credential, body })

/** Returns the identity of a charge and whether it is a replay. */
const idsOf = ({ body, headers }: Reply) => [
  body.data.reference,
  body.data.response.uuid,
  headers.get('idempotent-replayed'),
]

test('a charge with the same body in any key order replays the same transaction', async () => {
  const body = chargeBody({ metadata: { a: 1, b: 2 } })
  const [reference, uuid, replayed] = idsOf(await charge(body))
  expect(replayed).toBeNull()
  const reversed = Object.fromEntries(Object.entries(body).reverse())
  const again = await charge({ ...reversed, metadata: { b: 2, a: 1 } })
  expect([again.status, ...idsOf(again)]).toEqual([202, reference, uuid, 'true'])
})

test('a charge with absent, null or empty metadata is the same body, but not of another provider', async () => {
  const body = chargeBody()
  const [reference] = idsOf(await charge(body))
  for (const metadata of [null, {}]) {
    expect(idsOf(await charge({ ...body, metadata }))[0]).toBe(reference)
  }
  const [other, , replayed] = idsOf(await charge(body, 'sk_sandbox_other'))
  expect([other === reference, replayed]).toEqual([false, null])
})

test.each([
  ['return', { amount: '100.01' }],
  ['return', { narration: 'Order 2' }],
  ['reject', {}],
])('a repeat with duplicates: %s and changes %o gets 409/3003', async (duplicates, changes) => {
  const id = `duplicates-${Object.keys(changes)[0] ?? 'none'}`
  const { credential } = await createProvider(service, id, { duplicates })
  const body = chargeBody({ phone_number: SILENT })
  const [reference, uuid] = idsOf(await charge(body, credential))
  await service.until(String(reference), 'processing')
  const other = await charge({ ...body, ...changes }, credential)
  expect(codeOf(other)).toBe('409/3003')
  const details = { reference, uuid, status: 'processing' }
  expect([other.body.details, other.body.error.details]).toEqual([details, details])
})

test('a repeat returns the existing debit although its bank has closed since, and 409 for another body', async () => {
  const bank = { bank: 'TMP', name: 'Closing Bank', connector: 'sandbox' }
  await service.call('bank', 'create', bank)
  const body = chargeBody({ bank_identifier: 'TMP' })
  const [reference] = idsOf(await charge(body))
  await service.call('bank', 'update', { bank: 'TMP', status: 'inactive' })
  expect(codeOf(await charge(chargeBody({ bank_identifier: 'TMP' })))).toBe('402/1402')
  expect(idsOf(await charge(body))[0]).toBe(reference)
  expect(codeOf(await charge({ ...body, amount: '100.01' }))).toBe('409/3003')
})

test('a repeat returns the existing debit with 202 after it failed, and 409 for another body', async () => {
  const body = chargeBody({ phone_number: FAILS_AT_ONCE })
  const [reference, uuid] = idsOf(await charge(body))
  await service.until(String(reference), 'failed')
  const again = await charge(body)
  expect([again.status, ...idsOf(again)]).toEqual([202, reference, uuid, 'true'])
  expect(again.body.data).toMatchObject({ status: 'failed', response: { status: 'failed' } })
  const other = await charge({ ...body, narration: 'Order 2' })
  expect(codeOf(other)).toBe('409/3003')
  expect(other.body.details).toEqual({ reference, uuid, status: 'failed' })
})

test('the claim of a charge reveals no request without its debit, and a claim of an earlier version still replays', async () => {
  const body = chargeBody()
  const [reference] = idsOf(await charge(body))
  const debit = await findDebit(reference as Reference)
  if (!debit) throw new Error('The debit is missing')
  const claim = keys.partnerReference('demo' as ProviderId, body.partner_reference)
  const alone = sha256(fingerprint(requestOf(wholeFacts(debit))))
  // A trial of all numbers would find the customer once the debit has expired.
  expect(await read(claim)).not.toMatchObject({ request: alone })
  await put(claim, 'claim', { reference, request: alone })
  expect(idsOf(await charge(body))).toEqual([reference, debit.facts.uuid, 'true'])
  expect(codeOf(await charge({ ...body, narration: 'Order 2' }))).toBe('409/3003')
})

testInProcess('the reference of a refused charge is free: nothing was stored', async () => {
  const body = chargeBody()
  // Outside sandboxes no bank uses the sandbox connector, even if the table says so.
  vi.stubEnv('SANDBOX_BANK', undefined)
  expect(codeOf(await charge(body))).toBe('503/2003')
  const connector = 'sandbox is for sandboxes only'
  const create = { bank: 'NEW', name: 'New Bank', connector: 'sandbox' }
  expect(await service.refusal('bank', 'create', create)).toContain(connector)
  const update = { bank: 'UMB', connector: 'sandbox' }
  expect(await service.refusal('bank', 'update', update)).toContain(connector)
  const closed = { bank: 'ADB', status: 'inactive' }
  expect(await service.call('bank', 'update', closed)).toMatchObject({ connector: 'none' })
  vi.unstubAllEnvs()
  const again = await charge(body)
  expect([again.status, idsOf(again)[2]]).toEqual([202, null])
})
