import { CURRENCY, formatAmount } from '../../domain/money.ts'
import type { Totals } from '../../domain/settlement/batch.ts'
import type { MonthlyStatement } from '../../domain/settlement/monthly-statement.ts'
import { batchView } from '../../views/batch.ts'
import { htmlPage } from '../../views/html.ts'
import { monthlyStatementView } from '../../views/monthly-statement.ts'
import { csvRecord, guarded } from './csv.ts'

/** Renders the monthly statement of a provider as CSV or as a page (docs/api.md#monthly-statements). */

const COLUMNS = [
  ...['batch', 'date', 'status', 'count', 'gross', 'fee', 'adjustments', 'net', 'paid'],
  ...['completed_at', 'bank_reference', 'currency'],
]

/** The sums of an unsealed batch are empty, and so is `paid` until the bank has paid: the column adds up. */
const batchFields = (batch: MonthlyStatement['batches'][number]): string[] => {
  const { id, date, status, count, gross, fee, adjustments, net, paid, ...rest } = batchView(batch)
  const transfer = rest.completed_at && paid
  const sums = [count, gross, fee, adjustments, net, transfer].map((sum) => String(sum ?? ''))
  return [id, date, status, ...sums, rest.completed_at ?? '', rest.bank_reference ?? '', CURRENCY]
}

const sumFields = ({ count, gross, fee, adjustments, net }: Totals): string[] => [
  String(count),
  ...[gross, fee, adjustments, net].map(formatAmount),
]

const lastFields = ({ totals, paid }: MonthlyStatement): string[] => [
  ...['total', '', '', ...sumFields(totals), formatAmount(paid)],
  ...['', '', CURRENCY],
]

export const statementCsv = (statement: MonthlyStatement): string =>
  [
    COLUMNS,
    ...statement.batches.map((batch) => batchFields(batch).map(spreadsheetText)),
    lastFields(statement),
  ]
    .map(csvRecord)
    .join('')

/** Amounts can be below zero; only the bank's reference is foreign text. */
const spreadsheetText = (field: string, index: number): string =>
  COLUMNS[index] === 'bank_reference' ? guarded(field) : field

const scheduleText = (fee: ReturnType<typeof monthlyStatementView>['fees'][number]): string => {
  const schedule = fee.fee_schedule
  if (!schedule) return 'no schedule'
  const { basis_points, fixed, minimum, maximum } = schedule
  const bounds = [minimum && `at least ${minimum}`, maximum && `at most ${maximum}`]
  return [`${basis_points} basis points + ${fixed}`, ...bounds].filter(Boolean).join(', ')
}

/** @param at time of the read: payouts can follow */
export const statementPage = (statement: MonthlyStatement, name: string, at: Date): string => {
  const { provider, month, fees, partial } = monthlyStatementView(statement)
  return htmlPage(
    `Statement of ${month}`,
    [
      `${name} (${provider}). Amounts in ${CURRENCY}.`,
      `As of ${at.toISOString().slice(0, 19).replace('T', ' ')} UTC.`,
      ...(partial ? ['Partial: more debits can follow in this month.'] : []),
    ],
    [
      {
        caption: 'Sums',
        columns: ['Lines', 'Gross', 'Fee', 'Adjustments', 'Net', 'Paid'],
        rows: [[...sumFields(statement.totals), formatAmount(statement.paid)]],
      },
      {
        caption: 'Fees',
        columns: ['Schedule', 'Batches', 'Debits', 'Gross', 'Fee'],
        rows: fees.map((one) => [
          ...[scheduleText(one), String(one.batches), String(one.debits)],
          ...[one.gross, one.fee],
        ]),
      },
      {
        caption: 'Batches',
        columns: COLUMNS,
        rows: [...statement.batches.map(batchFields), lastFields(statement)],
      },
    ],
  )
}
