import * as v from 'valibot'
import { Pesewas, pesewas } from '../money.ts'

const amount = v.pipe(Pesewas, v.minValue(pesewas(0)))

/** The fee of a debit, unless its bank reports one (docs/api.md#fees). */
export const FeeSchedule = v.pipe(
  v.object({
    /** Hundredths of a percent of the amount. */
    basisPoints: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000)),
    /** Pesewas in addition. */
    fixed: amount,
    /** Bounds of the sum. */
    minimum: v.optional(amount),
    maximum: v.optional(amount),
  }),
  v.check(
    ({ minimum = 0, maximum = Number.POSITIVE_INFINITY }) => minimum <= maximum,
    'must have a minimum that is not above its maximum',
  ),
)
export type FeeSchedule = v.InferOutput<typeof FeeSchedule>
