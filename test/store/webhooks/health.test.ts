import { beforeAll, expect, test } from 'vitest'
import type { ProviderId } from '../../../shared/domain/providers/provider.ts'
import {
  noteAttempt,
  noteSlow,
  type WebhookHealth,
} from '../../../shared/domain/webhooks/health.ts'
import { keys } from '../../../shared/store/keys.ts'
import { type Item, read } from '../../../shared/store/table.ts'
import { changeHealth, findHealth, isSlow } from '../../../shared/store/webhooks/health.ts'
import { atOnce, inSeconds, NOON, providerId } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)

const noted = (succeeded: boolean, at: Date) => (health: WebhookHealth) =>
  noteAttempt(health, { at, milliseconds: 20, succeeded, abandoned: !succeeded })

const versionOf = async (provider: ProviderId): Promise<unknown> =>
  (await read<Item>(keys.webhookHealth(provider)))?.version

test('twenty workers that observe a failure, and then a recovery, write each once', async () => {
  const provider = providerId('failing')
  expect(await changeHealth(provider, noted(true, NOON))).toEqual({})
  expect(await versionOf(provider)).toBeUndefined()
  for (const [version, succeeded] of [false, true].entries()) {
    const results = await atOnce(20, (n) => changeHealth(provider, noted(succeeded, inSeconds(n))))
    const health = await findHealth(provider)
    expect(health[succeeded ? 'recoveredAt' : 'failingSince']).toBeInstanceOf(Date)
    expect(results).toEqual(Array(20).fill(health))
    expect(await versionOf(provider)).toBe(version + 1)
  }
})

test('no update of twenty concurrent workers is lost', async () => {
  const provider = providerId('each')
  await atOnce(20, (n) =>
    changeHealth(provider, ({ recoveredAt = NOON }) => ({
      recoveredAt: new Date(recoveredAt.getTime() + 2 ** n),
    })),
  )
  const { recoveredAt } = await findHealth(provider)
  expect(recoveredAt?.getTime()).toBe(NOON.getTime() + 2 ** 20 - 1)
})

test('the slow mark is cached', async () => {
  const provider = providerId('remembered')
  expect(await isSlow(provider, NOON)).toBe(false)
  await changeHealth(provider, (health) => noteSlow(health, NOON))
  expect(await isSlow(provider, inSeconds(29))).toBe(false)
  expect(await isSlow(provider, inSeconds(30))).toBe(true)
  await changeHealth(provider, () => ({}))
  expect(await isSlow(provider, inSeconds(59))).toBe(true)
  expect(await isSlow(provider, inSeconds(60))).toBe(false)
})
