import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { Uuid } from '../domain/ids.ts'
import type { PayoutResult } from '../domain/settlement/payout.ts'
import type { Connector, PayoutConnector } from './connector.ts'
import { bankReference } from './sandbox.ts'

/** Ends of account numbers that the sandbox bank rejects, or pays at the second request. */
const REJECTED = '0000'
const SLOW = '9999'

type SandboxPayment = { bank: BankIdentifier; uuid: Uuid; accountNumber: string; repeated: boolean }

const pay = ({ bank, uuid, accountNumber, repeated }: SandboxPayment): PayoutResult => {
  if (accountNumber.endsWith(REJECTED)) {
    return { kind: 'rejected', message: 'The account cannot be paid' }
  }
  if (accountNumber.endsWith(SLOW) && !repeated) return { kind: 'underway' }
  return { kind: 'paid', bankReference: bankReference({ bank, uuid }) }
}

export const sandboxPayouts: PayoutConnector = {
  pay: async ({ account, ...payout }) => pay({ ...payout, ...account }),
}

export const sandboxRefund: NonNullable<Connector['refund']> = async (refund) =>
  pay({ ...refund, accountNumber: refund.accountNumber ?? '' })
