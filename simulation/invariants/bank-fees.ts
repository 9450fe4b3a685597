import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { membersOf } from './reply.ts'

/** The fee that a bank reported with a completion, read from its own words. */

const DECIMAL = /^(?:0|[1-9][0-9]*)(?:\.([0-9]+))?$/

/** Parses a fee as pesewas, rounded half to even; undefined for no valid fee. */
export const pesewasOfFee = (fee: unknown): number | undefined => {
  const text = String(fee ?? '')
  const [, decimals = ''] = DECIMAL.exec(text) ?? []
  if (!DECIMAL.test(text)) return undefined
  const below = Number(text.split('.')[0]) * 100 + Number(decimals.slice(0, 2).padEnd(2, '0'))
  const rest = Number(`0.${decimals.slice(2) || '0'}`)
  const isUp = rest > 0.5 || (rest === 0.5 && below % 2 === 1)
  return isUp ? below + 1 : below
}

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
  const change = changes.find(
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
