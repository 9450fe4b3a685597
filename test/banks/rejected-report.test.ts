import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { recordRejection } from '../../shared/banks/rejected-report.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { findExceptions, resolutionWrite } from '../../shared/store/debits/exceptions.ts'
import { transact } from '../../shared/store/transactions.ts'
import { inSeconds, pendingDebit, still } from '../support/examples.ts'
import { useTable } from '../support/tables.ts'

test('a bank that repeats a rejected report reads a bounded part of the earlier ones', async () => {
  process.env.TABLE_NAME = `test-${randomUUID()}`
  let read = 0
  useTable({ onConsumed: ({ kind, units }) => (read += kind === 'read' ? units : 0) })
  const debit = pendingDebit({})
  const { reference } = debit.facts
  const refusal = new Refusal(1007, { details: { fee: ['must be an amount'] } })
  const report = JSON.stringify({ status: 'completed', fee: 'none', bank_reference: 'B-1' })
  const reject = async (n: number): Promise<number> => {
    const before = read
    const cause = { at: inSeconds(n), by: 'bank:GCB', requestId: `request-${n}` }
    await recordRejection(debit, { kind: 'refused_report', refusal, report, cause })
    return read - before
  }
  const units: number[] = []
  for (let n = 0; n < 400; n += 1) units.push(await reject(n))
  expect(units[399]).toBe(units[250])
  const resolution = {
    note: 'Known',
    resolvedBy: 'local:ama',
    resolvedAt: inSeconds(400).toISOString(),
  }
  for (const one of await findExceptions(reference)) {
    await transact([resolutionWrite(one, resolution)], still())
  }
  await reject(401)
  expect((await findExceptions(reference)).at(-1)).toMatchObject(resolution)
})
