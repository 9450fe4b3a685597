import { beforeAll, describe, expect, test } from 'vitest'
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

const WRITERS = 20

describe('the health of a webhook', () => {
  test('the health is good without an item', async () => {
    expect(await findHealth(providerId('new'))).toEqual({})
  })

  test('all times are read back', async () => {
    const provider = providerId('whole')
    const health = {
      failingSince: inSeconds(1),
      exhaustedSince: inSeconds(2),
      slowSince: inSeconds(3),
      disabledAt: inSeconds(4),
      recoveredAt: inSeconds(5),
    }
    expect(await changeHealth(provider, () => health)).toEqual(health)
    expect(await findHealth(provider)).toEqual(health)
    expect(await changeHealth(provider, () => ({}))).toEqual({})
    expect(await findHealth(provider)).toEqual({})
  })

  test('an unchanged health costs no write', async () => {
    const provider = providerId('same')
    await changeHealth(provider, noted(true, NOON))
    expect(await versionOf(provider)).toBeUndefined()
    await changeHealth(provider, noted(false, NOON))
    await changeHealth(provider, noted(false, inSeconds(1)))
    expect(await versionOf(provider)).toBe(1)
  })
})

describe('twenty concurrent workers', () => {
  test('workers that observe a failure write one start, which all of them get', async () => {
    const provider = providerId('failing')
    const results = await atOnce(WRITERS, (n) => changeHealth(provider, noted(false, inSeconds(n))))
    const health = await findHealth(provider)
    expect(health.failingSince).toBeInstanceOf(Date)
    for (const one of results) expect(one).toEqual(health)
    expect(await versionOf(provider)).toBe(1)
  })

  test('workers that observe a recovery write it once', async () => {
    const provider = providerId('recovering')
    await changeHealth(provider, noted(false, NOON))
    const results = await atOnce(WRITERS, (n) => changeHealth(provider, noted(true, inSeconds(n))))
    const health = await findHealth(provider)
    expect(health).toEqual({ recoveredAt: expect.any(Date) })
    for (const one of results) expect(one).toEqual(health)
    expect(await versionOf(provider)).toBe(2)
  })

  test('workers that observe a slow webhook mark it once', async () => {
    const provider = providerId('slow')
    await atOnce(WRITERS, (n) => changeHealth(provider, (health) => noteSlow(health, inSeconds(n))))
    expect(await findHealth(provider)).toEqual({ slowSince: expect.any(Date) })
    expect(await versionOf(provider)).toBe(1)
  })

  test('each of several different observations applies to the previous one', async () => {
    const provider = providerId('mixed')
    const results = await atOnce(WRITERS, (n) =>
      changeHealth(provider, noted(n % 2 === 0, inSeconds(n))),
    )
    expect(results).toHaveLength(WRITERS)
    const { failingSince, exhaustedSince, recoveredAt, ...rest } = await findHealth(provider)
    expect(rest).toEqual({})
    expect(failingSince).toEqual(exhaustedSince)
    expect(failingSince ?? recoveredAt).toBeInstanceOf(Date)
  })

  test('no update of concurrent workers is lost', async () => {
    const provider = providerId('each')
    await atOnce(WRITERS, (n) =>
      changeHealth(provider, ({ recoveredAt = NOON }) => ({
        recoveredAt: new Date(recoveredAt.getTime() + 2 ** n),
      })),
    )
    const { recoveredAt } = await findHealth(provider)
    expect(recoveredAt?.getTime()).toBe(NOON.getTime() + 2 ** WRITERS - 1)
  })
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
