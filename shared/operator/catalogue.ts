import { approval } from './nouns/approval.ts'
import { bank } from './nouns/bank.ts'
import { change } from './nouns/change.ts'
import { connector } from './nouns/connector.ts'
import { credential } from './nouns/credential.ts'
import { customer } from './nouns/customer.ts'
import { debit } from './nouns/debit.ts'
import { delivery } from './nouns/delivery.ts'
import { exception } from './nouns/exception.ts'
import { funding } from './nouns/funding.ts'
import { ledger } from './nouns/ledger.ts'
import { limit } from './nouns/limit.ts'
import { provider } from './nouns/provider.ts'
import { reconciliation } from './nouns/reconciliation.ts'
import { restore } from './nouns/restore.ts'
import { settlement } from './nouns/settlement.ts'
import { webhook } from './nouns/webhook.ts'
import type { Noun } from './verbs.ts'

/** The nouns of the operator command. Each has its own function, `manage-<noun>`. */
export const nouns: Record<string, Noun> = {
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
  reconciliation,
  ledger,
  funding,
  approval,
  restore,
  change,
}
