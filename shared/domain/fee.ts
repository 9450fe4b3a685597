import * as v from 'valibot'
import { Pesewas, pesewas } from './money.ts'

/** What a partner pays for a debit, where its bank has not said what it takes itself. */
export const FeeSchedule = v.object({
  /** Hundredths of a percent of the amount. */
  basisPoints: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000)),
  /** Pesewas beside it. */
  fixed: Pesewas,
  minimum: v.optional(Pesewas),
  maximum: v.optional(Pesewas),
})
export type FeeSchedule = v.InferOutput<typeof FeeSchedule>

const BASIS = 10_000

/**
 * Fee and net of an amount; they always sum to it.
 * @param by the fee itself, or the schedule that it follows from; undefined: nothing is taken
 */
export const split = (
  gross: Pesewas,
  by: Pesewas | FeeSchedule | undefined,
): { fee: Pesewas; net: Pesewas } => {
  const wanted = by === undefined ? 0 : typeof by === 'number' ? by : scheduled(gross, by)
  const fee = pesewas(Math.min(wanted, gross))
  return { fee, net: pesewas(gross - fee) }
}

const scheduled = (gross: Pesewas, schedule: FeeSchedule): number => {
  const share = Math.round((gross * schedule.basisPoints) / BASIS)
  return share + schedule.fixed
}
