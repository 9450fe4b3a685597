import { beforeEach, describe, expect, test, vi } from 'vitest'
import { manageChange } from '../../functions/operator/manage-change.ts'
import { manageProvider } from '../../functions/operator/manage-provider.ts'
import type { OperatorCall } from '../../shared/operator/verbs.ts'
import { real } from '../../shared/runtime.ts'
import { useFreshTable } from '../support/tables.ts'

/** The identity of an operator (docs/operations.md#operators-and-their-changes). */

const userArn = 'arn:aws:sts::123456789012:assumed-role/requesters/ama'
const create = { verb: 'create', options: { provider: 'acme', name: 'Acme' } }

const requestOf = (body: unknown, more: object = {}, method = 'POST') => ({
  requestContext: { http: { method }, authorizer: { iam: { userArn } } },
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...more,
})

const MALFORMED = { error: 'the call must be {"verb": ..., "options": {...}}' }

/** Returns who made the stored changes. */
const authors = async () => {
  const reply = await manageChange(real)(requestOf({ verb: 'list', options: {} }))
  return (reply as { result: { by: string }[] }).result.map(({ by }) => by)
}

describe('on a stage', () => {
  beforeEach(async () => {
    vi.stubEnv('CLAIMED_OPERATORS', 'false')
    await useFreshTable()
  })

  test('the caller is the one that the function URL verified, whatever the body says', async () => {
    const body = { ...create, actor: 'arn:aws:iam::123456789012:user/kofi', approval: 'A' }
    expect(await manageProvider(real)(requestOf(body))).toHaveProperty('result.id', 'acme')
    expect(await authors()).toEqual([userArn])
  })

  test('a body in base64 is read', async () => {
    const body = Buffer.from(JSON.stringify(create)).toString('base64')
    const reply = await manageProvider(real)(requestOf(body, { isBase64Encoded: true }))
    expect(reply).toHaveProperty('result.id', 'acme')
  })

  test('a GET returns the caller and runs nothing', async () => {
    const reply = await manageProvider(real)(requestOf(create, {}, 'GET'))
    expect(reply).toEqual({ result: { caller: userArn } })
    expect(await authors()).toEqual([])
  })

  test.each(['', 'null', '[]', '5', '{"verb":1,"options":{}}', '{"verb":"list"}', '{'])(
    'the body %j is refused',
    async (body) => {
      const reply = await manageProvider(real)(requestOf(body))
      expect(reply).toEqual(MALFORMED)
    },
  )

  test('a direct invocation that names its operator is refused', async () => {
    const reply = await manageProvider(real)({ ...create, actor: userArn })
    expect(reply).toEqual({ error: 'operators call the URL of the function' })
    expect(await authors()).toEqual([])
  })

  test('an imitated event names any caller, so that the policies refuse direct invocations', async () => {
    // test/infra/operator-policies.test.ts evaluates them.
    const kofi = 'arn:aws:sts::123456789012:assumed-role/approvers/kofi'
    const { requestContext, body } = requestOf(create)
    const forged = { ...requestContext, authorizer: { iam: { userArn: kofi } } }
    await manageProvider(real)({ requestContext: forged, body })
    expect(await authors()).toEqual([kofi])
  })

  test('a direct invocation runs nothing but a granted request', async () => {
    const call = { ...create, actor: userArn, approval: '20261122T000000-abcdef' }
    expect(await manageProvider(real)(call)).toEqual({ error: 'no such approval' })
    expect(await authors()).toEqual([])
  })
})

test('a direct invocation names its operator in a sandbox', async () => {
  await useFreshTable()
  const reply = await manageProvider(real)({ ...create, actor: 'local:ama' })
  expect(reply).toHaveProperty('result.id', 'acme')
  expect(await authors()).toEqual(['local:ama'])
})

test.each([null, 5, 'list', { verb: 1, options: {} }, { verb: 'list' }])(
  'a direct invocation with %j is refused',
  async (event) => {
    expect(await manageProvider(real)(event as unknown as OperatorCall)).toEqual(MALFORMED)
  },
)
