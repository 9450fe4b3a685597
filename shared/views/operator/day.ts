import type { Shows } from '../../domain/complete.ts'
import { formatAmount } from '../../domain/money.ts'
import type { BankDay, DayClosing } from '../../domain/operator/day-closing.ts'
import type { Ages } from '../../domain/settlement/ages.ts'
import { htmlPage } from '../html.ts'

/** Amounts by days of age; `more` is older than two days. */
const agesView = ([day, before, twoBefore, older]: Ages) => ({
  0: formatAmount(day),
  1: formatAmount(before),
  2: formatAmount(twoBefore),
  more: formatAmount(older),
})

const bankView = ({ bank, moved, remitted, receivable, ages, statement }: BankDay) =>
  ({
    bank,
    debits: formatAmount(moved.debit),
    refunds: formatAmount(moved.refund),
    payouts: formatAmount(moved.payout),
    remitted: formatAmount(remitted),
    receivable: formatAmount(receivable),
    ages: agesView(ages),
    statement,
  }) satisfies Shows<BankDay, 'moved'>

export type DayResult = ReturnType<typeof dayView>

/** Shows the closing of a day (docs/operators.md#close-a-day). */
export const dayView = ({ date, open, banks, owing }: DayClosing) =>
  ({
    date,
    result: open.length === 0 ? ('clean' as const) : ('open' as const),
    open: open.map(({ check, command, reason, subject }) => ({ check, command, reason, subject })),
    banks: banks.map(bankView),
    owing: owing.map(({ provider, balance, ages }) => ({
      ...{ provider, balance: formatAmount(balance), ages: agesView(ages) },
    })),
  }) satisfies Shows<DayClosing>

const AGES = ['Of the day', '1 day old', '2 days old', 'Older']
const agesRow = (ages: ReturnType<typeof agesView>) => [ages[0], ages[1], ages[2], ages.more]

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
        columns: [
          ...['Bank', 'Debits', 'Refunds', 'Payouts', 'Remitted', 'Receivable', ...AGES],
          'Statement',
        ],
        rows: banks.map((one) => [
          ...[one.bank, one.debits, one.refunds, one.payouts],
          ...[one.remitted, one.receivable, ...agesRow(one.ages), one.statement],
        ]),
      },
      {
        caption: 'Providers that owe money',
        columns: ['Provider', 'Balance', ...AGES],
        rows: owing.map(({ provider, balance, ages }) => [provider, balance, ...agesRow(ages)]),
      },
    ],
  )
}
