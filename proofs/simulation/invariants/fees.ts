import { isDeepStrictEqual } from 'node:util'
import type { FeeSchedule } from '../engine/observations.ts'
import { membersOf } from './calls.ts'
import type { Check, DebitHistory, ObservationIndex } from './observation-index.ts'
import { pesewasOfFee } from './time-and-money.ts'

/** 29: a batch has the schedule of its opening, and a debit the fee of its bank. */

/** A batch keeps the schedule that its provider had when it was opened. */
export const schedulesAreCurrent: Check = ({ batches, timeline, startOf }, report) => {
  for (const [id, { item, changes }] of batches) {
    const [opened] = changes
    if (!opened) continue
    const startedAt = startOf(opened.by?.invocation, 0)
    const possible = timeline.during('feeSchedule', item.provider, startedAt, opened.at)
    const own = { ...(item.feeSchedule as FeeSchedule | null) }
    const isCurrent = possible.some((schedule) => isDeepStrictEqual(own, { ...schedule }))
    if (!isCurrent) report(id, `has the schedule ${JSON.stringify(own)}`)
  }
}

/** A JSON number keeps its text: 0.30000000000000004 has more digits than a number prints. */
const feeIn = (sent: unknown): unknown => {
  const text = typeof sent === 'string' ? /"fee":([0-9.]+)\}?$/.exec(sent)?.[1] : undefined
  return text ?? membersOf(sent).fee
}

const feeByBank = (
  { uuid, changes }: DebitHistory,
  { callBy, queriesOf }: ObservationIndex,
): number | undefined => {
  const change = changes.findLast(
    ({ before, after }) => after?.status === 'completed' && before?.status !== 'completed',
  )
  const invocation = change?.by?.invocation
  if (!change || invocation === undefined) return undefined
  const call = callBy.get(invocation)
  if (call) return pesewasOfFee(feeIn(call.sent))
  const query = queriesOf
    .get(uuid)
    ?.findLast(
      ({ by, answer, at }) => by === invocation && answer === 'completed' && at <= change.at,
    )
  return pesewasOfFee(query?.fee)
}

/** The reconciliation computes the fee of a line from that of its debit and the schedule (47). */
export const feesAreOfBank: Check = (index, report) => {
  for (const [reference, history] of index.debits) {
    const fee = history.entries.findLast(({ set }) => set.fee !== undefined)?.set.fee
    const byBank = feeByBank(history, index)
    if (fee !== byBank) report(reference, `has the fee ${fee}, but its bank reported ${byBank}`)
  }
}
