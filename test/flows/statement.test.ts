import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, compareFile } from '../../cli/statement.ts'
import { type Day, dayAfter, dayOf } from '../../shared/domain/settlement/batch.ts'
import { createPayee, type Payee } from '../support/payee.ts'
import { printed } from '../support/provider.ts'
import { CHARGE, chargeBody, updatePath, useService } from '../support/running-service.ts'

/** Tests the comparison of a bank's statement, through the function that reads the books. */

const service = useService()

const GCB = 'bt_sandbox_gcb'
/** Accepted by the bank, then silent. */
const SILENT = '+233244444444'
const HEADER = 'uuid,bank_reference,amount,currency,completed_at'

let folder: string
let requests: number
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'statement-'))
})
afterAll(() => rm(folder, { recursive: true }))

const refusal = async (options: Record<string, string>) =>
  ((await service.operate('reconciliation', 'statement', options)) as { error: string }).error

const compare = async (rows: readonly string[], { bank = 'GCB', date }: Shown) => {
  const file = join(folder, 'statement.csv')
  await writeFile(file, `${HEADER}\r\n${rows.join('\r\n')}\r\n`)
  requests = 0
  const ask: Ask = async (request) => {
    requests += 1
    const options = { bank, date, statement: JSON.stringify(request) }
    return printed(await service.operate('reconciliation', 'statement', options)) as never
  }
  return (await compareFile({ file, date }, ask)).report
}
type Shown = { bank?: string; date: Day }

type Debit = { uuid: string; reference: string; completedAt: string; date: Day }

const charge = async (report: object, bank = 'GCB', credential = GCB): Promise<Debit> => {
  const { body } = await service.send('POST', CHARGE, {
    credential: 'sk_sandbox_demo',
    body: chargeBody({ phone_number: SILENT, bank_identifier: bank }),
  })
  const { uuid, reference } = body.data.response
  const { status } = await service.send('POST', updatePath(uuid), { credential, body: report })
  expect(status).toBe(200)
  const shown = printed(await service.operate('debit', 'show', { reference }))
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
  test('is compared with its debits of the day, whatever became of them', async () => {
    const matching = await completed('S-1')
    const byReference = await completed('S-2')
    const otherAmount = await completed('S-3')
    const unknownToBank = await completed('S-4')
    const failed = await charge({ status: 'failed', bank_reference: 'S-5', error_message: 'No' })
    const elsewhere = await completed('E-1', 'ECO', 'bt_sandbox_eco')
    const reversed = await completed('S-6')
    const dispute = { reference: reversed.reference, reason: 'Dispute' }
    printed(await service.operate('debit', 'reverse', dispute))
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
    // A debit of another bank is none of this one.
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

  test('ignores rows of other days, and is refused without a row of the day', async () => {
    const { date, ...debit } = await completed('S-20')
    const row = rowOf({ ...debit, date }, 'S-20')
    const other = rowOf({ ...debit, completedAt: `${dayAfter(date)}T00:00:00Z`, date }, 'S-20')
    expect((await compare([row, other], { date })).matched.count).toBe(1)
    await expect(compare([other], { date })).rejects.toThrow(`no row has completed_at on ${date}`)
  })

  test('without rows shows every debit of the day as missing at the bank', async () => {
    const { date, reference } = await completed('N-1', 'ECO', 'bt_sandbox_eco')
    const { missing_at_bank: missing, ...others } = await compare([], { bank: 'ECO', date })
    expect(missing.examples).toContainEqual(expect.objectContaining({ reference }))
    expect(Object.values(others).map(({ count }) => count)).toEqual([0, 0, 0])
  })

  test('of twelve thousand rows travels in parts', { timeout: 60_000 }, async () => {
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
    // One for the books of so few debits, and one for each five thousand unknown uuids.
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
  expect(await refusal(options)).toContain(line)
})
