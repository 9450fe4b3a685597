import { expect, test } from 'vitest'
import { operationNames, operations } from '../../shared/api/operations.ts'
import {
  callbackPath,
  codeOf,
  type Reply,
  SILENT,
  statusPath,
  textOf,
  updatePath,
  useService,
} from '../support/running-service.ts'

/** Access to every object with credentials of other owners (docs/api.md#not-found). */

const service = useService()
const ECO = 'bt_sandbox_eco'
const NOBODY = '8b3f1f6e-7f0a-4b44-9d6e-1f4f5d1a2b3c'

test.each(operationNames)('%s replies 401/1401 to a credential of the other kind', async (name) => {
  const { method, caller, path: template } = operations[name]
  const { reference, uuid } = await service.charge({ phone_number: SILENT })
  const values = { reference, uuid } as Record<string, string>
  const path = template.replaceAll(/\{(\w+)\}/g, (_, key) => values[key] ?? 'x')
  const credential = caller === 'bank' ? 'sk_sandbox_demo' : 'bt_sandbox_gcb'
  const body = method === 'GET' ? {} : { body: {} }
  expect(codeOf(await service.send(method, path, { credential, ...body }))).toBe('401/1401')
})

test('an object of another owner gets the same bytes as an unknown one, and does not change', async () => {
  const { reference, uuid } = await service.charge({ phone_number: SILENT })
  const before = (await service.until(reference, 'processing')).history
  const body = { status: 'failed', bank_reference: 'B-1', error_message: 'Declined' }
  const send = (path: string) => service.send('POST', path, { credential: ECO, body })
  const pairs: [string, Promise<Reply>[]][] = [
    ['404/1404', [uuid, NOBODY, 'not-a-uuid'].map(updatePath).map(send)],
    ['404/1404', [uuid, NOBODY, 'not-a-uuid'].map(callbackPath).map(send)],
  ]
  for (const [code, requests] of pairs) {
    const replies = await Promise.all(requests)
    expect(replies.map(codeOf)).toEqual(replies.map(() => code))
    expect(new Set(replies.map(textOf)).size).toBe(1)
    expect(replies[0]?.body.error).toMatchObject({ message: 'Transaction not found' })
  }
  expect((await service.show(reference)).history).toEqual(before)
})

test('headers and parameters cannot extend access', async () => {
  const { reference } = await service.charge()
  const headers = {
    ...{ 'X-HTTP-Method-Override': 'DELETE', 'X-Debug': '1', 'X-Request-ID': 'mine' },
    ...{ 'X-Forwarded-For': '203.0.113.7', Forwarded: 'for=203.0.113.7' },
  }
  const send = (credential: string) =>
    service.send('GET', `${statusPath(reference)}?debug=1`, { credential, headers })
  const reply = await send('sk_sandbox_demo')
  expect(reply.status).toBe(200)
  expect(reply.headers.get('x-request-id')).not.toBe('mine')
  expect(codeOf(await send('sk_sandbox_fenced'))).toBe('403/1451')
  for (const method of ['PUT', 'PATCH']) {
    const { status } = await service.send(method, statusPath(reference), { headers })
    expect(status).toBe(405)
  }
})
