import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test } from 'vitest'
import { actingAs } from '../../sandbox/authorizer.ts'
import { type Day, dayOf } from '../../shared/domain/time.ts'
import { putNew } from '../../shared/settlement/report/bucket.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { FAILS_AT_ONCE } from '../support/requests.ts'
import { type Shown, testInProcess, useService } from '../support/running-service.ts'

/** Erasures that a restore of the table has undone (docs/restore.md#restore-the-table). */

const service = useService()
const { call } = service

const REASON = 'Request 9'
const erase = (phone: string) => call('customer', 'erase', { phone, reason: REASON })
const begin = () => call('restore', 'begin', { generation: '2' })
const repeat = (since: Date): Promise<Shown> =>
  call('customer', 'repeat-erasures', { since: since.toISOString() })

const itemsOf = async (text: string): Promise<Shown[]> =>
  (await service.items()).filter((item) => JSON.stringify(item).includes(text))

/** Gives the table the items of a customer before the erasure. */
const restore = async (items: readonly Shown[]): Promise<void> => {
  for (const Item of items) await table.send(new PutCommand({ TableName: tableName(), Item }))
}

const linked = async (phone: string, reference?: string) => {
  const account = { bank: 'ECO', name: 'CanaryRestoredZq', 'account-number': '7770001112223' }
  await call('customer', 'link', { ...account, phone })
  const debits = reference ? await itemsOf(reference) : []
  return [...(await itemsOf(phone)), ...debits].filter(({ entity }) =>
    ['account', 'debit', 'exception'].includes(entity),
  )
}

test('the erasures since a time are repeated, also of a customer without debits', async () => {
  const other = '+233247666662'
  const since = new Date()
  const { reference, uuid } = await service.chargeUntil('failed', { phone_number: FAILS_AT_ONCE })
  const items = [...(await linked(other)), ...(await linked(FAILS_AT_ONCE, reference))]
  for (const phone of [other, FAILS_AT_ONCE]) await erase(phone)
  await restore(items)
  await expect(repeat(since)).rejects.toThrow('no restore has begun')
  await begin()
  await service.report(uuid, { status: 'completed', bank_reference: 'B-1' })
  const refused = [
    expect.stringContaining(`${reference} is with an open late_completion exception`),
  ]
  const sums = { unreadable: 0, later: 0, next: null }
  expect(await repeat(since)).toEqual({ ...sums, repeated: 1, erased: 0, refused })
  expect(await itemsOf(other)).toEqual([])
  await call('exception', 'resolve', { reference, note: 'Returned' })
  const again = await repeat(since)
  expect(again).toMatchObject({ ...sums, repeated: 2, erased: 1, refused: [] })
  for (const phone of [other, FAILS_AT_ONCE]) expect(await itemsOf(phone)).toEqual([])
  const records: Shown[] = await call('change', 'list', { limit: '100' })
  const own = records.filter(({ verb }) => verb === 'repeat-erasures')
  expect(own.length).toBeGreaterThan(4)
  expect(own.filter(({ changed }) => changed.reason)).toHaveLength(3)
  expect(JSON.stringify(own)).not.toMatch(/\+233/)
})

testInProcess('a number that no version of the sealing key opens is counted', async () => {
  const since = new Date(Date.now() - 5 * 86_400_000)
  const day: Day = dayOf(since)
  const stored = { at: since.toISOString(), phone: 'unknown:AAAA' }
  await actingAs('manage-customer', () => putNew({ erasure: `${day}/0` }, JSON.stringify(stored)))
  await begin()
  expect(await repeat(since)).toMatchObject({ unreadable: 1 })
})
