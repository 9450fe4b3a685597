import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  noteAttempt,
  noteSlow,
  type WebhookHealth,
} from '../../../shared/domain/webhooks/health.ts'
import { keys } from '../../../shared/store/keys.ts'
import { table, tableName } from '../../../shared/store/table.ts'
import { changeHealth, findHealth, isSlow } from '../../../shared/store/webhooks/health.ts'
import { NOON, partnerId } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)

const inSeconds = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1000)

const noted = (succeeded: boolean, at: Date) => (health: WebhookHealth) =>
  noteAttempt(health, { at, milliseconds: 20, succeeded, abandoned: !succeeded })

const versionOf = async (partner: ReturnType<typeof partnerId>): Promise<unknown> => {
  const Key = keys.webhookHealth(partner)
  return (await table.send(new GetCommand({ TableName: tableName(), Key }))).Item?.version
}

const WRITERS = 20

describe('the health of a webhook', () => {
  test('is good where nothing was ever written', async () => {
    expect(await findHealth(partnerId('new'))).toEqual({})
  })

  test('is read back as it was written, all of its times', async () => {
    const partner = partnerId('whole')
    const health = {
      failingSince: inSeconds(1),
      exhaustedSince: inSeconds(2),
      slowSince: inSeconds(3),
      disabledAt: inSeconds(4),
      recoveredAt: inSeconds(5),
    }
    expect(await changeHealth(partner, () => health)).toEqual(health)
    expect(await findHealth(partner)).toEqual(health)
    expect(await changeHealth(partner, () => ({}))).toEqual({})
    expect(await findHealth(partner)).toEqual({})
  })

  test('costs no write where nothing turns', async () => {
    const partner = partnerId('same')
    await changeHealth(partner, noted(true, NOON))
    expect(await versionOf(partner)).toBeUndefined()
    await changeHealth(partner, noted(false, NOON))
    await changeHealth(partner, noted(false, inSeconds(1)))
    expect(await versionOf(partner)).toBe(1)
  })
})

describe('twenty workers at once', () => {
  const all = <T>(work: (n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: WRITERS }, (_, n) => work(n)))

  test('that see it fail write one beginning, and are all told it', async () => {
    const partner = partnerId('failing')
    const told = await all((n) => changeHealth(partner, noted(false, inSeconds(n))))
    const health = await findHealth(partner)
    expect(health.failingSince).toBeInstanceOf(Date)
    for (const one of told) expect(one).toEqual(health)
    expect(await versionOf(partner)).toBe(1)
  })

  test('that see it recover write that once', async () => {
    const partner = partnerId('recovering')
    await changeHealth(partner, noted(false, NOON))
    const told = await all((n) => changeHealth(partner, noted(true, inSeconds(n))))
    const health = await findHealth(partner)
    expect(health).toEqual({ recoveredAt: expect.any(Date) })
    for (const one of told) expect(one).toEqual(health)
    expect(await versionOf(partner)).toBe(2)
  })

  test('that see it slow mark it once', async () => {
    const partner = partnerId('slow')
    await all((n) => changeHealth(partner, (health) => noteSlow(health, inSeconds(n))))
    expect(await findHealth(partner)).toEqual({ slowSince: expect.any(Date) })
    expect(await versionOf(partner)).toBe(1)
  })

  test('that see different things leave a state that one of them wrote on what another wrote', async () => {
    const partner = partnerId('mixed')
    const told = await all((n) => changeHealth(partner, noted(n % 2 === 0, inSeconds(n))))
    expect(told).toHaveLength(WRITERS)
    const { failingSince, exhaustedSince, recoveredAt, ...rest } = await findHealth(partner)
    expect(rest).toEqual({})
    expect(failingSince).toEqual(exhaustedSince)
    expect(failingSince ?? recoveredAt).toBeInstanceOf(Date)
  })

  test('that each write something lose nothing of it', async () => {
    const partner = partnerId('each')
    await all((n) =>
      changeHealth(partner, ({ recoveredAt = NOON }) => ({
        recoveredAt: new Date(recoveredAt.getTime() + 2 ** n),
      })),
    )
    const { recoveredAt } = await findHealth(partner)
    expect(recoveredAt?.getTime()).toBe(NOON.getTime() + 2 ** WRITERS - 1)
  })
})

test('whether its events wait apart is remembered for as long as memory lasts', async () => {
  const partner = partnerId('remembered')
  expect(await isSlow(partner, NOON)).toBe(false)
  await changeHealth(partner, (health) => noteSlow(health, NOON))
  expect(await isSlow(partner, inSeconds(29))).toBe(false)
  expect(await isSlow(partner, inSeconds(30))).toBe(true)
  await changeHealth(partner, () => ({}))
  expect(await isSlow(partner, inSeconds(59))).toBe(true)
  expect(await isSlow(partner, inSeconds(60))).toBe(false)
})
