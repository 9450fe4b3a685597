import { approval } from './nouns/approval.ts'
import { bank } from './nouns/bank.ts'
import { change } from './nouns/change.ts'
import { connector } from './nouns/connector.ts'
import { credential } from './nouns/credential.ts'
import { customer } from './nouns/customer.ts'
import { debit } from './nouns/debit.ts'
import { delivery } from './nouns/delivery.ts'
import { exception } from './nouns/exception.ts'
import { limit } from './nouns/limit.ts'
import { provider } from './nouns/provider.ts'
import { reconciliation } from './nouns/reconciliation.ts'
import { restore } from './nouns/restore.ts'
import { settlement } from './nouns/settlement.ts'
import { webhook } from './nouns/webhook.ts'
import type { Noun } from './verbs.ts'

/** Every noun of the operator command; each has a function of its own, `manage-<noun>`. */
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
  approval,
  restore,
  change,
}
