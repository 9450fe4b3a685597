import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { CHARGE, chargeBody, useService } from '../support/running-service.ts'

/** Where money is real nobody plays a bank, whatever the table says of one. */

const service = useService()

/** @param partner_reference another one each time, unless it is named */
const charge = (partner_reference: string = randomUUID()) =>
  service.send('POST', CHARGE, {
    credential: 'sk_sandbox_demo',
    body: chargeBody({ partner_reference }),
  })

beforeAll(async () => {
  expect((await charge()).status).toBe(202)
  vi.stubEnv('SANDBOX_BANK', undefined)
  // Until what a warm function remembers of the banks is forgotten.
  await vi.waitFor(async () => expect((await charge()).status).toBe(503), 5_000)
  return () => vi.unstubAllEnvs()
})

describe('a bank that is kept with the connector of the sandbox', () => {
  test('has none: a charge is 503/2003 and leaves nothing behind', async () => {
    const { status, body } = await charge('second')
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 2003 })
    vi.stubEnv('SANDBOX_BANK', 'true')
    await vi.waitFor(async () => expect((await charge()).status).toBe(202), 5_000)
    const again = await charge('second')
    expect(again.status).toBe(202)
    expect(again.headers.get('idempotent-replayed')).toBeNull()
    vi.stubEnv('SANDBOX_BANK', undefined)
  })

  test.each([
    ['create', { bank: 'NEW', name: 'New Bank', connector: 'sandbox' }],
    ['update', { bank: 'UMB', connector: 'sandbox' }],
    ['update', { bank: 'GCB', status: 'inactive' }],
  ])('is made by no operator: bank %s %o', async (verb, options) => {
    const reply = await service.operate('bank', verb, options as Record<string, string>)
    const refused = JSON.stringify(reply).includes('sandbox is for sandboxes only')
    expect(refused).toBe('connector' in options)
    if (!refused) expect(reply).toMatchObject({ result: { connector: 'none' } })
  })
})
