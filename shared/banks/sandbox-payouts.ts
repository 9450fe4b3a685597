import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { Uuid } from '../domain/ids.ts'
import type { PayoutResult } from '../domain/settlement/payout.ts'
import type { Connector } from './connector.ts'
import type { PayoutConnector } from './payout-connector.ts'
import { bankReference } from './sandbox.ts'

/**
 * The sandbox bank pays providers and refunds customers at once, except for two endings of account
 * numbers that try out other replies. Its reply follows from the instruction, so it needs no memory.
 */

/** The end of a number that is rejected. */
const REJECTED = '0000'
/** The end of a number that is paid when the bank is asked again. */
const SLOW = '9999'

type Payment = { bank: BankIdentifier; uuid: Uuid; accountNumber: string; repeated: boolean }

const pay = ({ bank, uuid, accountNumber, repeated }: Payment): PayoutResult => {
  if (accountNumber.endsWith(REJECTED)) {
    return { kind: 'rejected', message: 'The account cannot be paid' }
  }
  if (accountNumber.endsWith(SLOW) && !repeated) return { kind: 'underway' }
  return { kind: 'paid', bankReference: bankReference({ bank, uuid }) }
}

export const sandboxPayouts: PayoutConnector = {
  pay: async ({ account, ...instruction }) => pay({ ...instruction, ...account }),
}

export const sandboxRefund: NonNullable<Connector['refund']> = async (refund) =>
  pay({ ...refund, accountNumber: refund.accountNumber ?? '' })
