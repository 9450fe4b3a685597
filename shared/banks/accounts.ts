import * as v from 'valibot'
import type { BankIdentifier, CustomerAccount } from '../domain/banks/bank.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import { type ConnectionConfig, ConnectorFault } from './connector.ts'
import { accountReply } from './replies.ts'
import { NOT_RECEIVED, queryBank } from './request.ts'
import { parseBody } from './response.ts'
import { sandboxAccount } from './sandbox.ts'

/** Asks banks for the account of a phone number (docs/bank-protocol.md#account-of-a-number). */

export type AccountAtBank = Omit<CustomerAccount, 'accountType'>

type Lookup = (bank: BankIdentifier, phone: PhoneNumber) => Promise<AccountAtBank | undefined>

/** @throws ConnectorFault for a response that is neither an account nor 404 */
const httpLookup =
  (config: ConnectionConfig): Lookup =>
  async (bank, phone) => {
    const response = await queryBank(bank, `/accounts/${phone}`, config)
    if (response.status === NOT_RECEIVED) return undefined
    if (response.status >= 500) throw new ConnectorFault(2500, `HTTP ${response.status}`)
    const reply = v.safeParse(accountReply, parseBody(response.body))
    if (response.status !== 200 || !reply.success) {
      throw new ConnectorFault(2002, `HTTP ${response.status} without an account`)
    }
    const { name, account_number, active } = reply.output
    return {
      customerName: name,
      accountNumber: account_number,
      status: active ? 'active' : 'inactive',
    }
  }

/** @returns undefined for a number without an account at the bank */
export const accountLookups = (config: ConnectionConfig): Record<'sandbox' | 'http', Lookup> => ({
  sandbox: sandboxAccount(config),
  http: httpLookup(config),
})
