import { beforeAll, describe, expect, test, vi } from 'vitest'
import {
  CHARGE,
  callbackPath,
  chargeBody,
  type Reply,
  SILENT,
  statusPath,
  updatePath,
  useService,
} from '../support/running-service.ts'

/** Access to every object with credentials of other owners (docs/api.md#not-found). */

const service = useService({ timeScale: 60 })

const LISTS = '/api/v1/payment-providers/debit-requests'
const BANKS = '/api/v1/payment-providers/banks'
const BANK_LIST = '/api/v1/banks/debit-transactions'

let reference = ''
let uuid = ''

const send = (method: string, path: string, credential: string, body?: object): Promise<Reply> =>
  service.send(method, path, { credential, body })

beforeAll(async () => {
  ;({ reference, uuid } = await service.charge({ phone_number: SILENT }))
})

const report = { status: 'failed', bank_reference: 'B-1', error_message: 'Declined' }

/** Operations on a debit of demo at GCB: method, path, body and kind of caller. */
const operations = (): [string, string, object | undefined, 'provider' | 'bank'][] => [
  ['POST', CHARGE, chargeBody(), 'provider'],
  ['GET', statusPath(reference), undefined, 'provider'],
  ['GET', `${LISTS}?status=pending`, undefined, 'provider'],
  ['GET', BANKS, undefined, 'provider'],
  ['GET', `${BANKS}/GCB`, undefined, 'provider'],
  ['GET', `${BANKS}/lookup/%2B233241234567`, undefined, 'provider'],
  ['GET', `${BANK_LIST}?phone_number=%2B233244444444&status=all`, undefined, 'bank'],
  ['POST', updatePath(uuid), report, 'bank'],
  ['POST', callbackPath(uuid), { ...report, status: 'approved' }, 'bank'],
]

test('a credential of the other kind gets 401/1401 on every operation, never 403 or 404', async () => {
  for (const [method, path, body, kind] of operations()) {
    const credential = kind === 'provider' ? 'bt_sandbox_gcb' : 'sk_sandbox_demo'
    const reply = await send(method, path, credential, body)
    expect([reply.status, reply.body.error.code], `${method} ${path}`).toEqual([401, 1401])
  }
})

describe('an object of another owner', () => {
  const shown = ({ status, body }: Reply) => JSON.stringify({ status, ...body, meta: undefined })

  const pairs = (): [string, Promise<Reply>, Promise<Reply>][] => {
    const other = 'sk_sandbox_other'
    const eco = 'bt_sandbox_eco'
    const nobody = '8b3f1f6e-7f0a-4b44-9d6e-1f4f5d1a2b3c'
    return [
      [
        'status',
        send('GET', statusPath(reference), other),
        send('GET', statusPath('DCS-20261121-000000'), other),
      ],
      [
        'update',
        send('POST', updatePath(uuid), eco, report),
        send('POST', updatePath(nobody), eco, report),
      ],
      [
        'callback',
        send('POST', callbackPath(uuid), eco, report),
        send('POST', callbackPath(nobody), eco, report),
      ],
    ]
  }

  test('gets the same bytes as an unknown one on every operation', async () => {
    for (const [name, foreign, missing] of pairs()) {
      expect(shown(await foreign), name).toBe(shown(await missing))
      expect((await foreign).status).toBe(404)
    }
  })

  test('is unchanged after these requests', async () => {
    const { body } = await send('GET', statusPath(reference), 'sk_sandbox_demo')
    expect(['pending', 'processing']).toContain(body.data.status)
  })
})

test('two providers can use one partner_reference without seeing each other', async () => {
  const body = chargeBody()
  const replies = await Promise.all(
    ['sk_sandbox_demo', 'sk_sandbox_other'].map((credential) =>
      send('POST', CHARGE, credential, body),
    ),
  )
  expect(replies.map(({ status }) => status)).toEqual([202, 202])
  expect(new Set(replies.map((reply) => reply.body.data.reference)).size).toBe(2)
  expect(replies.some(({ headers }) => headers.has('idempotent-replayed'))).toBe(false)
})

test('a repeated charge returns the existing debit with 202 after it failed', async () => {
  const body = chargeBody({ phone_number: '+233240000001' })
  const first = await send('POST', CHARGE, 'sk_sandbox_demo', body)
  const { reference } = first.body.data
  await vi.waitFor(
    async () => {
      const { body } = await send('GET', statusPath(reference), 'sk_sandbox_demo')
      expect(body.data.status).toBe('failed')
    },
    { timeout: 5_000, interval: 200 },
  )
  const again = await send('POST', CHARGE, 'sk_sandbox_demo', body)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
  expect(again.body.data).toMatchObject({
    reference,
    status: 'failed',
    response: { uuid: first.body.data.response.uuid, status: 'failed' },
  })
  const other = await send('POST', CHARGE, 'sk_sandbox_demo', { ...body, narration: 'Order 2' })
  expect([other.status, other.body.error.code]).toEqual([409, 3003])
  expect(other.body.details).toEqual({
    reference,
    uuid: first.body.data.response.uuid,
    status: 'failed',
  })
})

test('headers and parameters cannot extend access', async () => {
  const headers = {
    'X-HTTP-Method-Override': 'DELETE',
    'X-Debug': '1',
    'X-Request-ID': 'mine',
    'X-Forwarded-For': '203.0.113.7',
  }
  const reply = await service.send('GET', `${statusPath(reference)}?debug=1`, {
    credential: 'sk_sandbox_demo',
    headers,
  })
  expect(reply.status).toBe(200)
  expect(reply.headers.get('x-request-id')).not.toBe('mine')
  for (const method of ['OPTIONS', 'PUT', 'PATCH']) {
    const { status, body } = await send(method, statusPath(reference), 'sk_sandbox_demo')
    expect([status, body.error.code]).toEqual([405, 1405])
  }
})
