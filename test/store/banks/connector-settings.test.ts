import { beforeAll, expect, test } from 'vitest'
import { saveBank } from '../../../shared/banks/save-bank.ts'
import { real } from '../../../shared/runtime.ts'
import { allBanks } from '../../../shared/store/banks/banks.ts'
import { findConnectorSettings } from '../../../shared/store/banks/connector-settings.ts'
import { keys } from '../../../shared/store/keys.ts'
import { type Item, read } from '../../../shared/store/table.ts'
import { gcb, NOON } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)
beforeAll(() => {
  process.env.SEALING_KEY = 'a text for tests'
})

const bank = { ...gcb, connector: 'http' as const }
const settings = { url: 'https://bank.test/debits', secret: 'cs_secret_of_the_bank' }

const options = { 'connector-url': settings.url, 'connector-secret': settings.secret }
const save = () => saveBank({ identifier: gcb.identifier, change: () => bank, options }, real)

test('settings are read back with their secret, which the table has only sealed', async () => {
  expect(await findConnectorSettings(gcb.identifier)).toBeUndefined()
  await save()
  expect(await findConnectorSettings(gcb.identifier)).toEqual(settings)
  const item = await read<Item>(keys.connector(gcb.identifier))
  expect(item).toMatchObject({ entity: 'connector', url: settings.url })
  expect(JSON.stringify(item)).not.toContain(settings.secret)
})

test('the list of banks has no connector settings', async () => {
  await save()
  expect([...(await allBanks(NOON)).values()]).toEqual([bank])
})
