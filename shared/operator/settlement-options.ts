import * as v from 'valibot'
import { BankIdentifier } from '../domain/banks/bank.ts'
import { pesewas } from '../domain/money.ts'
import { type Provider, SettlementAccount } from '../domain/providers/provider.ts'
import { invalid, type Refusal } from '../domain/refusal.ts'
import { FeeSchedule } from '../domain/settlement/fee-schedule.ts'
import { defined, money, option, orNothing, updatedOr, wholeNumber } from './options.ts'

/** What a provider pays, and where it is paid to, as options of the operator command. */

export const feeOptions = {
  'fee-basis-points': v.optional(
    option(
      'N|none',
      'its fee in hundredths of a percent',
      orNothing(wholeNumber({ min: 0, max: 10_000 })),
    ),
  ),
  'fee-fixed': v.optional(option('AMOUNT|none', 'what is added to each fee', orNothing(money))),
  'fee-minimum': v.optional(option('AMOUNT|none', 'the least fee of a debit', orNothing(money))),
  'fee-maximum': v.optional(option('AMOUNT|none', 'the highest fee of a debit', orNothing(money))),
}

export const settlementOptions = {
  'settlement-bank': v.optional(option('BANK', 'the bank that it is paid at', BankIdentifier)),
  'settlement-account': v.optional(
    option(
      'DIGITS|none',
      'the account that it is paid to; bank, account and name are given together',
      orNothing(SettlementAccount.entries.accountNumber),
    ),
  ),
  'settlement-name': v.optional(
    option('NAME', 'whose account that is', SettlementAccount.entries.accountName),
  ),
}

type Given<T extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<T, undefined>>

/** The schedule after an update; none is left when each part of it was taken away. */
export const feeScheduleAfter = (
  before: FeeSchedule | undefined,
  given: Given<typeof feeOptions>,
): FeeSchedule | undefined | Refusal => {
  const parts = defined({
    basisPoints: updatedOr(before?.basisPoints, given['fee-basis-points']),
    fixed: updatedOr(before?.fixed, given['fee-fixed']),
    minimum: updatedOr(before?.minimum, given['fee-minimum']),
    maximum: updatedOr(before?.maximum, given['fee-maximum']),
  })
  if (Object.keys(parts).length === 0) return undefined
  const schedule = v.safeParse(FeeSchedule, { basisPoints: 0, fixed: pesewas(0), ...parts })
  return schedule.success
    ? schedule.output
    : invalid({ 'fee-minimum': ['must not be above the maximum'] })
}

/**
 * The account after an update. It is given whole: a new bank beside the old number, or the other
 * way round, would pay a stranger.
 */
export const settlementAccountAfter = (
  before: SettlementAccount | undefined,
  given: Given<typeof settlementOptions>,
): SettlementAccount | undefined | Refusal => {
  const options = Object.keys(settlementOptions) as (keyof typeof settlementOptions)[]
  if (options.every((option) => given[option] === undefined)) return before
  const { 'settlement-bank': bank, 'settlement-account': number, 'settlement-name': name } = given
  if (number === null && bank === undefined && name === undefined) return undefined
  if (bank && number && name) return { bank, accountNumber: number, accountName: name }
  return invalid(
    Object.fromEntries(
      options.filter((option) => !given[option]).map((option) => [option, ['is required']]),
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
