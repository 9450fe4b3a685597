import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, test } from 'vitest'
import { sizeOf } from '../../../sandbox/aws/table/item-size.ts'
import { type Debit, stateAt, type Transition } from '../../../shared/domain/debits/debit.ts'
import type { Status } from '../../../shared/domain/debits/lifecycle.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import { createDebit } from '../../../shared/store/debits/charges.ts'
import { findDebit } from '../../../shared/store/debits/debits.ts'
import { transition } from '../../../shared/store/debits/transitions.ts'
import { keys } from '../../../shared/store/keys.ts'
import { type Item, read, remove, table, tableName } from '../../../shared/store/table.ts'
import { bankMove, inSeconds, pendingDebit, providerId, still } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)

const runtime = still()

const open = (debit: Debit, limit?: number) => {
  const dailyLimit = limit === undefined ? undefined : pesewas(limit)
  return createDebit({ debit, fingerprint: 'same', dailyLimit }, runtime)
}

const countItems = async (): Promise<number | undefined> =>
  (await table.send(new ScanCommand({ TableName: tableName(), Select: 'COUNT' }))).Count

const move = (debit: Debit, to: Status, fields: Partial<Transition> = {}) =>
  transition(debit, bankMove(to, fields), runtime)

test('two partner references that would look equal in a key stay distinct', async () => {
  const alike = ['a', 'b#c', 'a#b', 'c', 'é', 'e\u0301', 'x/../y', 'x%2F..%2Fy']
  const other = pendingDebit({ provider: providerId('other'), partnerReference: 'a' })
  expect(await open(other)).toMatchObject({ kind: 'created' })
  for (const partnerReference of alike) {
    const opened = await open(pendingDebit({ partnerReference }))
    expect(opened, partnerReference).toMatchObject({ kind: 'created' })
  }
})

test('a taken reference is a collision that writes nothing', async () => {
  const first = pendingDebit()
  await open(first)
  const before = await countItems()
  const other = pendingDebit({ reference: first.facts.reference })
  const history = other.history.map((entry) => ({ ...entry, requestId: 'request-2' }))
  expect(await open({ ...other, history })).toEqual({ kind: 'collision' })
  expect(await countItems()).toBe(before)
})

test('a debit fails also without its day total', async () => {
  const countedOn = '2026-11-21'
  const debit = pendingDebit({ provider: providerId('lost'), countedOn })
  const dayTotal = keys.dayTotal(debit.facts.provider, countedOn)
  await open(debit)
  expect(await read<Item>(dayTotal)).toMatchObject({ amountTotal: 100_00 })
  await remove(dayTotal)
  expect(await move(debit, 'failed')).toMatchObject({ status: 'failed' })
  expect(await read<Item>(dayTotal)).toBeUndefined()
})

test('an ordinary debit stays well below one kilobyte', async () => {
  const pending = pendingDebit({
    narration: 'Payment for order 4711, thank you for shopping',
    partnerReference: 'order-2026-11-21-000000004711',
    countedOn: '2026-11-21',
  })
  const requestId = crypto.randomUUID()
  const debit = { ...pending, history: pending.history.map((entry) => ({ ...entry, requestId })) }
  await open(debit, 50_000_00)
  const changes = { bankReference: 'GCB-85CB9470' }
  const customer = { customerName: 'Ama Mensah', accountNumber: '1041001001' }
  const processing = await move(debit, 'processing', {
    at: inSeconds(0.4),
    changes: { ...changes, ...customer },
  })
  await move(processing as Debit, 'completed', {
    at: inSeconds(30),
    changes: { ...changes, approvalMethod: 'ussd', fee: pesewas(1_50) },
  })
  const item = await read<Parameters<typeof sizeOf>[0]>(keys.debit(debit.facts.reference))
  // With the mark of its settlement.
  expect(item && sizeOf({ ...item, settledIn: 'STL-20261122-ABC123' })).toBeLessThan(900)
  const found = (await findDebit(debit.facts.reference)) as Debit
  expect(stateAt(found)).toMatchObject({ status: 'completed', previousStatus: 'processing' })
})
