import { expect, test } from 'vitest'
import { pesewas } from '../../../shared/domain/money.ts'
import type { Batch } from '../../../shared/domain/settlement/batch.ts'
import { statementOf } from '../../../shared/domain/settlement/monthly-statement.ts'
import { monthOf } from '../../../shared/domain/time.ts'
import { readStatement } from '../../../shared/settlement/monthly-statement.ts'
import { statementCsv, statementPage } from '../../../shared/settlement/report/monthly-statement.ts'
import { useFreshTable } from '../../support/tables.ts'
import { builtBatch, completedDebit, newProvider } from '../one-provider.ts'
import { useReportShelf } from '../report-shelf.ts'
import { adjustment, line, sealed } from './one-batch.ts'

useReportShelf()

const first = { ...sealed([line({}), adjustment]), bankReference: '=1+1' }
const open = { ...sealed([]), sealedAt: null, totals: null }
const month = monthOf(new Date(first.date))
const after = new Date('2027-01-01')
const of = (batches: readonly Batch[], isOpen = false) =>
  statementOf(first.provider, month, batches, isOpen)

test('a statement is partial while its month is open, and while a batch is unsealed or not summed', () => {
  expect(of([first]).isPartial).toBe(false)
  expect(of([first], true).isPartial).toBe(true)
  expect(of([first, open]).isPartial).toBe(true)
  expect(of([first, open]).totals).toEqual(first.totals)
  // Its builder has crashed.
  expect(of([first, { ...sealed([]), totals: null }]).isPartial).toBe(true)
})

test('a statement of a past month is partial while a debit of its earlier days is in no batch', async () => {
  await useFreshTable()
  const provider = await newProvider()
  const read = async () => {
    const { isPartial, totals } = await readStatement(provider, month, new Date('2026-12-03'))
    return [isPartial, totals.count]
  }
  await completedDebit(provider, 100_00, new Date('2026-11-30T12:00:00Z'))
  expect(await read()).toEqual([false, 0])
  await completedDebit(provider, 100_00, new Date('2026-11-29T12:00:00Z'))
  expect(await read()).toEqual([true, 0])
  await builtBatch(provider, 8)
  expect(await read()).toEqual([false, 1])
})

test('a statement has the fees of each schedule, and only completed payouts are paid', () => {
  const other = { ...first, feeSchedule: { basisPoints: 200, fixed: pesewas(10) } }
  const paid = { ...first, paid: pesewas(60_00), completedAt: after }
  const statement = of([paid, { ...paid, completedAt: null }, other])
  expect(statement.fees.map(({ batches }) => batches)).toEqual([2, 1])
  const schedules = [pesewas(1_00), pesewas(2_00), pesewas(2_00)].flatMap((bound) =>
    ['minimum', 'maximum'].map((name) => ({ ...other.feeSchedule, [name]: bound })),
  )
  const bounded = of(schedules.map((feeSchedule) => ({ ...first, feeSchedule })))
  expect(bounded.fees.map(({ batches }) => batches)).toEqual([1, 1, 2, 2])
  const page = statementPage(bounded, 'P', after)
  for (const bound of ['at least 1.00', 'at most 2.00'])
    expect(page).toContain(`<td>200 basis points + 0.10, ${bound}</td>`)
  const fee = statement.fees.reduce((sum, one) => sum + one.fee, 0)
  expect([fee, statement.paid]).toEqual([statement.totals.fee, 60_00])
})

test('the column `paid` of a statement adds up to its total', () => {
  const paid = { ...first, paid: pesewas(60_00), completedAt: after }
  const others = ['failed', 'processing'] as const
  const notPaid = others.map((status) => ({ ...paid, status, completedAt: null }))
  const statement = of([paid, ...notPaid, open])
  const [columns, ...rows] = statementCsv(statement)
    .split('\r\n')
    .map((row) => row.split(','))
  const column = rows.map((row) => row[columns?.indexOf('paid') ?? 0])
  expect(column.slice(0, 5)).toEqual(['60.00', '', '', '', '60.00'])
  expect(statementPage(statement, 'P', after).match(/60\.00/g)).toHaveLength(3)
})

test('a page of a statement has the time at which it was read', () => {
  expect(statementPage(of([first]), 'P', after)).toContain('<p>As of 2027-01-01 00:00:00 UTC.</p>')
})

test('a statement evaluates no text of a bank or an operator', () => {
  expect(statementCsv(of([first]))).toContain(",'=1+1,GHS")
  const page = statementPage(of([first]), '<script>alert("&")</script>', after)
  expect(page).toContain('&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;')
  expect(page).not.toContain('<script')
})
