import { beforeAll, expect, test } from 'vitest'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { StatementDebit } from '../../shared/domain/banks/statement.ts'
import { type BankDebitsCursor, readBankDebits } from '../../shared/reconciliation/bank-books.ts'
import { at, completedDebits, dayAt, newProvider, openedDebit } from '../settlement/one-provider.ts'
import { useFreshTable } from '../support/tables.ts'

/** Tests that the books of a bank are read in parts, each debit in at least one of them. */

beforeAll(useFreshTable)

const bank = 'GCB' as BankIdentifier

const readAll = async (date = dayAt(0), examinedMax?: number) => {
  const debits: StatementDebit[] = []
  let parts = 0
  let cursor: BankDebitsCursor | null = null
  do {
    const bounds = examinedMax ? { examinedMax } : {}
    const part = await readBankDebits({ bank, date, cursor }, bounds)
    debits.push(...part.debits)
    cursor = part.next
    parts += 1
  } while (cursor)
  return { debits, parts }
}

test('parts continue where the one before ended, over lists and providers', async () => {
  const [first, second] = [await newProvider(), await newProvider()]
  const done = [
    ...(await completedDebits(first, Array(230).fill(10_00), at('09:00:00'))),
    ...(await completedDebits(second, Array(20).fill(10_00), at('09:00:00'))),
  ]
  const open = await openedDebit(second, 10_00)
  const wanted = [...done, open].map(({ facts }) => facts.uuid).sort()
  const { debits, parts } = await readAll(dayAt(0), 100)
  expect(debits.map(({ uuid }) => uuid).sort()).toEqual(wanted)
  expect(parts).toBeGreaterThan(2)
  expect((await readAll()).parts).toBe(1)
  // They were charged on the day before the first.
  expect((await readAll(dayAt(-2))).debits).toEqual([])
  expect((await readAll(dayAt(5))).debits).toEqual([])
})
