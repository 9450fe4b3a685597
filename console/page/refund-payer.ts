import type { DebitSummary } from '../../shared/views/operator/debit.ts'

/** Returns who pays a refund: the bank that debited a customer for a failed debit, else the provider. */
export const refundPayer = ({
  status,
  provider,
  bank,
}: Pick<DebitSummary, 'status' | 'provider' | 'bank'>): string =>
  status === 'failed' ? bank : provider
