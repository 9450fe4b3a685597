import { dinero, halfEven, multiply, toSnapshot, transformScale } from 'dinero.js'
import { GHS } from 'dinero.js/currencies'
import { type Pesewas, pesewas } from '../money.ts'
import type { FeeSchedule } from '../providers/fee-schedule.ts'

/** Splits an amount into fee and net, by a fee, a schedule or neither (docs/api.md#fees). */
export const split = (gross: Pesewas, by: Pesewas | FeeSchedule | undefined) => {
  const full = by === undefined ? 0 : typeof by === 'number' ? by : scheduled(gross, by)
  const fee = pesewas(Math.min(full, gross))
  return { fee, net: pesewas(gross - fee) }
}

const scheduled = (gross: Pesewas, schedule: FeeSchedule): number => {
  const { basisPoints, fixed, minimum = 0, maximum = Number.POSITIVE_INFINITY } = schedule
  return Math.min(Math.max(share(gross, basisPoints) + fixed, minimum), maximum)
}

// A basis point is one of ten thousand: four decimals.
const BASIS_POINT_SCALE = 4

/** Rounds half-even, so that neither side gains over many debits. */
const share = (gross: Pesewas, basisPoints: number): number => {
  const whole = dinero({ amount: gross, currency: GHS })
  const part = multiply(whole, { amount: basisPoints, scale: BASIS_POINT_SCALE })
  return toSnapshot(transformScale(part, GHS.exponent, halfEven)).amount
}
