import * as v from 'valibot'
import { Bank } from '../../../shared/domain/banks/bank.ts'
import {
  advance,
  type Changes,
  type Debit,
  openDebit,
} from '../../../shared/domain/debits/debit.ts'
import type { Status } from '../../../shared/domain/debits/lifecycle.ts'
import { Reference, Uuid } from '../../../shared/domain/ids.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import { PhoneNumber } from '../../../shared/domain/phone.ts'
import { Provider } from '../../../shared/domain/providers/provider.ts'
import { granted } from '../../support/refused.ts'

/** A time of the second of January 2025, UTC. */
export const at = (time: string): Date => new Date(`2025-01-02T${time}Z`)

export const bank = v.parse(Bank, {
  identifier: 'GCB',
  name: 'GCB Bank',
  countryCode: 'GH',
  status: 'live',
  connector: 'sandbox',
  connectorType: 'both',
})

export const provider = v.parse(Provider, {
  id: 'demo',
  name: 'Demo Payments',
  status: 'active',
  duplicates: 'return',
})

export const reference = v.parse(Reference, 'DCS-20250102-00000A')
export const uuid = v.parse(Uuid, '3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e')

/** One debit after each of its transitions. */
export const opened = openDebit(
  {
    reference,
    uuid,
    provider: provider.id,
    partnerReference: 'order-1001',
    bank: { identifier: bank.identifier, name: bank.name },
    phone: v.parse(PhoneNumber, '+233241234567'),
    amount: pesewas(100_00),
    narration: 'Rent for January',
    metadata: { order: 1001, branch: 'Kumasi' },
  },
  { at: at('10:00:00.000'), by: 'provider:demo', requestId: 'req-1' },
)

export const moved = (debit: Debit, to: Status, time: string, changes: Changes): Debit =>
  granted(advance(debit, { to, at: at(time), by: 'bank:GCB', requestId: 'req-2', changes }))

export const processing = moved(opened, 'processing', '10:00:01.500', {
  bankReference: 'GCB-77',
  customerName: 'Ama Mensah',
  accountNumber: '1234567890',
})

export const completed = moved(processing, 'completed', '10:01:00.000', {
  bankReference: 'GCB-78',
  approvalMethod: 'mobile_api',
  fee: pesewas(1_50),
  metadata: { branch: 'Accra' },
})

export const failed = moved(processing, 'failed', '10:02:00.000', {
  errorMessage: 'Insufficient funds',
  errorCode: 'insufficient_funds',
})

export const reversed = moved(completed, 'reversed', '11:00:00.000', {
  metadata: { reversal_reason: 'Dispute' },
})
