import * as v from 'valibot'
import { BankIdentifier } from '../domain/banks/bank.ts'
import { defined } from '../domain/defined.ts'
import { pesewas } from '../domain/money.ts'
import { type Provider, SettlementAccount } from '../domain/providers/provider.ts'
import { invalid, type Refusal } from '../domain/refusal.ts'
import { FeeSchedule } from '../domain/settlement/fee-schedule.ts'
import { money, option, orNothing, updatedOr, wholeNumber } from './options.ts'

export const feeOptions = {
  'fee-basis-points': v.optional(
    option(
      'N|none',
      'fee in hundredths of a percent',
      orNothing(wholeNumber({ min: 0, max: 10_000 })),
    ),
  ),
  'fee-fixed': v.optional(
    option('AMOUNT|none', 'fixed amount added to each fee', orNothing(money)),
  ),
  'fee-minimum': v.optional(option('AMOUNT|none', 'minimum fee of a debit', orNothing(money))),
  'fee-maximum': v.optional(option('AMOUNT|none', 'maximum fee of a debit', orNothing(money))),
}

export const settlementOptions = {
  'settlement-bank': v.optional(option('BANK', 'bank that receives payouts', BankIdentifier)),
  'settlement-account': v.optional(
    option(
      'DIGITS|none',
      'account that receives payouts; bank, account and name are required together',
      orNothing(SettlementAccount.entries.accountNumber),
    ),
  ),
  'settlement-name': v.optional(
    option('NAME', 'name of the account holder', SettlementAccount.entries.accountName),
  ),
}

type OptionValues<T extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<T, undefined>>

/** Returns the schedule after an update, or undefined if every part was removed. */
export const feeScheduleAfter = (
  previous: FeeSchedule | undefined,
  values: OptionValues<typeof feeOptions>,
): FeeSchedule | undefined | Refusal => {
  const parts = defined({
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
): SettlementAccount | undefined | Refusal => {
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

export const settlementAccountView = ({ settlementAccount }: Provider) =>
  settlementAccount
    ? {
        bank: settlementAccount.bank,
        account_number: settlementAccount.accountNumber,
        account_name: settlementAccount.accountName,
      }
    : null
