import { funding, reconciliation, settlement } from './nouns/accounting.ts'
import { bank, connector } from './nouns/banks.ts'
import { calendar } from './nouns/calendar.ts'
import { customer } from './nouns/customers.ts'
import { day } from './nouns/day.ts'
import { debit, delivery, exception } from './nouns/debits.ts'
import { ledger } from './nouns/ledger.ts'
import { approval, change, deadLetters, restore, secret } from './nouns/operators.ts'
import { credential, limit, provider } from './nouns/providers.ts'
import { webhook } from './nouns/webhook.ts'
import type { Noun } from './verbs.ts'

/** The nouns of the operator command. Each has its own function, `manage-<noun>`. */
const rows = {
  provider,
  credential,
  limit,
  bank,
  connector,
  customer,
  webhook,
  delivery,
  debit,
  exception,
  settlement,
  calendar,
  reconciliation,
  day,
  ledger,
  funding,
  approval,
  restore,
  change,
  secret,
  'dead-letters': deadLetters,
} as const satisfies Record<string, Noun>

/** The nouns by any text. */
export const nouns: Record<string, Noun> = rows

export type Nouns = typeof rows
