import { beforeAll, expect, test } from 'vitest'
import { afterPage, automaticRecovery } from '../../../shared/domain/webhooks/recovery.ts'
import { keys } from '../../../shared/store/keys.ts'
import { type Item, read } from '../../../shared/store/table.ts'
import { findRecovery, openRecovery, putPage } from '../../../shared/store/webhooks/recoveries.ts'
import { inSeconds, NOON, providerId } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)

const provider = providerId('demo')

const automatic = (id: string) => automaticRecovery({ provider, id, now: NOON })
const page = (isLast = false) => ({ cursor: 'c-1', retried: 50, isLast })

const itemOf = (id: string) => read<Item>(keys.recovery(provider, id))

test('a recovery starts once, and again when it is done', async () => {
  const first = automatic('done')
  expect(await openRecovery(first)).toBe(true)
  expect(await openRecovery(first)).toBe(false)
  await putPage(afterPage(first, page(true), NOON))
  expect(await openRecovery(first)).toBe(true)
  expect(await findRecovery(provider, 'done')).toEqual(first)
})

test('a page is written once, after the previous one', async () => {
  const first = automatic('pages')
  await openRecovery(first)
  const second = afterPage(first, page(), NOON)
  expect(await putPage(afterPage(second, page(), NOON))).toBe(false)
  expect(await putPage(second)).toBe(true)
  expect(await putPage(second)).toBe(false)
  expect((await findRecovery(provider, 'pages'))?.page).toBe(1)
})

test('the sweep checks every page until the last is done', async () => {
  const first = automatic('swept')
  await openRecovery(first)
  expect(await itemOf('swept')).toMatchObject({
    work: expect.stringMatching(/^WATCH#[0-7]$/),
    due: inSeconds(120).toISOString(),
    expiresAt: inSeconds(90 * 86_400).getTime() / 1000,
  })
  const second = afterPage(first, page(), inSeconds(3))
  await putPage(second)
  expect(await itemOf('swept')).toMatchObject({ due: inSeconds(3 + 10 + 120).toISOString() })
  await putPage(afterPage(second, page(true), inSeconds(14)))
  expect(await itemOf('swept')).not.toHaveProperty('work')
})
