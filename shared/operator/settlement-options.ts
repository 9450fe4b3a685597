import * as v from 'valibot'
import { BankIdentifier } from '../domain/banks/bank.ts'
import { type Complete, defined } from '../domain/complete.ts'
import { pesewas } from '../domain/money.ts'
import { FeeSchedule } from '../domain/providers/fee-schedule.ts'
import { SettlementAccount } from '../domain/providers/provider.ts'
import { invalid, type Refusal } from '../domain/refusal.ts'
import * as o from './options.ts'

export const feeOptions = {
  'fee-basis-points': o.clearable(
    'N',
    'fee in hundredths of a percent',
    o.wholeNumber({ min: 0, max: 10_000 }),
  ),
  'fee-fixed': o.clearable('AMOUNT', 'fixed amount added to each fee', o.money),
  'fee-minimum': o.clearable('AMOUNT', 'minimum fee of a debit', o.money),
  'fee-maximum': o.clearable('AMOUNT', 'maximum fee of a debit', o.money),
}

export const settlementOptions = {
  'settlement-bank': o.optional('BANK', 'bank that receives payouts', BankIdentifier),
  'settlement-account': o.clearable(
    'DIGITS',
    'account that receives payouts; bank, account and name are required together',
    SettlementAccount.entries.accountNumber,
  ),
  'settlement-name': o.optional(
    'NAME',
    'name of the account holder',
    SettlementAccount.entries.accountName,
  ),
}

/** Bank, number and name change together: a new bank with the old number would pay a stranger. */
export const isWholeAccount = (given: o.Given<keyof typeof settlementOptions>): boolean => {
  const others = o.countOf(given['settlement-bank'], given['settlement-name'])
  const { 'settlement-account': account } = given
  return others === (account === undefined || account === null ? 0 : 2)
}
export const WHOLE_ACCOUNT =
  '--settlement-bank, --settlement-account and --settlement-name are required together'

type OptionValues<T extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<T, undefined>>

/** Returns the schedule after an update, or undefined if every part was removed. */
export const feeScheduleAfter = (
  previous: FeeSchedule | undefined,
  values: OptionValues<typeof feeOptions>,
): FeeSchedule | undefined | Refusal => {
  const parts = defined<Complete<Partial<FeeSchedule>>>({
    basisPoints: o.updatedOr(previous?.basisPoints, values['fee-basis-points']),
    fixed: o.updatedOr(previous?.fixed, values['fee-fixed']),
    minimum: o.updatedOr(previous?.minimum, values['fee-minimum']),
    maximum: o.updatedOr(previous?.maximum, values['fee-maximum']),
  })
  if (Object.keys(parts).length === 0) return undefined
  const schedule = v.safeParse(FeeSchedule, { basisPoints: 0, fixed: pesewas(0), ...parts })
  return schedule.success
    ? schedule.output
    : invalid({ 'fee-minimum': ['must not be above the maximum'] })
}

/** Returns the account after an update, or undefined if it was removed. */
export const settlementAccountAfter = (
  previous: SettlementAccount | undefined,
  values: OptionValues<typeof settlementOptions>,
): Complete<SettlementAccount> | undefined => {
  const { 'settlement-bank': bank, 'settlement-account': number, 'settlement-name': name } = values
  if (bank && number && name) return { bank, accountNumber: number, accountName: name }
  return number === null ? undefined : previous
}
