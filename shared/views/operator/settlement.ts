import type { RunResult } from '../../domain/settlement/run.ts'
import type { Day } from '../../domain/time.ts'
import { batchView } from '../batch.ts'

export type SettlementRunResult = ReturnType<typeof settlementRunView>

export const settlementRunView = (
  date: Day,
  { built, paid, unpaid, unbuilt, due, underway }: RunResult,
) => ({
  date,
  built: built.map(batchView),
  paid: paid.map(batchView),
  unpaid: unpaid.map(({ batch, reason }) => ({ batch, ...reason.error, details: reason.details })),
  in_work: [...unbuilt, ...[...due, ...underway].map(({ id }) => id)],
})
