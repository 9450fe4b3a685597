import type { Shows } from '../../domain/complete.ts'
import { formatAmount } from '../../domain/money.ts'
import type { BankDay, DayClosing } from '../../domain/operator/day-closing.ts'
import { htmlPage } from '../html.ts'

const bankView = ({ bank, moved, remitted, receivable, statement }: BankDay) =>
  ({
    bank,
    debits: formatAmount(moved.debit),
    refunds: formatAmount(moved.refund),
    payouts: formatAmount(moved.payout),
    remitted: formatAmount(remitted),
    receivable: formatAmount(receivable),
    statement,
  }) satisfies Shows<BankDay, 'moved'>

export type DayResult = ReturnType<typeof dayView>

/** Shows the closing of a day (docs/operators.md#close-a-day). */
export const dayView = ({ date, open, banks, owing }: DayClosing) =>
  ({
    date,
    result: open.length === 0 ? ('clean' as const) : ('open' as const),
    open,
    banks: banks.map(bankView),
    owing: owing.map(({ provider, balance }) => ({ provider, balance: formatAmount(balance) })),
  }) satisfies Shows<DayClosing>

export const dayPage = (closing: DayClosing): string => {
  const { date, result, open, banks, owing } = dayView(closing)
  return htmlPage(
    `Closing of ${date}`,
    [`The day is ${result}. Amounts in GHS.`],
    [
      {
        caption: 'Open',
        columns: ['Check', 'Subject', 'Reason', 'Next command'],
        rows: open.map((one) => [one.check, one.subject, one.reason, one.command]),
      },
      {
        caption: 'Banks',
        columns: ['Bank', 'Debits', 'Refunds', 'Payouts', 'Remitted', 'Receivable', 'Statement'],
        rows: banks.map((one) => [
          ...[one.bank, one.debits, one.refunds, one.payouts],
          ...[one.remitted, one.receivable, one.statement],
        ]),
      },
      {
        caption: 'Providers that owe money',
        columns: ['Provider', 'Balance'],
        rows: owing.map(({ provider, balance }) => [provider, balance]),
      },
    ],
  )
}
