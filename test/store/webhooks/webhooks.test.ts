import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeAll, expect, test } from 'vitest'
import { real } from '../../../shared/runtime.ts'
import { keys } from '../../../shared/store/keys.ts'
import { seal, unseal } from '../../../shared/store/sealing.ts'
import { type Item, read } from '../../../shared/store/table.ts'
import { findWebhook } from '../../../shared/store/webhooks/webhooks.ts'
import { NOON, providerId, webhook } from '../../support/examples.ts'
import { storeWebhook } from '../../support/settings.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)
beforeAll(() => {
  process.env.SEALING_KEY = 'a text for tests'
})

const demo = providerId('demo')

const itemOf = () => read<Item>(keys.webhook(demo))

test('a webhook is read back with its secrets, which the table has only sealed', async () => {
  const rotating = { ...webhook, previous: { secret: 'whsec_b2xk', until: NOON } }
  await storeWebhook(demo, rotating)
  expect(await findWebhook(demo)).toEqual(rotating)
  const item = await itemOf()
  expect(JSON.stringify(item)).not.toMatch(/c2VjcmV0|b2xk|whsec/)
  const { secret, previous } = item as { secret: string; previous: { secret: string } }
  for (const sealed of [secret, previous.secret]) {
    expect(await unseal(sealed, 'demo')).toMatch(/^whsec_/)
    await expect(unseal(sealed, 'other')).rejects.toThrow()
  }
  await storeWebhook(demo, webhook)
  expect(await findWebhook(demo)).toEqual(webhook)
})

test('a sealed secret opens only for its owner, with its key, and unchanged', async () => {
  const sealed = await seal('whsec_1', 'demo', real)
  expect(await unseal(sealed, 'demo')).toBe('whsec_1')
  expect(await seal('whsec_1', 'demo', real)).not.toBe(sealed)
  await expect(unseal(sealed, 'other')).rejects.toThrow()
  const flipped = Buffer.from(sealed, 'base64')
  flipped[14] = (flipped[14] ?? 0) ^ 1
  await expect(unseal(flipped.toString('base64'), 'demo')).rejects.toThrow()
  process.env.SEALING_KEY = 'another text'
  await expect(unseal(sealed, 'demo')).rejects.toThrow()
  process.env.SEALING_KEY = 'a text for tests'
})

test('on AWS the key is read from Secrets Manager once', async () => {
  delete process.env.SEALING_KEY
  process.env.SEALING_KEY_ARN = 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:key'
  const calls = mockClient(SecretsManagerClient)
  calls.on(GetSecretValueCommand).resolves({ SecretString: 'from the manager' })
  const sealed = await seal('whsec_2', 'demo', real)
  expect(await unseal(sealed, 'demo')).toBe('whsec_2')
  expect(calls.commandCalls(GetSecretValueCommand)).toHaveLength(1)
  process.env.SEALING_KEY = 'from the manager'
  expect(await unseal(sealed, 'demo')).toBe('whsec_2')
})
