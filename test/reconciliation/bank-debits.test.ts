import { beforeAll, expect, test } from 'vitest'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { BankDebitsCursor, Movement } from '../../shared/domain/banks/statement.ts'
import { readBankDebits } from '../../shared/reconciliation/bank-debits.ts'
import { readOutgoing } from '../../shared/reconciliation/bank-outgoing.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { followOpen } from '../../shared/store/debits/open-debits.ts'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { fakeBank } from '../settlement/fake-bank.ts'
import {
  at,
  builtBatch,
  completedDebit,
  completedDebits,
  dayAt,
  newProvider,
  openedDebit,
  runtimeAt,
} from '../settlement/one-provider.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)
useReportShelf()

const bank = 'GCB' as BankIdentifier

const readAll = async (date = dayAt(0), examinedMax?: number) => {
  const debits: Movement[] = []
  let pages = 0
  let cursor: BankDebitsCursor | null = null
  do {
    const options = examinedMax ? { examinedMax } : {}
    const page = await readBankDebits({ bank, date, cursor }, options)
    debits.push(...page.debits)
    cursor = page.next
    pages += 1
  } while (cursor)
  return { debits, pages }
}

// The debits of these tests are older than the sweep's progress.
beforeAll(() => putSweepProgress({ until: at('23:59:00', 9), behind: new Map() }))

test('each page continues the previous one, over statuses and providers', async () => {
  const [first, second] = [await newProvider(), await newProvider()]
  const done = [
    ...(await completedDebits(first, Array(230).fill(10_00), at('09:00:00'))),
    ...(await completedDebits(second, Array(20).fill(10_00), at('09:00:00'))),
  ]
  const open = await openedDebit(second, 10_00)
  await followOpen(open, () => at('12:10:00'))
  const uuids = [...done, open].map(({ facts }) => facts.uuid).sort()
  const { debits, pages } = await readAll(dayAt(0), 100)
  expect(debits.map(({ uuid }) => uuid).sort()).toEqual(uuids)
  expect(pages).toBeGreaterThan(2)
  expect((await readAll()).pages).toBe(1)
  // Outside the day and the three days before.
  expect((await readAll(dayAt(-2))).debits).toEqual([])
  expect((await readAll(dayAt(5))).debits).toEqual([])
})

test('a payout in progress is compared with the statement of each later day', async () => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebit(provider, 10_00, at('09:00:00'))
  const { id } = await builtBatch(provider)
  const { connectors, behaviours } = fakeBank()
  behaviours.push('pay later')
  await payBatch(id, { runtime: runtimeAt('00:00:01', 2), connectors })
  const { outgoing } = await readOutgoing('payout', { bank, date: dayAt(9), after: '' })
  const movement = { reference: id, status: 'processing', amount: '10.00', completed_at: null }
  expect(outgoing).toMatchObject([movement])
})
