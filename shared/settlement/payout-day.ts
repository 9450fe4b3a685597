import type { Bank } from '../domain/banks/bank.ts'
import { firstWorkingDay, type Holidays, isWorkingDay } from '../domain/banks/calendar.ts'
import { Refusal } from '../domain/refusal.ts'
import { type Batch, payoutDay } from '../domain/settlement/batch.ts'
import { type Day, dayAfter } from '../domain/time.ts'
import { findBank } from '../store/banks/banks.ts'
import { findHolidays } from '../store/banks/calendar.ts'
import { findPayee } from '../store/providers/providers.ts'

/** The longest time from a run to the first working day after it. */
export const WAITS_DAYS = 10

/** Returns the holidays that can delay a payout to a day. */
export const holidaysUntil = (day: Day): Promise<Holidays> =>
  findHolidays(dayAfter(day, -WAITS_DAYS))

/**
 * Returns the day from which a batch can be paid: the bank of the provider's account pays on it. Later than
 * `payOn` if a holiday was declared after the batch was sealed.
 */
export const payoutDayOf = async (
  batch: Pick<Batch, 'provider' | 'date' | 'payOn'>,
  holidays: Holidays,
): Promise<Day> => {
  const day = payoutDay(batch)
  const working = firstWorkingDay(day, holidays)
  if (working === day) return day
  const { settlementAccount } = await findPayee(batch.provider)
  const bank = settlementAccount && (await findBank(settlementAccount.bank))
  return bank?.payoutDays === 'working' ? working : day
}

/** A payout that waits for a working day of its bank. */
export class FreeDay extends Refusal {
  constructor({ identifier }: Bank, day: Day) {
    super(5001, { details: `${day} is no working day of ${identifier}: --any-day true pays` })
  }
}

/** Returns why a bank makes no payout on a day: its holidays may have changed since the batch was sealed. */
export const refusalOn = async (day: Day, bank: Bank): Promise<FreeDay | undefined> =>
  bank.payoutDays !== 'working' || isWorkingDay(day, await findHolidays(day))
    ? undefined
    : new FreeDay(bank, day)
