import * as v from 'valibot'
import { beforeAll, expect, test } from 'vitest'
import { BankIdentifier } from '../../../shared/domain/banks/bank.ts'
import { real } from '../../../shared/runtime.ts'
import {
  credentialId,
  findCaller,
  findCredential,
  listCredentials,
  putCredential,
  revokeCredential,
} from '../../../shared/store/providers/credentials.ts'
import { demoProvider, gcb, inSeconds, NOON } from '../../support/examples.ts'
import { storeBank, storeProvider } from '../../support/settings.ts'
import { useFreshTable } from '../../support/tables.ts'

const createdAt = NOON.toISOString()
const provider = { kind: 'provider', owner: demoProvider.id, createdAt } as const

beforeAll(async () => {
  await useFreshTable()
  await storeProvider(demoProvider)
  await storeBank(gcb)
})

test('a token identifies its caller: a provider with its settings, or a bank', async () => {
  await putCredential('token-a', provider, [], real)
  const owner = v.parse(BankIdentifier, 'GCB')
  await putCredential('token-b', { kind: 'bank', owner, createdAt }, [], real)
  const caller = (token: string) =>
    expect.objectContaining({ suspended: false, credential: credentialId(token), limits: {} })
  const [one, other] = [await findCaller('token-a', NOON), await findCaller('token-b', NOON)]
  expect(one).toEqual(caller('token-a'))
  expect(one).toMatchObject({ kind: 'provider', provider: demoProvider })
  expect(other).toEqual(caller('token-b'))
  expect(other).toMatchObject({ kind: 'bank', bank: owner })
  expect(await findCaller('token-z', NOON)).toBeUndefined()
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

test('an owner’s credentials are listed without tokens, including revoked ones', async () => {
  const owner = v.parse(BankIdentifier, 'ECO')
  const bank = { kind: 'bank', owner } as const
  await putCredential('token-first', { ...bank, createdAt }, [], real)
  const second = { ...bank, createdAt: inSeconds(1).toISOString() }
  await putCredential('token-second', second, [], real)
  await revokeCredential(credentialId('token-first'), inSeconds(2), [], real)
  const listed = await listCredentials(bank)
  expect(listed).toEqual([
    {
      ...bank,
      createdAt,
      id: credentialId('token-first'),
      lastCharacters: 'irst',
      revokedAt: inSeconds(2).toISOString(),
    },
    { ...second, id: credentialId('token-second'), lastCharacters: 'cond' },
  ])
  expect(await findCredential(credentialId('token-second'))).toEqual(listed[1])
  expect(JSON.stringify(listed)).not.toContain('token-')
})
