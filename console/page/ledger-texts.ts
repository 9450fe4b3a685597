import type { Account } from '../../shared/domain/settlement/ledger-entry.ts'
import { withSeparators } from './amounts.ts'

type AccountKind<A = Account> = A extends `${infer Kind}:${string}` ? Kind : A & string

/** The names of accounts; that of a bank or provider follows. */
const names: Record<AccountKind, string> = {
  bank_receivable: 'Owed by',
  cash: 'Cash',
  exceptions: 'Undecided late completions',
  fee_income: 'Fee income',
  provider_payable: 'Owed to',
  refunds_payable: 'Refunds owed to customers',
}

/** @param account the code, such as `bank_receivable:GCB` */
export const accountName = (account: string): string => {
  const [kind = '', party] = account.split(':')
  const name = Object.hasOwn(names, kind) ? names[kind as AccountKind] : kind
  return party === undefined ? name : `${name} ${party}`
}

/** Shows a balance on its side, such as `24.62 Cr` for -24.62. */
export const balanceText = (balance: string): string => {
  if (Number(balance) === 0) return balance
  const amount = withSeparators(balance.replace('-', ''))
  return `${amount} ${balance.startsWith('-') ? 'Cr' : 'Dr'}`
}
