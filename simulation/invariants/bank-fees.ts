import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { membersOf } from './reply.ts'
import { pesewasOfFee } from './time-and-money.ts'

/** The fee that a bank reported with a completion, read from its own words. */

/** A JSON number keeps its text: 0.30000000000000004 has more digits than a number prints. */
const feeIn = (sent: unknown): unknown => {
  if (typeof sent !== 'string') return membersOf(sent).fee
  return /"fee":([0-9.]+)\}?$/.exec(sent)?.[1] ?? membersOf(sent).fee
}

/** Returns the fee of the bank's report or reply that completed a debit. */
export const feeByBank = (
  { item, changes }: DebitHistory,
  { askedBy, observations }: ObservationIndex,
): number | undefined => {
  const change = changes.findLast(
    ({ before, after }) => after?.status === 'completed' && before?.status !== 'completed',
  )
  const invocation = change?.by?.invocation
  if (invocation === undefined || !change) return undefined
  const call = askedBy.get(invocation)
  if (call) return pesewasOfFee(feeIn(call.sent))
  const query = observations.queries.findLast(
    ({ by, uuid, answer, at }) =>
      by === invocation && uuid === item.uuid && answer === 'completed' && at <= change.at,
  )
  return pesewasOfFee(query?.fee)
}
