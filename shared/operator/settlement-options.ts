import * as v from 'valibot'
import { type Complete, defined } from '../domain/complete.ts'
import { pesewas } from '../domain/money.ts'
import { FeeSchedule } from '../domain/providers/fee-schedule.ts'
import type { SettlementAccount } from '../domain/providers/provider.ts'
import { invalid, type Refusal } from '../domain/refusal.ts'
import { type feeOptions, settlementOptions } from './nouns/providers.ts'
import { updatedOr } from './options.ts'

type OptionValues<T extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<T, undefined>>

/** Returns the schedule after an update, or undefined if every part was removed. */
export const feeScheduleAfter = (
  previous: FeeSchedule | undefined,
  values: OptionValues<typeof feeOptions>,
): FeeSchedule | undefined | Refusal => {
  const parts = defined<Complete<Partial<FeeSchedule>>>({
    basisPoints: updatedOr(previous?.basisPoints, values['fee-basis-points']),
    fixed: updatedOr(previous?.fixed, values['fee-fixed']),
    minimum: updatedOr(previous?.minimum, values['fee-minimum']),
    maximum: updatedOr(previous?.maximum, values['fee-maximum']),
  })
  if (Object.keys(parts).length === 0) return undefined
  const schedule = v.safeParse(FeeSchedule, { basisPoints: 0, fixed: pesewas(0), ...parts })
  return schedule.success
    ? schedule.output
    : invalid({ 'fee-minimum': ['must not be above the maximum'] })
}

/** Changes bank, number and name together: a new bank with the old number would pay a stranger. */
export const settlementAccountAfter = (
  previous: SettlementAccount | undefined,
  values: OptionValues<typeof settlementOptions>,
): Complete<SettlementAccount> | undefined | Refusal => {
  const options = Object.keys(settlementOptions) as (keyof typeof settlementOptions)[]
  if (options.every((option) => values[option] === undefined)) return previous
  const { 'settlement-bank': bank, 'settlement-account': number, 'settlement-name': name } = values
  if (number === null && bank === undefined && name === undefined) return undefined
  if (bank && number && name) return { bank, accountNumber: number, accountName: name }
  return invalid(
    Object.fromEntries(
      options.filter((option) => !values[option]).map((option) => [option, ['is required']]),
    ),
  )
}
