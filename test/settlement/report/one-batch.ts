import * as v from 'valibot'
import { BankIdentifier } from '../../../shared/domain/banks/bank.ts'
import { BatchId, Reference, Uuid } from '../../../shared/domain/ids.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import { ProviderId } from '../../../shared/domain/providers/provider.ts'
import {
  addLine,
  type Batch,
  type Line,
  noTotals,
  openBatch,
} from '../../../shared/domain/settlement/batch.ts'
import { adjustmentLine } from '../../../shared/domain/settlement/line.ts'
import { Day } from '../../../shared/domain/time.ts'

export const reference = v.parse(Reference, 'DCS-20261121-00000A')

export const line = (changes: Partial<Line> = {}): Line => ({
  type: 'debit',
  reference,
  partnerReference: 'order-1001',
  bankReference: 'GCB-78',
  bank: v.parse(BankIdentifier, 'GCB'),
  completedAt: new Date('2026-11-21T10:01:00.000Z'),
  gross: pesewas(100_00),
  fee: pesewas(1_50),
  net: pesewas(98_50),
  ...changes,
})

export const numberedLine = (n: number): Line =>
  line({
    reference: v.parse(Reference, `DCS-20261121-${String(n).padStart(6, '0')}`),
    partnerReference: `order-${n}`,
  })

export const adjustment = adjustmentLine(
  line({ gross: pesewas(40_00), fee: pesewas(60), net: pesewas(39_40) }),
)

export const batch = (changes: Partial<Batch> = {}): Batch => ({
  ...openBatch({
    id: v.parse(BatchId, 'STL-20261122-ABC123'),
    uuid: v.parse(Uuid, '3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e'),
    provider: v.parse(ProviderId, 'demo'),
    date: v.parse(Day, '2026-11-22'),
    n: 1,
    createdAt: new Date('2026-11-22T00:00:01.000Z'),
    feeSchedule: null,
  }),
  sealedAt: new Date('2026-11-22T00:00:02.000Z'),
  ...changes,
})

export const sealed = (lines: readonly Line[]): Batch =>
  batch({ totals: lines.reduce(addLine, noTotals) })

export const textOf = async (chunks: AsyncIterable<string>): Promise<string> =>
  (await Array.fromAsync(chunks)).join('')
