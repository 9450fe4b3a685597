import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { ConnectorConfig } from '../../shared/banks/connector.ts'
import { BankIdentifier, CustomerAccount } from '../../shared/domain/banks/bank.ts'
import { stateAt, wholeFacts } from '../../shared/domain/debits/debit.ts'
import type { Submission } from '../../shared/domain/debits/submission.ts'
import { BatchId, type Uuid } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import type { Payout } from '../../shared/domain/settlement/payout.ts'
import { Day } from '../../shared/domain/time.ts'
import { demoProvider, pendingDebit } from '../support/examples.ts'

export const account = v.parse(CustomerAccount, {
  customerName: 'Ama Mensah',
  accountNumber: '1041001001',
  accountType: 'savings',
  status: 'active',
})

/** A first submission with a new reference and uuid. */
export const submissionOf = (fields: Partial<Submission> = {}): Submission => {
  const debit = pendingDebit()
  const { reference, uuid, providerName, bank, amount, narration } = wholeFacts(debit)
  const { createdAt } = stateAt(debit)
  return {
    reference,
    uuid,
    providerName,
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

/** A first payout with a new uuid. */
export const payoutOf = (fields: Partial<Payout> = {}): Payout => ({
  uuid: randomUUID() as Uuid,
  batch: v.parse(BatchId, 'STL-20261122-ABC123'),
  provider: demoProvider.id,
  amount: pesewas(49_250_75),
  currency: 'GHS',
  account: accountOf('1041001001'),
  date: v.parse(Day, '2026-11-22'),
  repeated: false,
  ...fields,
})

export const accountOf = (accountNumber: string): Payout['account'] => ({
  bank: v.parse(BankIdentifier, 'GCB'),
  accountNumber,
  accountName: 'Demo Payments Ltd',
})

export const configOf = (parts: Partial<ConnectorConfig> = {}): ConnectorConfig => ({
  reportLater: async () => undefined,
  settingsOf: async () => undefined,
  behaviourOf: async () => undefined,
  wallTime: () => new Date(),
  pause: async () => undefined,
  timeoutSeconds: 10,
  localPeers: ['127.0.0.1'],
  clientCertificate: async () => undefined,
  ...parts,
})
