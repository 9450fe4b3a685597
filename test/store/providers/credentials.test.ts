import * as v from 'valibot'
import { beforeAll, expect, test } from 'vitest'
import { BankIdentifier } from '../../../shared/domain/banks/bank.ts'
import { real } from '../../../shared/runtime.ts'
import { changeBank } from '../../../shared/store/banks/banks.ts'
import {
  credentialId,
  findCaller,
  findCredential,
  listCredentials,
  putCredential,
  revokeCredential,
} from '../../../shared/store/providers/credentials.ts'
import { changeProvider } from '../../../shared/store/providers/providers.ts'
import { noWrites } from '../../../shared/store/settings.ts'
import { demoProvider, gcb, NOON } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

const createdAt = NOON.toISOString()
const provider = { kind: 'provider', owner: demoProvider.id, createdAt } as const

const later = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1000)

beforeAll(async () => {
  await useFreshTable()
  await changeProvider(demoProvider.id, () => demoProvider, noWrites, real)
  await changeBank(gcb.identifier, () => gcb, noWrites, real)
})

test('a token leads to its caller: a provider with its settings, or a bank', async () => {
  await putCredential('token-a', provider, [], real)
  const owner = v.parse(BankIdentifier, 'GCB')
  await putCredential('token-b', { kind: 'bank', owner, createdAt }, [], real)
  expect(await findCaller('token-a', NOON)).toEqual({
    kind: 'provider',
    provider: demoProvider,
    suspended: false,
    credential: credentialId('token-a'),
    limits: {},
  })
  expect(await findCaller('token-b', NOON)).toEqual({
    kind: 'bank',
    bank: owner,
    suspended: false,
    credential: credentialId('token-b'),
    limits: {},
  })
  expect(await findCaller('token-z', NOON)).toBeUndefined()
})

test('an override of a request limit is in effect after thirty seconds at most', async () => {
  await putCredential('token-g', provider, [], real)
  const limits = async (at: Date) => (await findCaller('token-g', at))?.limits
  expect(await limits(NOON)).toEqual({})
  await changeProvider(
    demoProvider.id,
    () => ({ ...demoProvider, requestLimits: { charge: 5 } }),
    noWrites,
    real,
  )
  expect(await limits(later(30))).toEqual({ charge: 5 })
  await changeProvider(demoProvider.id, () => demoProvider, noWrites, real)
})

test('a token is issued once', async () => {
  expect(await putCredential('token-c', provider, [], real)).toBe(true)
  expect(await putCredential('token-c', provider, [], real)).toBe(false)
})

test('a revocation holds after thirty seconds at most', async () => {
  await putCredential('token-d', provider, [], real)
  expect(await findCaller('token-d', NOON)).toBeDefined()
  expect(await revokeCredential(credentialId('token-d'), NOON, [], real)).toBe(true)
  expect(await findCaller('token-d', later(29))).toBeDefined()
  expect(await findCaller('token-d', later(30))).toBeUndefined()
  expect(await revokeCredential(credentialId('token-e'), NOON, [], real)).toBe(false)
})

test('a token ends when it expires, remembered or not', async () => {
  await putCredential('token-f', { ...provider, expiresOn: later(60).toISOString() }, [], real)
  expect(await findCaller('token-f', later(50))).toBeDefined()
  expect(await findCaller('token-f', later(59))).toBeDefined()
  expect(await findCaller('token-f', later(60))).toBeUndefined()
})

test('an owner’s credentials are listed without their tokens, revoked ones too', async () => {
  const owner = v.parse(BankIdentifier, 'ECO')
  const bank = { kind: 'bank', owner } as const
  await putCredential('token-first', { ...bank, createdAt }, [], real)
  const second = { ...bank, createdAt: later(1).toISOString() }
  await putCredential('token-second', second, [], real)
  await revokeCredential(credentialId('token-first'), later(2), [], real)
  const listed = await listCredentials(bank)
  expect(listed).toEqual([
    {
      ...bank,
      createdAt,
      id: credentialId('token-first'),
      lastCharacters: 'irst',
      revokedAt: later(2).toISOString(),
    },
    { ...second, id: credentialId('token-second'), lastCharacters: 'cond' },
  ])
  expect(await findCredential(credentialId('token-second'))).toEqual(listed[1])
  expect(JSON.stringify(listed)).not.toContain('token-')
})
