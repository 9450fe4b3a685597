import type { DebitSummary } from '../../shared/views/operator/debit.ts'

/** The receiver of the money of a debit or a batch; `none`: the call moves no money. */
export type Money = 'to provider' | 'to customer' | 'taken back' | 'payout' | 'none'

/** Options of a call, of which some change what it does to money. */
type MoneyOptions = Partial<Record<string, string>>

const calls: Record<string, (options: MoneyOptions) => Money> = {
  'debit complete': () => 'to provider',
  'debit fail': () => 'none',
  'debit fail-refund': () => 'none',
  'debit reverse': ({ refund }) => (refund === 'none' ? 'taken back' : 'to customer'),
  'exception refund': () => 'to customer',
  'settlement complete': () => 'payout',
  'settlement fail': () => 'none',
  'settlement process': () => 'payout',
  'settlement retry': () => 'payout',
}

/** Returns what a call about one debit or batch does to money; undefined for other calls. */
export const moneyOf = (noun: string, verb: string, options: MoneyOptions): Money | undefined =>
  calls[`${noun} ${verb}`]?.(options)

/** Returns who pays a refund: the bank that debited a customer for a failed debit, else the provider. */
export const refundPayer = ({
  status,
  provider,
  bank,
}: Pick<DebitSummary, 'status' | 'provider' | 'bank'>): string =>
  status === 'failed' ? bank : provider
