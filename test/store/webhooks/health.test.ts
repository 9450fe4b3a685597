import { beforeAll, expect, test } from 'vitest'
import { noteSlow } from '../../../shared/domain/webhooks/health.ts'
import { changeHealth, findHealth, isSlow } from '../../../shared/store/webhooks/health.ts'
import { atOnce, inSeconds, NOON, providerId } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)

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
