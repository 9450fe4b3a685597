import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { Uuid } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { BatchId } from '../../shared/domain/settlement/batch.ts'
import type { Payout } from '../../shared/domain/settlement/payout.ts'
import { Day } from '../../shared/domain/time.ts'
import { demoProvider } from '../support/examples.ts'

/** A first instruction of its own uuid, for tests to vary. */
export const instructionOf = (fields: Partial<Payout> = {}): Payout => ({
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

/** The provider's account of that number. */
export const accountOf = (accountNumber: string): Payout['account'] => ({
  bank: v.parse(BankIdentifier, 'GCB'),
  accountNumber,
  accountName: 'Demo Payments Ltd',
})
