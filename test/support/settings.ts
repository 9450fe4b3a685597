import type { Bank } from '../../shared/domain/banks/bank.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Restore } from '../../shared/domain/operator/restore.ts'
import type { Payee, Provider, ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { real } from '../../shared/runtime.ts'
import { changeBank } from '../../shared/store/banks/banks.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { keys } from '../../shared/store/keys.ts'
import { changeRestore } from '../../shared/store/operator/restores.ts'
import { putCredential } from '../../shared/store/providers/credentials.ts'
import { changePaidProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { put } from '../../shared/store/table.ts'
import { changeWebhook } from '../../shared/store/webhooks/webhooks.ts'
import { demoProvider, gcb, NOON } from './examples.ts'

const NO_PAYEE: Payee = { settlementAccount: undefined, payoutsHeldUntil: undefined }

export const storeProvider = (provider: Provider & Partial<Payee>) =>
  changePaidProvider(provider.id, () => ({ ...NO_PAYEE, ...provider }), noWrites, real)

export const storeBank = (bank: Bank) => changeBank(bank.identifier, () => bank, noWrites, real)

export const storeWebhook = (provider: ProviderId, webhook: Webhook) =>
  changeWebhook(provider, () => webhook, noWrites, real)

/** Stores the record of a restore, whose payouts and timeouts are held until its release. */
export const storeRestore = (generation: number, members: Partial<Restore> = {}) =>
  changeRestore(
    () => ({ generation, begunAt: NOON, by: 'ama', released: [], releasedAt: null, ...members }),
    noWrites,
    real,
  )

/** Stores a debit without the items of its provider's limits and keys. */
export const storeDebit = (debit: Debit) =>
  put(keys.debit(debit.facts.reference), 'debit', toDebitItem(debit))

/** Stores the demo provider, its bank and the credentials of the sample events. */
export const storeDemo = async (): Promise<void> => {
  const createdAt = NOON.toISOString()
  const provider = { kind: 'provider', owner: demoProvider.id, createdAt } as const
  const bank = { kind: 'bank', owner: gcb.identifier, createdAt } as const
  await Promise.all([
    storeBank(gcb),
    storeProvider(demoProvider),
    putCredential('sk_sandbox_demo', provider, [], real),
    putCredential('bt_sandbox_gcb', bank, [], real),
  ])
}
