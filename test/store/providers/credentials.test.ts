import { beforeAll, expect, test } from 'vitest'
import { manageCredential } from '../../../functions/operator/manage-credential.ts'
import { real } from '../../../shared/runtime.ts'
import {
  credentialId,
  findCaller,
  putCredential,
  revokeCredential,
} from '../../../shared/store/providers/credentials.ts'
import { demoProvider, gcb, inSeconds, NOON, still } from '../../support/examples.ts'
import { storeBank, storeProvider } from '../../support/settings.ts'
import { useFreshTable } from '../../support/tables.ts'

const createdAt = NOON.toISOString()
const provider = { kind: 'provider', owner: demoProvider.id, createdAt } as const

beforeAll(async () => {
  await useFreshTable()
  await storeProvider(demoProvider)
  await storeBank(gcb)
})

test('an override of a request limit takes effect within thirty seconds', async () => {
  await putCredential('token-g', provider, [], real)
  const limits = async (at: Date) => (await findCaller('token-g', at))?.limits
  expect(await limits(NOON)).toEqual({})
  await storeProvider({ ...demoProvider, requestLimits: { charge: 5 } })
  expect(await limits(inSeconds(30))).toEqual({ charge: 5 })
  await storeProvider(demoProvider)
})

test('a token is issued once, and its revocation takes effect within thirty seconds', async () => {
  expect(await putCredential('token-d', provider, [], real)).toBe(true)
  expect(await putCredential('token-d', provider, [], real)).toBe(false)
  expect(await findCaller('token-d', NOON)).toBeDefined()
  expect(await revokeCredential(credentialId('token-d'), NOON, [], real)).toBe(true)
  expect(await findCaller('token-d', inSeconds(29))).toBeDefined()
  expect(await findCaller('token-d', inSeconds(30))).toBeUndefined()
  expect(await revokeCredential(credentialId('token-e'), NOON, [], real)).toBe(false)
})

test('a token ends when it expires, cached or not', async () => {
  await putCredential('token-f', { ...provider, expiresOn: inSeconds(60).toISOString() }, [], real)
  expect(await findCaller('token-f', inSeconds(50))).toBeDefined()
  expect(await findCaller('token-f', inSeconds(59))).toBeDefined()
  expect(await findCaller('token-f', inSeconds(60))).toBeUndefined()
})

test('a credential that ends at the time of its issue is refused, and one that ends later is issued', async () => {
  const issue = (at: Date) => {
    const options = { provider: demoProvider.id, 'expires-on': at.toISOString() }
    return manageCredential(still())({ verb: 'issue', options, actor: 'local:ama' })
  }
  expect(await issue(NOON)).toEqual({ error: '--expires-on: has passed' })
  expect(await issue(inSeconds(0.001))).toHaveProperty('result')
})
