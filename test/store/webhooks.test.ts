import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeAll, expect, test } from 'vitest'
import type { Webhook } from '../../shared/domain/partner.ts'
import { seal, unseal } from '../../shared/store/sealing.ts'
import { keys, table, tableName } from '../../shared/store/table.ts'
import { findWebhook, putWebhook } from '../../shared/store/webhooks.ts'
import { partnerId } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)
beforeAll(() => {
  process.env.SEALING_KEY = 'a text for tests'
})

const demo = partnerId('demo')

const webhook: Webhook = {
  url: 'https://partner.test/webhooks',
  secret: 'whsec_c2VjcmV0',
  timeoutSeconds: 30,
  connectionTimeoutSeconds: 10,
}

test('a webhook is read back with its secret, which is nowhere in the table', async () => {
  await putWebhook(demo, webhook)
  expect(await findWebhook(demo)).toEqual(webhook)
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: keys.webhook(demo) }),
  )
  expect(JSON.stringify(Item)).not.toContain('c2VjcmV0')
})

test('a sealed secret opens for its owner, under its key, and unchanged', async () => {
  const sealed = await seal('whsec_1', 'demo')
  expect(await unseal(sealed, 'demo')).toBe('whsec_1')
  expect(await seal('whsec_1', 'demo')).not.toBe(sealed)
  await expect(unseal(sealed, 'other')).rejects.toThrow()
  const flipped = Buffer.from(sealed, 'base64')
  flipped[14] = (flipped[14] ?? 0) ^ 1
  await expect(unseal(flipped.toString('base64'), 'demo')).rejects.toThrow()
  process.env.SEALING_KEY = 'another text'
  await expect(unseal(sealed, 'demo')).rejects.toThrow()
  process.env.SEALING_KEY = 'a text for tests'
})

test('on AWS the key comes from Secrets Manager, once for many secrets', async () => {
  delete process.env.SEALING_KEY
  process.env.SEALING_KEY_ARN = 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:key'
  const calls = mockClient(SecretsManagerClient)
  calls.on(GetSecretValueCommand).resolves({ SecretString: 'from the manager' })
  const sealed = await seal('whsec_2', 'demo')
  expect(await unseal(sealed, 'demo')).toBe('whsec_2')
  expect(calls.commandCalls(GetSecretValueCommand)).toHaveLength(1)
  process.env.SEALING_KEY = 'from the manager'
  expect(await unseal(sealed, 'demo')).toBe('whsec_2')
})
