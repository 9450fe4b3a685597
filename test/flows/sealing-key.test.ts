import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Provider, ProviderId } from '../../shared/domain/providers/provider.ts'
import { log } from '../../shared/log.ts'
import { keys } from '../../shared/store/keys.ts'
import { type Item, read, table, tableName } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { providerId } from '../support/examples.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { type Received, verifies } from '../support/receiver.ts'
import { sign } from '../support/requests.ts'
import { codeOf, testInProcess, useService } from '../support/running-service.ts'
import { useSubscribers } from '../support/subscriber.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

/** Rotation, loss and recovery of the sealing key (docs/operations.md#rotate-the-sealing-key). */

const service = useService()
const bank = useHttpBank(service)
const subscribers = useSubscribers(service)

const BANKS = '/api/v1/payment-providers/banks'
const AT_BANK = { bank_identifier: 'HTB', amount: '1.00' }
const RS = 'rs_sandbox_signed'

let secret = ''
let subscriber: Awaited<ReturnType<typeof subscribers.create>>

beforeAll(async () => {
  subscriber = await subscribers.create('sealed')
  secret = (await subscriber.set({ events: 'transaction.created' })).secret
})

const secretsManager = () => new SecretsManagerClient()
const SecretId = 'sealing-key'
const current = async () => {
  const { VersionId = '', SecretString = '' } = await secretsManager().send(
    new GetSecretValueCommand({ SecretId }),
  )
  return { VersionId, SecretString }
}
const put = async (SecretString: string, more = {}): Promise<string> => {
  const command = new PutSecretValueCommand({ SecretId, SecretString, ...more })
  return (await secretsManager().send(command)).VersionId ?? ''
}
const label = async (VersionId: string): Promise<void> => {
  const VersionStage = `key-${VersionId}`
  const input = { SecretId, VersionStage, MoveToVersionId: VersionId }
  await secretsManager().send(new UpdateSecretVersionStageCommand(input))
}
const unlabel = async (VersionId: string): Promise<void> => {
  const VersionStage = `key-${VersionId}`
  const input = { SecretId, VersionStage, RemoveFromVersionId: VersionId }
  await secretsManager().send(new UpdateSecretVersionStageCommand(input))
}
/** Labels the current version and creates another, as the runbook does. */
const rotate = async (): Promise<string> => {
  const { VersionId } = await current()
  await label(VersionId)
  await put(`another key ${Math.random()}\n`)
  return VersionId
}
/** Secrets Manager deletes a version without a label: the second one takes that of the first. */
const lose = async (): Promise<void> => {
  for (const n of [1, 2]) await put(`a key of another stage ${n} ${Math.random()}`)
}
const reseal = () => service.call('secret', 'reseal')

/** The versions that the sealed texts of the table name. */
const versionsInTable = async (): Promise<string[]> => {
  const text = JSON.stringify(await service.items())
  return [...text.matchAll(/"([\w-]{36}):[A-Za-z0-9+/=]{40,}"/g)].map(([, version = '']) => version)
}

const signedRequest = async (key = RS) =>
  codeOf(
    await service.send('GET', BANKS, {
      credential: 'sk_sandbox_signed',
      headers: sign({ path: BANKS, secret: key }),
    }),
  )

/** Charges a customer of the bank, and returns its uuid once the bank has accepted the submission. */
const chargeAtBank = async (): Promise<string> => {
  const { uuid } = await service.charge(AT_BANK)
  await eventually(() => expect(bank.made).toContain(uuid))
  return uuid
}

const lastEvent = async (): Promise<Received> => {
  const reference = await subscriber.provider.charge()
  const [event] = await subscribers.receiver.events(reference, 1)
  return event as Received
}

const expectAllToWork = async (webhookSecret = secret) => {
  expect(verifies(await lastEvent(), webhookSecret)).toBe(true)
  await chargeAtBank()
  expect(await signedRequest()).toBe('200')
}

testInProcess('a reseal uses the current key, whatever is cached', async () => {
  vi.stubEnv('CACHE_SECONDS', '30')
  await reseal()
  await rotate()
  await reseal()
  expect(new Set(await versionsInTable())).toEqual(new Set([(await current()).VersionId]))
})

testInProcess.each([
  [
    'provider update',
    () => service.call('provider', 'update', { provider: 'signed', name: 'Signed' }),
    keys.provider('signed' as ProviderId),
  ],
  [
    'webhook set',
    () => subscriber.set({ events: 'transaction.created', timeout: '20' }),
    keys.webhook('sealed' as ProviderId),
  ],
])(
  'a reseal wins a race with `%s`, which keeps no secret of the old key',
  async (_, change, { pk }) => {
    await rotate()
    let writes = 0
    const stop = aroundTableCalls(async (name, next, text) => {
      const isOfItem =
        /^(?:Put|Update|TransactWrite)$/.test(name) && text().includes(`"pk":"${pk}"`)
      if (isOfItem && ++writes === 1) await reseal()
      return next()
    })
    await change()
    stop()
    // The first one of the change is lost, and repeated after that of the reseal.
    expect(writes).toBe(3)
    expect(new Set(await versionsInTable())).toEqual(new Set([(await current()).VersionId]))
  },
)

test('two rotations in a row lose nothing, and a reseal ends the need for earlier versions', async () => {
  const versions = [await rotate(), await rotate()]
  await expectAllToWork()
  const { resealed, unreadable } = await reseal()
  const { VersionId } = await current()
  const named = await versionsInTable()
  expect([resealed, unreadable]).toEqual([named.length, 0])
  expect(named.length).toBeGreaterThanOrEqual(3)
  expect(new Set(named)).toEqual(new Set([VersionId]))
  for (const version of versions) await unlabel(version)
  await rotate()
  await expectAllToWork()
})

test('a reseal keeps a previous secret that still signs, and drops one whose overlap is over', async () => {
  const { provider } = await subscribers.subscribe('overlaps')
  await provider.webhook('rotate-secret', { 'grace-seconds': '3600' })
  const item = () => read<Item>(keys.webhook('overlaps' as ProviderId))
  const previous = (await item())?.previous as object
  const signing = async () =>
    (
      await read<{ requestSigning: Provider['requestSigning'] }>(
        keys.provider('overlaps' as ProviderId),
      )
    )?.requestSigning?.previous
  for (const _ of [1, 2])
    await service.call('provider', 'rotate-request-secret', { provider: 'overlaps' })
  const until = (await signing())?.until
  await rotate()
  expect(await reseal()).toMatchObject({ unreadable: 0 })
  const kept = await item()
  expect(kept?.previous).toEqual({ ...previous, secret: expect.any(String) })
  expect(kept?.previous).not.toEqual(previous)
  expect(await signing()).toEqual({ secret: expect.any(String), until })
  const Item = { ...kept, previous: { ...previous, until: '2026-01-01T00:00:00.000Z' } }
  await table.send(new PutCommand({ TableName: tableName(), Item }))
  await reseal()
  expect(await item()).not.toHaveProperty('previous')
})

const unlinkable = { phone: '+233245550004', bank: 'GCB' }
const linkCustomer = async () => {
  const holder = { name: 'Abena', 'account-number': '1041005554' }
  await service.call('customer', 'link', { ...unlinkable, ...holder })
  await service.call('customer', 'unlink', unlinkable)
  const { phone } = unlinkable
  return (await service.call('change', 'list', { phone })).length
}

test('the records of a customer are found after rotations of the sealing key', async () => {
  expect(await linkCustomer()).toBe(2)
  const versions = [await rotate(), await rotate()]
  expect(await linkCustomer()).toBe(4)
  await reseal()
  for (const version of [...versions, await rotate()]) await unlabel(version)
  expect(await linkCustomer()).toBe(6)
})

describe('while the sealing key is lost', () => {
  testInProcess(
    'a signed request gets 401, and events and submissions wait until their secrets are replaced',
    async () => {
      await lose()
      const faults = vi.spyOn(log, 'error').mockImplementation(() => undefined)
      const metrics = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
      vi.stubEnv('METRICS_DISABLED', 'false')
      expect(await signedRequest()).toBe('401/1401')
      const reference = await subscriber.provider.charge()
      const { uuid } = await service.charge(AT_BANK)
      const messages = () =>
        faults.mock.calls.map(([, fields]) => (fields as { error: Error }).error.message)
      await eventually(() => {
        expect(messages()).toContain('The webhook secret of sealed cannot be opened')
        expect(messages().join()).toContain('the secret of bank HTB cannot be opened')
        expect(messages()).toContain('The request-signing secret cannot be opened')
      })
      expect((await subscriber.provider.webhook('show')).has_secret).toBe(false)
      expect(await service.refusal('webhook', 'ping', { provider: 'sealed' })).toContain('secret')
      const { resealed, unreadable } = await reseal()
      expect([resealed, unreadable]).toEqual([0, (await versionsInTable()).length])
      vi.unstubAllEnvs()
      const measured = metrics.mock.calls.map(([line]) => String(line))
      metrics.mockRestore()
      for (const owner of ['"provider":"sealed"', '"bank":"HTB"']) {
        const one = measured.find(
          (line) => line.includes(owner) && line.includes('SecretsUnreadable'),
        )
        expect(one, owner).toBeDefined()
      }
      expect(faults.mock.calls.map(([, , figures]) => figures)).toContainEqual({
        SecretsUnreadable: 1,
      })
      faults.mockRestore()

      const rotated = await subscriber.provider.webhook('rotate-secret')
      expect(rotated.previous_until).toBeNull()
      secret = rotated.secret
      await service.call('connector', 'set', { bank: 'HTB', 'connector-secret': bank.secret })
      await service.call('provider', 'update', { provider: 'signed', 'request-secret': RS })
      await service.pass(5)
      const [event] = await subscribers.receiver.events(reference, 1)
      expect(verifies(event as Received, secret)).toBe(true)
      await eventually(() => expect(bank.made).toContain(uuid))
      await expectAllToWork()
    },
    60_000,
  )

  const connected = { connector: 'http', 'connector-url': 'http://127.0.0.1:9/debits' }
  const newSecret = { secret: expect.stringMatching(/^whsec_/) }
  const newConnectorSecret = { connector_secret: expect.any(String) }
  const verbs: [string, Record<string, string>, object][] = [
    ['webhook set', { url: 'http://127.0.0.1:9/new' }, newSecret],
    ['webhook rotate-secret', {}, newSecret],
    ['webhook remove', {}, { removed: true }],
    ['provider update', { 'request-secret': 'rs_new_secret_of_a_test' }, { signs_requests: true }],
    ['provider update', { 'request-secret': 'none' }, { signs_requests: false }],
    ['provider rotate-request-secret', {}, { previous_until: null }],
    ['connector set', { 'connector-secret': 'cs_new_secret_of_a_test' }, { connector: 'http' }],
    ['connector set', { 'connector-url': 'http://127.0.0.1:9/new' }, newConnectorSecret],
    ['connector remove', {}, { connector: 'none' }],
    ['bank update', { 'connector-secret': 'cs_new_secret_of_a_test' }, { status: 'live' }],
    ['bank disable', {}, { status: 'inactive' }],
  ]

  test.each(verbs.map(([words, options, result], n) => [words, options, result, n] as const))(
    'the call `%s` with %j replaces or removes what cannot be opened',
    async (words, options, result, n) => {
      const [noun = '', verb = ''] = words.split(' ')
      const isBank = noun === 'bank' || noun === 'connector'
      const target = isBank ? { bank: `LST${n}` } : { provider: `lost-${n}` }
      const name = { name: 'Lost' }
      if (isBank) await service.call('bank', 'create', { ...target, ...name, ...connected })
      else {
        const signs = { 'request-secret': 'rs_old_secret_of_a_test' }
        await service.call('provider', 'create', { ...target, ...name, ...signs })
        const url = 'http://127.0.0.1:9/old'
        await service.call('webhook', 'set', { ...target, url })
      }
      await lose()
      expect(await service.call(noun, verb, { ...target, ...options })).toMatchObject(result)
    },
  )

  test('a new request secret has no overlap with one that cannot be opened', async () => {
    const provider = 'lost-overlap'
    const secretOf = (age: string) => ({ provider, 'request-secret': `rs_${age}_secret_of_a_test` })
    await service.call('provider', 'create', { name: 'Lost', ...secretOf('old') })
    await lose()
    await service.call('provider', 'update', secretOf('new'))
    const stored = await read<{ requestSigning: object }>(keys.provider(providerId(provider)))
    expect(stored?.requestSigning).toEqual({ secret: expect.any(String) })
  })

  test('a change of a customer is recorded under a new key, and earlier records are not found', async () => {
    await linkCustomer()
    await lose()
    const reading = service.call('change', 'list', { phone: unlinkable.phone })
    await expect(reading).rejects.toThrow('cannot be opened')
    expect(await linkCustomer()).toBe(2)
  })

  testInProcess(
    'a call that shows or erases a customer fails and keeps the key of the hashes, so that it can return',
    async () => {
      const { reference } = await service.charge()
      const { phone } = unlinkable
      const records = await linkCustomer()
      const { VersionId, SecretString } = await current()
      await lose()
      const faults = vi.spyOn(log, 'error').mockImplementation(() => undefined)
      const calls: [string, string, Record<string, string>][] = [
        ['debit', 'show', { reference }],
        ['change', 'list', { phone }],
        ['customer', 'export', { phone }],
        ['customer', 'erase', { phone, reason: 'Request 10' }],
      ]
      for (const call of calls)
        await expect(service.call(...call), call.join(' ')).rejects.toThrow('cannot be opened')
      const figures = faults.mock.calls.map(([, , measured]) => measured)
      expect(figures).toEqual(calls.map(() => ({ SecretsUnreadable: 1 })))
      faults.mockRestore()
      await put(`${SecretString}\n`, { ClientRequestToken: VersionId, VersionStages: ['again'] })
      expect(await service.call('change', 'list', { phone })).toHaveLength(records)
    },
  )

  test('a change of another setting keeps an unreadable secret, so that its key can return', async () => {
    const target = { bank: 'KEPT' }
    await service.call('bank', 'create', { ...target, name: 'Kept', ...connected })
    const { VersionId, SecretString } = await current()
    await lose()
    const updated = await service.call('bank', 'update', { ...target, name: 'Renamed' })
    expect(updated).not.toHaveProperty('connector_secret')
    await put(`${SecretString}\n`, { ClientRequestToken: VersionId, VersionStages: ['again'] })
    const kept = await service.call('connector', 'set', { ...target, ...connected })
    expect(kept).not.toHaveProperty('connector_secret')
  })
})

describe('in another Region', () => {
  test.each([
    ['with the ids of its versions', true],
    ['with other ids', false],
  ])('a copy of the key %s opens every secret', async (_, hasIds) => {
    await service.call('provider', 'update', { provider: 'signed', 'request-secret': RS })
    await service.call('connector', 'set', { bank: 'HTB', 'connector-secret': bank.secret })
    secret = (await subscriber.provider.webhook('rotate-secret', { 'grace-seconds': '0' })).secret
    const { VersionId, SecretString } = await current()
    await lose()
    expect(await signedRequest()).toBe('401/1401')
    // The output of the AWS CLI ends with a line feed.
    await put(`${SecretString}\n`, hasIds ? { ClientRequestToken: VersionId } : {})
    await expectAllToWork()
  })
})

test('a reseal seals the numbers of erased customers again, so that a restore can repeat their erasures', async () => {
  // Replaces the key of the hashes, which tests above have lost.
  await linkCustomer()
  const since = new Date().toISOString()
  await service.call('customer', 'erase', { phone: '+233245550009', reason: 'Request 9' })
  const old = await rotate()
  await reseal()
  await rotate()
  await unlabel(old)
  await service.call('restore', 'begin', { generation: '2' })
  const repeated = await service.call('customer', 'repeat-erasures', { since })
  expect(repeated).toMatchObject({ repeated: 1, unreadable: 0 })
})
