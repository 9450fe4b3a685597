import { dinero, halfEven, multiply, toSnapshot, transformScale } from 'dinero.js'
import { GHS } from 'dinero.js/currencies'
import { type Pesewas, pesewas } from '../money.ts'
import type { FeeSchedule } from './fee-schedule.ts'

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
  const { basisPoints, fixed, minimum = 0, maximum = Number.POSITIVE_INFINITY } = schedule
  return Math.min(Math.max(share(gross, basisPoints) + fixed, minimum), maximum)
}

// A basis point is one of ten thousand: four decimals.
const BASIS_POINT_SCALE = 4

/** Half a pesewa goes to the even neighbour, so that over many debits neither side gains by it. */
const share = (gross: Pesewas, basisPoints: number): number => {
  const whole = dinero({ amount: gross, currency: GHS })
  const part = multiply(whole, { amount: basisPoints, scale: BASIS_POINT_SCALE })
  return toSnapshot(transformScale(part, GHS.exponent, halfEven)).amount
}
