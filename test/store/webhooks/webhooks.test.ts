import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeAll, expect, test, vi } from 'vitest'
import { noteSlow } from '../../../shared/domain/webhooks/health.ts'
import { afterPage, automaticRecoveries } from '../../../shared/domain/webhooks/recovery.ts'
import { real } from '../../../shared/runtime.ts'
import { keys } from '../../../shared/store/keys.ts'
import { seal, unseal } from '../../../shared/store/sealing.ts'
import { type Item, read } from '../../../shared/store/table.ts'
import { changeHealth, findHealth, isSlow } from '../../../shared/store/webhooks/health.ts'
import { openRecovery, putPage } from '../../../shared/store/webhooks/recoveries.ts'
import { findWebhook } from '../../../shared/store/webhooks/webhooks.ts'
import { atOnce, inSeconds, NOON, providerId, webhook } from '../../support/examples.ts'
import { storeWebhook } from '../../support/settings.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)
beforeAll(() => {
  process.env.SEALING_KEY = 'a text for tests'
})

const demo = providerId('demo')
const DEMO = { kind: 'webhook', id: 'demo' } as const

test('a webhook is read back with its secrets, which the table has only sealed', async () => {
  const rotating = { ...webhook, previous: { secret: 'whsec_b2xk', until: NOON } }
  await storeWebhook(demo, rotating)
  expect(await findWebhook(demo)).toEqual(rotating)
  expect(JSON.stringify(await read(keys.webhook(demo)))).not.toMatch(/c2VjcmV0|b2xk|whsec/)
  await storeWebhook(demo, webhook)
  expect(await findWebhook(demo)).toEqual(webhook)
})

test('a sealed secret opens only for its owner, with its key, and unchanged', async () => {
  const sealed = await seal('whsec_1', DEMO, real)
  expect(await unseal(sealed, DEMO)).toBe('whsec_1')
  expect(await seal('whsec_1', DEMO, real)).not.toBe(sealed)
  expect(await unseal(sealed, { ...DEMO, id: 'other' })).toBeUndefined()
  expect(await unseal(sealed, { ...DEMO, kind: 'connector' })).toBeUndefined()
  const flipped = Buffer.from(sealed, 'base64')
  flipped[14] = (flipped[14] ?? 0) ^ 1
  expect(await unseal(flipped.toString('base64'), DEMO)).toBeUndefined()
  vi.stubEnv('SEALING_KEY', 'another text')
  expect(await unseal(sealed, DEMO)).toBeUndefined()
  vi.stubEnv('SEALING_KEY', ' a text for tests\n')
  expect(await unseal(sealed, DEMO)).toBe('whsec_1')
})

test('a text that names no version opens with the current or the previous version', async () => {
  const sealed = await seal('whsec_0', DEMO, real)
  expect(sealed).not.toContain(':')
  vi.stubEnv('SEALING_KEY', undefined)
  vi.stubEnv('SEALING_KEY_ARN', 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:key')
  const calls = mockClient(SecretsManagerClient)
  const version = (VersionStage: string, SecretString: string) =>
    calls.on(GetSecretValueCommand, { VersionStage }).resolves({ SecretString })
  vi.stubEnv('CACHE_SECONDS', '0')
  const missing = new ResourceNotFoundException({ message: 'No version', $metadata: {} })
  calls.on(GetSecretValueCommand).rejects(missing)
  expect(await unseal(sealed, DEMO)).toBeUndefined()
  version('AWSCURRENT', 'a new text')
  expect(await unseal(sealed, DEMO)).toBeUndefined()
  version('AWSPREVIOUS', 'a text for tests')
  expect(await unseal(sealed, DEMO)).toBe('whsec_0')
  calls.on(GetSecretValueCommand).rejects(new Error('Access denied'))
  await expect(unseal(sealed, DEMO)).rejects.toThrow('Access denied')
  calls.restore()
})

test('a version of the key is read from Secrets Manager once, and the current one for each new secret', async () => {
  vi.stubEnv('SEALING_KEY', undefined)
  vi.stubEnv('SEALING_KEY_ARN', 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:key')
  const calls = mockClient(SecretsManagerClient)
  calls.on(GetSecretValueCommand).resolves({ SecretString: 'from the manager\n', VersionId: 'v-1' })
  const sealed = [await seal('whsec_2', DEMO, real), await seal('whsec_3', DEMO, real)]
  expect(sealed).toEqual([expect.stringMatching(/^v-1:/), expect.stringMatching(/^v-1:/)])
  for (const text of sealed) expect(await unseal(text, DEMO)).toMatch(/^whsec_[23]$/)
  const versions = calls.commandCalls(GetSecretValueCommand).map(({ args }) => args[0].input)
  expect(versions.map(({ VersionId }) => VersionId)).toEqual([undefined, undefined, 'v-1'])
  vi.stubEnv('SEALING_KEY', 'from the manager')
  expect(await unseal(sealed[0] ?? '', DEMO)).toBe('whsec_2')
  calls.restore()
})

test('a sealing key of white space, and one that does not exist, seal no secret', async () => {
  vi.stubEnv('SEALING_KEY', undefined)
  vi.stubEnv('SEALING_KEY_ARN', 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:key')
  const calls = mockClient(SecretsManagerClient)
  calls.on(GetSecretValueCommand).resolves({ SecretString: ' \n' })
  await expect(seal('whsec_4', DEMO, real)).rejects.toThrow('The sealing key is empty')
  const missing = new ResourceNotFoundException({ message: 'No secret', $metadata: {} })
  calls.on(GetSecretValueCommand).rejects(missing)
  await expect(seal('whsec_4', DEMO, real)).rejects.toThrow('The sealing key does not exist')
  calls.restore()
})

test('no change of the health by twenty concurrent workers is lost', async () => {
  await atOnce(20, (n) =>
    changeHealth(demo, ({ recoveredAt = NOON }) => ({
      recoveredAt: new Date(recoveredAt.getTime() + 2 ** n),
    })),
  )
  const { recoveredAt } = await findHealth(demo)
  expect(recoveredAt?.getTime()).toBe(NOON.getTime() + 2 ** 20 - 1)
})

test('the slow mark is cached for 30 seconds', async () => {
  const provider = providerId('slow')
  expect(await isSlow(provider, NOON)).toBe(false)
  await changeHealth(provider, (health) => noteSlow(health, NOON))
  expect(await isSlow(provider, inSeconds(29))).toBe(false)
  expect(await isSlow(provider, inSeconds(30))).toBe(true)
})

test('a recovery starts once, writes each page once and in order, and is swept until it is done', async () => {
  const page = (isLast = false) => ({ cursor: 'c-1', retried: 50, isLast })
  const item = () => read<Item>(keys.recovery(demo, 'r-1'))
  const [first] = automaticRecoveries({ provider: demo, id: 'r-1', now: NOON })
  expect([await openRecovery(first), await openRecovery(first)]).toEqual([true, false])
  expect(await item()).toMatchObject({
    work: expect.stringMatching(/^WATCH#\d{1,2}$/),
    due: inSeconds(120).toISOString(),
    expiresAt: inSeconds(90 * 86_400).getTime() / 1000,
  })
  const second = afterPage(first, page(), inSeconds(3))
  const last = afterPage(second, page(true), inSeconds(14))
  expect(await putPage(last)).toBe(false)
  expect([await putPage(second), await putPage(second)]).toEqual([true, false])
  expect(await item()).toMatchObject({ due: inSeconds(3 + 10 + 120).toISOString() })
  expect(await putPage(last)).toBe(true)
  expect(await item()).not.toHaveProperty('work')
  expect(await openRecovery(first)).toBe(true)
})
