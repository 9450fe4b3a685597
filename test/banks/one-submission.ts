import * as v from 'valibot'
import type { ConnectorConfig } from '../../shared/banks/connector.ts'
import { CustomerAccount } from '../../shared/domain/banks/bank.ts'
import { stateAt } from '../../shared/domain/debits/debit.ts'
import type { Submission } from '../../shared/domain/debits/submission.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { pendingDebit } from '../support/examples.ts'

/** Ordinary submissions and surroundings of a connector, for tests to vary. */

export const account = v.parse(CustomerAccount, {
  customerName: 'Ama Mensah',
  accountNumber: '1041001001',
  accountType: 'savings',
  status: 'active',
})

/** A first submission of its own reference and uuid. */
export const submissionOf = (fields: Partial<Submission> = {}): Submission => {
  const { reference, uuid, bank, amount, narration, createdAt } = stateAt(pendingDebit())
  return {
    reference,
    uuid,
    bank: bank.identifier,
    phone: '+233249999999' as PhoneNumber,
    amount,
    narration,
    createdAt,
    account,
    repeated: false,
    ...fields,
  }
}

export const wiringOf = (parts: Partial<ConnectorConfig> = {}): ConnectorConfig => ({
  reportLater: async () => undefined,
  settingsOf: async () => undefined,
  now: () => new Date(),
  timeoutSeconds: 10,
  localPeers: true,
  ...parts,
})
