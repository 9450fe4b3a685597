import * as v from 'valibot'
import { advance, type Changes, type Debit } from '../../../shared/domain/debits/debit.ts'
import type { Status } from '../../../shared/domain/debits/lifecycle.ts'
import { Reference, Uuid } from '../../../shared/domain/ids.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import { pendingDebit } from '../../support/examples.ts'
import { granted } from '../../support/refused.ts'

/** A time of the second of January 2025, UTC. */
export const at = (time: string): Date => new Date(`2025-01-02T${time}Z`)

export const reference = v.parse(Reference, 'DCS-20250102-00000A')
export const uuid = v.parse(Uuid, '3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e')

/** One debit after each of its transitions. */
export const opened = pendingDebit(
  {
    reference,
    uuid,
    partnerReference: 'order-1001',
    narration: 'Rent for January',
    metadata: { order: 1001, branch: 'Kumasi' },
  },
  at('10:00:00.000'),
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

export const examples = { pending: opened, processing, completed, failed, reversed }
