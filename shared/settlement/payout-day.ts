import type { Bank } from '../domain/banks/bank.ts'
import { firstWorkingDay, isWorkingDay } from '../domain/banks/calendar.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Batch } from '../domain/settlement/batch.ts'
import { type Day, dayAfter } from '../domain/time.ts'
import { findBank } from '../store/banks/banks.ts'
import { findHolidays } from '../store/banks/calendar.ts'
import { findPayee } from '../store/providers/providers.ts'

/** Returns the day from which a batch can be paid: one on which the bank of the provider's account pays. */
export const payoutDayOf = async ({ provider, date }: Pick<Batch, 'provider' | 'date'>) => {
  const from = dayAfter(date)
  const { settlementAccount } = await findPayee(provider)
  const bank = settlementAccount && (await findBank(settlementAccount.bank))
  return bank?.payoutDays === 'working' ? firstWorkingDay(from, await findHolidays(from)) : from
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
