import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareFile, type LoadDebits } from '../../cli/statement.ts'
import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { createPayee, type Payee } from '../support/payee.ts'
import { SILENT, updatePath, useService } from '../support/running-service.ts'

/** The comparison of a bank statement with the table (docs/api.md#bank-statements). */

const service = useService()

const GCB = 'bt_sandbox_gcb'
const HEADER = 'uuid,bank_reference,amount,currency,completed_at'

let folder: string
let requests: number
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statement-'))
})
afterAll(() => rm(folder, { recursive: true }))

const compare = async (rows: readonly string[], { bank = 'GCB', date }: Statement) => {
  const file = join(folder, 'statement.csv')
  await writeFile(file, `${HEADER}\r\n${rows.join('\r\n')}\r\n`)
  requests = 0
  const ask: LoadDebits = async (request) => {
    requests += 1
    const options = { bank, date, statement: JSON.stringify(request) }
    return (await service.call('reconciliation', 'statement', options)) as never
  }
  return (await compareFile({ file, date }, ask)).report
}
type Statement = { bank?: string; date: Day }

type Debit = { uuid: string; reference: string; completedAt: string; date: Day }

const charge = async (report: object, bank = 'GCB', credential = GCB): Promise<Debit> => {
  const fields = { phone_number: SILENT, bank_identifier: bank }
  const { uuid, reference } = await service.charge(fields)
  const { status } = await service.send('POST', updatePath(uuid), { credential, body: report })
  expect(status).toBe(200)
  const shown = await service.call('debit', 'show', { reference })
  const completedAt = shown.history.at(-1).at as string
  return { uuid, reference, completedAt, date: dayOf(new Date(completedAt)) }
}

const completed = (reference: string, bank?: string, credential?: string) =>
  charge(
    { status: 'completed', bank_reference: reference, approval_method: 'ussd' },
    bank,
    credential,
  )

const rowOf = ({ uuid, completedAt }: Debit, reference = '', amount = '100.00') =>
  [uuid, reference, amount, 'GHS', completedAt].join(',')

describe('a statement of a bank', () => {
  test('is compared with the debits of its day in all states', async () => {
    const matching = await completed('S-1')
    const byReference = await completed('S-2')
    const otherAmount = await completed('S-3')
    const unknownToBank = await completed('S-4')
    const failed = await charge({ status: 'failed', bank_reference: 'S-5', error_message: 'No' })
    const elsewhere = await completed('E-1', 'ECO', 'bt_sandbox_eco')
    const reversed = await completed('S-6')
    const dispute = { reference: reversed.reference, reason: 'Dispute' }
    await service.call('debit', 'reverse', dispute)
    const { date } = matching
    const report = await compare(
      [
        rowOf(matching, 'S-1'),
        rowOf({ ...byReference, uuid: '' }, 'S-2'),
        rowOf(otherAmount, 'S-3', '90.00'),
        rowOf({ ...failed, uuid: '' }, 'S-5'),
        rowOf(elsewhere, 'E-1'),
        rowOf(reversed, 'S-6'),
        rowOf({ ...matching, uuid: '' }, 'S-9', '7.00'),
        rowOf(matching),
      ],
      { date },
    )
    const shown = (group: keyof typeof report) =>
      report[group].examples.map(({ line, reference, reason }) => [line, reference, reason])
    expect(shown('matched')).toEqual([
      [2, matching.reference, undefined],
      [3, byReference.reference, undefined],
      [7, reversed.reference, undefined],
    ])
    expect(shown('differs')).toEqual([
      [4, otherAmount.reference, 'the amount is 100.00 here'],
      [5, failed.reference, 'the debit is failed here'],
      [9, matching.reference, 'line 2 names the same debit'],
    ])
    // The debit of another bank is unknown here.
    expect(shown('missing_here')).toEqual([
      [6, undefined, undefined],
      [8, undefined, undefined],
    ])
    expect(shown('missing_at_bank')).toEqual([[undefined, unknownToBank.reference, undefined]])
    expect(report.matched.sum).toBe('300.00')
    expect(report.differs.sum).toBe('290.00')
    expect(report.missing_here.sum).toBe('107.00')
    expect(report.missing_at_bank.sum).toBe('100.00')
  })

  test('ignores rows of other days and is rejected without a row of its day', async () => {
    const { date, ...debit } = await completed('S-20')
    const row = rowOf({ ...debit, date }, 'S-20')
    const other = rowOf({ ...debit, completedAt: `${dayAfter(date)}T00:00:00Z`, date }, 'S-20')
    expect((await compare([row, other], { date })).matched.count).toBe(1)
    await expect(compare([other], { date })).rejects.toThrow(`no row has completed_at on ${date}`)
  })

  test('without rows reports every debit of the day as missing at the bank', async () => {
    const { date, reference } = await completed('N-1', 'ECO', 'bt_sandbox_eco')
    const { missing_at_bank: missing, ...others } = await compare([], { bank: 'ECO', date })
    expect(missing.examples).toContainEqual(expect.objectContaining({ reference }))
    expect(Object.values(others).map(({ count }) => count)).toEqual([0, 0, 0])
  })

  test('of twelve thousand rows is sent in parts', { timeout: 60_000 }, async () => {
    const payee: Payee = await createPayee(service, 'stated')
    await payee.complete('5.00', '6.00')
    const { date, ...debit } = await completed('L-1')
    const at = debit.completedAt
    const rows = Array.from({ length: 12_000 }, (_, n) => {
      const uuid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
      return `${uuid},L-${n + 2},1.00,GHS,${at}`
    })
    const report = await compare([rowOf({ ...debit, date }, 'L-1'), ...rows], { date })
    expect(report.matched.count).toBe(1)
    expect(report.missing_here).toMatchObject({ count: 12_000, sum: '12000.00' })
    expect(report.missing_here.examples).toHaveLength(100)
    // One request for the debits and one for each five thousand unknown uuids.
    expect(requests).toBe(4)
  })
})

test.each([
  [{ bank: 'ZZZ', date: '2026-11-21', statement: '{"cursor":null}' }, 'no such bank'],
  [{ bank: 'GCB', date: '2026-11-21', statement: 'statement.csv' }, '--statement: is compared by'],
  [
    { bank: 'GCB', date: '2026-11-21', statement: '{"uuids":["x"]}' },
    '--statement: is compared by',
  ],
  [{ bank: 'GCB', date: '2026-02-30', statement: '{"cursor":null}' }, '--date: '],
  [{ bank: 'GCB', date: '2026-11-21' }, '--statement: is required'],
])('reconciliation statement %o is refused in one line', async (options, line) => {
  expect(await service.refusal('reconciliation', 'statement', options)).toContain(line)
})
