import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { CHARGE, chargeBody, useService } from '../support/running-service.ts'

/** Outside sandboxes no bank uses the sandbox connector, even if the table says so. */

const service = useService()

const charge = (partner_reference: string = randomUUID()) =>
  service.send('POST', CHARGE, {
    credential: 'sk_sandbox_demo',
    body: chargeBody({ partner_reference }),
  })

beforeAll(async () => {
  expect((await charge()).status).toBe(202)
  vi.stubEnv('SANDBOX_BANK', undefined)
  // Waits until the cache of banks expires.
  await vi.waitFor(async () => expect((await charge()).status).toBe(503), 5_000)
  return () => vi.unstubAllEnvs()
})

describe('a bank with the sandbox connector', () => {
  test('makes a charge fail with 503/2003 and stores nothing', async () => {
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
  ])('cannot be created by an operator: bank %s %o', async (verb, options) => {
    const reply = await service.operate('bank', verb, options as Record<string, string>)
    const isRefused = JSON.stringify(reply).includes('sandbox is for sandboxes only')
    expect(isRefused).toBe('connector' in options)
    if (!isRefused) expect(reply).toMatchObject({ result: { connector: 'none' } })
  })
})
