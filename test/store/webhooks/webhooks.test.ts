import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import { real } from '../../../shared/runtime.ts'
import { keys } from '../../../shared/store/keys.ts'
import { seal, unseal } from '../../../shared/store/sealing.ts'
import { noWrites } from '../../../shared/store/settings.ts'
import { table, tableName } from '../../../shared/store/table.ts'
import {
  changeWebhook,
  findWebhook,
  removeWebhook,
} from '../../../shared/store/webhooks/webhooks.ts'
import { rotated } from '../../../shared/webhooks/http/rotation.ts'
import { NOON, providerId } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)
beforeAll(() => {
  process.env.SEALING_KEY = 'a text for tests'
})

const demo = providerId('demo')

const webhook: Webhook = {
  url: 'https://provider.test/webhooks',
  secret: 'whsec_c2VjcmV0',
  timeoutSeconds: 30,
  connectionTimeoutSeconds: 10,
}

const itemOf = async (id = demo) =>
  (await table.send(new GetCommand({ TableName: tableName(), Key: keys.webhook(id) }))).Item

test('a webhook is read back with its secrets, which are nowhere in the table', async () => {
  const rotating = { ...webhook, previous: { secret: 'whsec_b2xk', until: NOON } }
  await changeWebhook(demo, () => rotating, noWrites, real)
  expect(await findWebhook(demo)).toEqual(rotating)
  expect(JSON.stringify(await itemOf())).not.toMatch(/c2VjcmV0|b2xk|whsec/)
  await changeWebhook(demo, () => webhook, noWrites, real)
  expect(await findWebhook(demo)).toEqual(webhook)
})

test('both secrets open for their owner alone', async () => {
  await changeWebhook(
    demo,
    () => ({ ...webhook, previous: { secret: 'whsec_1', until: NOON } }),
    noWrites,
    real,
  )
  const { secret, previous } = (await itemOf()) as { secret: string; previous: { secret: string } }
  for (const sealed of [secret, previous.secret]) {
    expect(await unseal(sealed, 'demo')).toMatch(/^whsec_/)
    await expect(unseal(sealed, 'other')).rejects.toThrow()
  }
})

test('a webhook that is removed is gone, and there is nothing to remove twice', async () => {
  await changeWebhook(demo, () => webhook, noWrites, real)
  expect(await removeWebhook(demo, noWrites, real)).toBe(true)
  expect(await findWebhook(demo)).toBeUndefined()
  expect(await removeWebhook(demo, noWrites, real)).toBe(false)
})

test('a change that comes to nothing, or to the same, writes nothing', async () => {
  expect(
    await changeWebhook(providerId('nobody'), (before) => before, noWrites, real),
  ).toBeUndefined()
  expect(await findWebhook(providerId('nobody'))).toBeUndefined()
  await changeWebhook(demo, () => webhook, noWrites, real)
  const item = await itemOf()
  expect(await changeWebhook(demo, (before) => before, noWrites, real)).toEqual(webhook)
  expect(await itemOf()).toEqual(item)
})

describe('operators at once', () => {
  const racers = Array.from({ length: 8 }, (_, n) => n)

  test('first settings that race leave one secret, and every caller gets it', async () => {
    const raced = providerId('raced')
    const set = (n: number) =>
      changeWebhook(
        raced,
        (before) => ({
          ...webhook,
          url: `https://provider.test/${n}`,
          secret: before?.secret ?? `whsec_${n}`,
        }),
        noWrites,
        real,
      )
    const given = await Promise.all(racers.map(set))
    const { secret } = (await findWebhook(raced)) ?? {}
    expect(given.map((one) => one.secret)).toEqual(racers.map(() => secret))
  })

  test('rotations that race follow one another: each is the previous one of the next', async () => {
    const rotating = providerId('rotating')
    await changeWebhook(rotating, () => webhook, noWrites, real)
    const rotation = (n: number) => ({ secret: `whsec_${n}`, at: NOON, graceSeconds: 60 })
    const given = await Promise.all(
      racers.map((n) =>
        changeWebhook(rotating, (before) => before && rotated(before, rotation(n)), noWrites, real),
      ),
    )
    const previous = given.map((one) => one?.previous?.secret)
    expect(new Set(previous).size).toBe(racers.length)
    expect(previous).toContain(webhook.secret)
    expect((await findWebhook(rotating))?.previous?.secret).toMatch(/^whsec_[0-7]$/)
  })

  test('a rotation and a setting that race are both kept', async () => {
    const both = providerId('both')
    await changeWebhook(both, () => webhook, noWrites, real)
    const rotation = { secret: 'whsec_new', at: NOON, graceSeconds: 60 }
    await Promise.all([
      changeWebhook(both, (before) => before && rotated(before, rotation), noWrites, real),
      changeWebhook(
        both,
        (before) => before && { ...before, payload: 'reduced' as const },
        noWrites,
        real,
      ),
    ])
    expect(await findWebhook(both)).toEqual({
      ...webhook,
      payload: 'reduced',
      secret: 'whsec_new',
      previous: { secret: webhook.secret, until: new Date('2026-11-21T12:01:00.000Z') },
    })
  })

  test('a rotation whose answer was lost is not done a second time', async () => {
    const lost = providerId('lost')
    await changeWebhook(lost, () => webhook, noWrites, real)
    const rotation = { secret: 'whsec_new', at: NOON, graceSeconds: 60 }
    const send = table.send.bind(table) as (command: unknown) => Promise<never>
    const puts: unknown[] = []
    const client = vi.spyOn(table, 'send').mockImplementation(async (command: unknown) => {
      // As the client itself does: it tries again what is committed already.
      if (command instanceof PutCommand && puts.push(command) === 1) await send(command)
      return send(command)
    })
    const given = await changeWebhook(
      lost,
      (before) => before && rotated(before, rotation),
      noWrites,
      real,
    )
    client.mockRestore()
    expect(puts).toHaveLength(1)
    expect(given).toEqual(rotated(webhook, rotation))
    expect(await findWebhook(lost)).toEqual(given)
  })
})

test('a sealed secret opens for its owner, under its key, and unchanged', async () => {
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

test('on AWS the key comes from Secrets Manager, once for many secrets', async () => {
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
