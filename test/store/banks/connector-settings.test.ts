import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, test } from 'vitest'
import { saveBank } from '../../../shared/banks/save-bank.ts'
import { allBanks } from '../../../shared/store/banks/banks.ts'
import { findConnectorSettings } from '../../../shared/store/banks/connector-settings.ts'
import { keys } from '../../../shared/store/keys.ts'
import { table, tableName } from '../../../shared/store/table.ts'
import { gcb, NOON, still } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)
beforeAll(() => {
  process.env.SEALING_KEY = 'a text for tests'
})

const bank = { ...gcb, connector: 'http' as const }
const settings = { url: 'https://bank.test/debits', secret: 'cs_secret_of_the_bank' }

const save = () =>
  saveBank(
    {
      identifier: gcb.identifier,
      change: () => bank,
      options: { 'connector-url': settings.url, 'connector-secret': settings.secret },
    },
    still(),
  )

test('settings are read back with their secret, which is nowhere in the table', async () => {
  expect(await findConnectorSettings(gcb.identifier)).toBeUndefined()
  await save()
  expect(await findConnectorSettings(gcb.identifier)).toEqual(settings)
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: keys.connector(gcb.identifier) }),
  )
  expect(Item).toMatchObject({ entity: 'connector', url: settings.url })
  expect(JSON.stringify(Item)).not.toContain(settings.secret)
})

test('the list of banks knows nothing of them', async () => {
  await save()
  expect([...(await allBanks(NOON)).values()]).toEqual([bank])
})
