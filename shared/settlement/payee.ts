import type { Pesewas } from '../domain/money.ts'
import type { ProviderId, SettlementAccount } from '../domain/providers/provider.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { dayOf } from '../domain/time.ts'
import { findBank } from '../store/banks/banks.ts'
import { findPayee, findProvider } from '../store/providers/providers.ts'
import { refusalOn } from './payout-day.ts'

/** Checks whether a batch can be paid, and to which account (docs/api.md#payouts). */

export const notPayable = (details: string): Refusal => new Refusal(5001, { details })

export const noAccount = (): Refusal => notPayable('the provider has no settlement account')

const disabled = (provider: ProviderId): Refusal =>
  notPayable(`${provider} is disabled: its payouts are held until operator provider enable`)

/**
 * Returns account, bank and hold of a batch that the service pays without an operator, or why it does not.
 * @param due zero: no money moves, so the batch of a disabled provider ends
 */
export const findPayable = async (batch: Batch, due: Pesewas) => {
  const { provider, totals, reportedAt } = batch
  if (!totals || !reportedAt) return notPayable('the batch is being built')
  if (totals.net < 0) return notPayable('the net is negative: a later batch offsets it')
  const [settings, payee] = await Promise.all([findProvider(provider), findPayee(provider)])
  const { settlementAccount: account, payoutsHeldUntil: heldUntil } = payee
  if (due > 0 && settings?.status === 'suspended') return disabled(provider)
  if (!account) return noAccount()
  const bank = await findBank(account.bank)
  if (!bank || bank.connector === 'none') {
    return notPayable(`no connector to the bank ${account.bank}`)
  }
  return { account, bank, heldUntil }
}

/** `anyDay`: also on a day without payouts of the bank. */
export type PayoutOptions = { anyDay?: boolean }

/** Returns the account of a payout that has not begun, or why it may not begin. */
export const payeeOf = async (
  batch: Batch,
  due: Pesewas,
  at: Date,
  { anyDay = false }: PayoutOptions = {},
): Promise<SettlementAccount | Refusal> => {
  const payable = await findPayable(batch, due)
  if (payable instanceof Refusal) return payable
  const { account, bank, heldUntil } = payable
  if (heldUntil && at < new Date(heldUntil)) {
    return notPayable(`the settlement account changed: payouts are held until ${heldUntil}`)
  }
  return (anyDay ? undefined : await refusalOn(dayOf(at), bank)) ?? account
}
