import type { InstructionResult } from '../domain/instruction.ts'
import { bankReference } from './sandbox.ts'
import type { SettlementConnector } from './settlement.ts'

/**
 * The bank of every sandbox pays at once, but for two kinds of account number, for trying out what
 * else may come. All it says follows from the instruction, so it needs no memory to pay once.
 */

/** The end of a number that is rejected. */
const REJECTED = '0000'
/** The end of a number that is paid when the bank is asked again. */
const SLOW = '9999'

export const sandboxSettlement: SettlementConnector = {
  pay: async ({ uuid, account, repeated }): Promise<InstructionResult> => {
    if (account.accountNumber.endsWith(REJECTED)) {
      return { kind: 'rejected', message: 'The account cannot be paid' }
    }
    if (account.accountNumber.endsWith(SLOW) && !repeated) return { kind: 'underway' }
    return { kind: 'paid', bankReference: bankReference({ bank: account.bank, uuid }) }
  },
}
