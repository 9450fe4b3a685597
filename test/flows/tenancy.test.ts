import { expect, test } from 'vitest'
import { operationNames, operations } from '../../shared/api/operations.ts'
import {
  callbackPath,
  NO_UUID,
  pathOf,
  SILENT,
  statusPath,
  updatePath,
} from '../support/requests.ts'
import { codeOf, textOf, useService } from '../support/running-service.ts'

/** Access to every object with credentials of other owners (docs/api.md#not-found). */

const service = useService()
const ECO = 'bt_sandbox_eco'

test.each(operationNames)('a credential of the other kind gets 401/1401 of %s', async (name) => {
  const { method, caller } = operations[name]
  const { reference, uuid } = await service.charge({ phone_number: SILENT })
  const path = pathOf(name, { reference, uuid })
  const credential = caller === 'bank' ? 'sk_sandbox_demo' : 'bt_sandbox_gcb'
  const body = method === 'GET' ? {} : { body: {} }
  expect(codeOf(await service.send(method, path, { credential, ...body }))).toBe('401/1401')
})

test('an object of another owner gets the same bytes as an unknown one, and does not change', async () => {
  const { reference, uuid } = await service.charge({ phone_number: SILENT })
  const before = (await service.until(reference, 'processing')).history
  const body = { status: 'failed', bank_reference: 'B-1', error_message: 'Declined' }
  const send = (path: string) => service.send('POST', path, { credential: ECO, body })
  for (const pathTo of [updatePath, callbackPath]) {
    const replies = await Promise.all([uuid, NO_UUID, 'not-a-uuid'].map(pathTo).map(send))
    expect(replies.map(codeOf)).toEqual(Array(3).fill('404/1404'))
    expect(new Set(replies.map(textOf)).size).toBe(1)
    expect(replies[0]?.body.error).toMatchObject({ message: 'Transaction not found' })
  }
  expect((await service.show(reference)).history).toEqual(before)
})

test('no header or parameter can extend access', async () => {
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
