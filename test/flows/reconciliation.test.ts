import { expect, test } from 'vitest'
import { type Day, dayOf } from '../../shared/domain/time.ts'
import { compareFile, type LoadDebits } from '../../shared/operator/statement-file.ts'
import { invariants } from '../../shared/reconciliation/findings.ts'
import { SILENT } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'

/** Reconciliation of a day, and of a bank statement (docs/api.md#bank-statements). */

const service = useService()

type Debit = { uuid: string; reference: string; completedAt: string; date: Day }

/** Creates a debit that its bank ends. */
const ended = async (bank_reference: string, bank = 'GCB', more = {}): Promise<Debit> => {
  const fields = { phone_number: SILENT, bank_identifier: bank }
  const { uuid, reference } = await service.charge(fields)
  const report = { status: 'completed', bank_reference, ...more }
  const token = `bt_sandbox_${bank.toLowerCase()}`
  expect((await service.report(uuid, report, token)).status).toBe(200)
  const completedAt: string = (await service.show(reference)).history.at(-1).at
  return { uuid, reference, completedAt, date: dayOf(new Date(completedAt)) }
}
const DECLINED = { status: 'failed', error_message: 'Insufficient funds' }
const reverse = ({ reference }: Debit) =>
  service.call('debit', 'reverse', { reference, reason: 'Dispute' })

test('a day of ended debits is reconciled without a difference', async () => {
  await ended('B-1', 'GCB', { fee: 1.5, approval_method: 'ussd' })
  await ended('B-2', 'GCB', DECLINED)
  const reversed = await ended('B-3')
  await reverse(reversed)
  const { reference } = await service.charge({ phone_number: SILENT })
  // The day of the charges, also around midnight.
  const date = reference.replace(/^DCS-(....)(..)(..)-.*$/, '$1-$2-$3')
  const document = await service.call('reconciliation', 'run', { date })
  expect(document).toMatchObject({
    ...{ date, checked_at: expect.stringMatching(/Z$/), differences: 0 },
    completed_debits: {
      ...{ completed: '200.00', settled: '0.00', unsettled: '100.00', reversed: '100.00' },
    },
  })
  expect(document.invariants).toHaveLength(Object.keys(invariants).length)
  expect(document.invariants[0]).toEqual({
    ...{ number: 1, title: 'An accepted charge exists unchanged' },
    ...{ checked: 4, differences: 0, examples: [] },
  })
})

const rowOf = ({ uuid, completedAt }: Debit, reference = '', amount = '100.00') =>
  [uuid, reference, amount, 'GHS', completedAt].join(',')

let requests = 0
const compare = async (rows: readonly string[], date: Day, bank = 'GCB') => {
  const header = 'uuid,bank_reference,amount,currency,completed_at'
  const file = Buffer.from(`${[header, ...rows].join('\r\n')}\r\n`)
  requests = 0
  const load: LoadDebits = async (request) => {
    requests += 1
    const options = { bank, date, statement: JSON.stringify(request) }
    return (await service.call('reconciliation', 'statement', options)) as never
  }
  return (await compareFile({ file: [file], date }, load)).report
}

test('a statement is compared with the debits of its day in all states', async () => {
  const matching = await ended('S-1')
  const byReference = await ended('S-2')
  const unknownToBank = await ended('S-4')
  const failed = await ended('S-5', 'GCB', DECLINED)
  const elsewhere = await ended('E-1', 'ECO')
  const reversed = await ended('S-6')
  await reverse(reversed)
  const rows = [
    rowOf(matching, 'S-1'),
    rowOf({ ...byReference, uuid: '' }, 'S-2'),
    rowOf({ ...failed, uuid: '' }, 'S-5'),
    rowOf(elsewhere, 'E-1'),
    rowOf(reversed, 'S-6'),
  ]
  const report = await compare(rows, matching.date)
  const shown = (group: keyof typeof report) => [
    report[group].sum,
    ...report[group].examples.map(({ line, reference, reason }) => [line, reference, reason]),
  ]
  expect(shown('matched')).toEqual([
    '300.00',
    [2, matching.reference, undefined],
    [3, byReference.reference, undefined],
    [6, reversed.reference, undefined],
  ])
  expect(shown('differs')).toEqual(['100.00', [4, failed.reference, 'the debit is failed here']])
  // The debit of another bank is unknown here.
  expect(shown('missing_here')).toEqual(['100.00', [5, undefined, undefined]])
  // Two debits of the first test, and this one.
  expect(report.missing_at_bank.sum).toBe('300.00')
  expect(shown('missing_at_bank')).toContainEqual([undefined, unknownToBank.reference, undefined])
})

test('a statement of twelve thousand rows is sent in parts', async () => {
  const debit = await ended('L-1')
  const rows = Array.from({ length: 12_000 }, (_, n) => {
    const uuid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    return rowOf({ ...debit, uuid }, `L-${n + 2}`, '1.00')
  })
  const report = await compare([rowOf(debit, 'L-1'), ...rows], debit.date)
  expect(report.matched.count).toBe(1)
  expect(report.missing_here).toMatchObject({ count: 12_000, sum: '12000.00' })
  expect(report.missing_here.examples).toHaveLength(100)
  // One request for the debits and one for each five thousand unknown uuids.
  expect(requests).toBe(4)
})
