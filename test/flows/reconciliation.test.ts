import { expect, test } from 'vitest'
import { type Day, dayOf } from '../../shared/domain/time.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import { type AskStatement, compareFile } from '../../shared/operator/statement-file.ts'
import { invariants } from '../../shared/reconciliation/findings.ts'
import { listStatements } from '../../shared/store/banks/statements.ts'
import { createPayee, nightAfter } from '../support/payee.ts'
import { SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'

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
const reverse = ({ reference }: Debit, more = {}) =>
  service.call('debit', 'reverse', { reference, reason: 'Dispute', ...more })

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
  const load: AskStatement = async (request) => {
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
  const waived = await ended('S-7')
  const unmoved = await ended('S-8')
  for (const debit of [waived, unmoved]) await reverse(debit, { refund: 'none' })
  const late = await ended('S-9', 'GCB', DECLINED)
  const completion = { status: 'completed', bank_reference: 'S-9-LATE' }
  await service.report(late.uuid, completion, 'bt_sandbox_gcb')
  await service.call('exception', 'refund', { reference: late.reference })
  const rows = [
    rowOf(matching, 'S-1'),
    rowOf({ ...byReference, uuid: '' }, 'S-2'),
    rowOf({ ...failed, uuid: '' }, 'S-5'),
    rowOf(elsewhere, 'S-4'),
    rowOf(reversed, 'S-6'),
    rowOf(waived, 'S-7'),
    rowOf({ ...late, uuid: '' }, 'S-9-LATE'),
  ]
  const report = await compare(rows, matching.date)
  const shown = (group: keyof typeof report) => [
    report[group].sum,
    ...report[group].examples.map(({ line, reference, reason }) => [line, reference, reason]),
  ]
  expect(shown('matched')).toEqual([
    '400.00',
    [2, matching.reference, undefined],
    [3, byReference.reference, undefined],
    [6, reversed.reference, undefined],
    [8, late.reference, undefined],
  ])
  expect(shown('differs')).toEqual([
    '200.00',
    [4, failed.reference, 'the debit is failed here'],
    [7, waived.reference, 'the debit is reversed here'],
  ])
  // The debit of another bank is unknown here, whatever its reference.
  expect(shown('missing_here')).toEqual(['100.00', [5, undefined, undefined]])
  // Two debits of the first test, and this one. The bank moved no money of the other.
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
  // The format, the debits, refunds, payouts, the result, and one request for each five thousand unknown uuids.
  expect(requests).toBe(8)
})

test('a statement in the format of its bank has debits, refunds and payouts, and its counts are stored', async () => {
  const payee = await createPayee(service, 'stated')
  await payee.complete('30.00')
  const [{ id: batch }] = (await payee.run(nightAfter(0))).built
  const [{ paid }] = (await payee.run(nightAfter(1))).paid
  const debit = await ended('F-1')
  const reversed = await ended('F-2')
  await reverse(reversed)
  const refund = await service.untilRefund(reversed.reference, 'completed')
  const mapping = {
    ...{ uuid: 'Id', bank_reference: 'Ref No', amount: 'Credit Amt', outgoing: 'Debit Amt' },
    date: 'Value Date',
  }
  const text = Object.entries(mapping).map((pair) => pair.join('='))
  const updated = await service.call('bank', 'update', {
    bank: 'GCB',
    'statement-columns': text.join(','),
  })
  expect(updated.statement_columns).toMatchObject({
    amount: 'Credit Amt',
    completed_at: 'Value Date',
  })
  const [year, month, day] = debit.date.split('-')
  const date = `${day}/${month}/${year}`
  const rows = [
    `;F-1;100.00;;${date}`,
    `${refund.uuid};;;100.00;${date}`,
    `;${batch};;${paid};${date}`,
    `;X-9;1,000.00;;${date}`,
  ]
  const file = ['Id;Ref No;Credit Amt;Debit Amt;Value Date', ...rows].join('\n')
  const reply = await operateFully(
    {
      ...{ noun: 'reconciliation', verb: 'statement' },
      options: { bank: 'GCB', date: debit.date, statement: file },
    },
    ({ noun, verb, options }) => service.operate(noun, verb, options),
  )
  if ('error' in reply) throw new Error(reply.error)
  const { matched, missing_here, covers } = reply.result as Shown
  expect(matched.examples.map(({ reference }: Shown) => reference)).toEqual([
    ...[debit.reference, reversed.reference, batch],
  ])
  expect(missing_here).toMatchObject({ count: 1, sum: '1000.00' })
  expect(covers).toEqual(['debit', 'refund', 'payout'])
  const [change] = await service.call('change', 'list', { bank: 'GCB', limit: '1' })
  expect(change).toMatchObject({ verb: 'statement', changed: { matched: { to: 3 } } })
  expect(await listStatements(debit.date)).toMatchObject([
    { bank: 'GCB', covers, counts: { matched: 3, missing_here: 1 } },
  ])
})
