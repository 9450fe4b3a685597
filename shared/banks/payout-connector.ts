import type { Payout, PayoutResult } from '../domain/settlement/payout.ts'

/**
 * What has one kind of bank pay providers. An instruction may be repeated with the same uuid, and is
 * paid once. A result that is not known is thrown: the queue comes again.
 */
export type PayoutConnector = {
  pay: (instruction: Payout) => Promise<PayoutResult>
}
