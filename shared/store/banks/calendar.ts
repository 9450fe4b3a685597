import { type Calendar, type Holidays, yearAfter, yearOf } from '../../domain/banks/calendar.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Day } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { changeSettings, settingsIn } from '../settings.ts'
import * as db from '../table.ts'

/** Public holidays: one item per year. */

export const findCalendar = (year: string): Promise<Calendar | undefined> =>
  db.find(keys.calendar(year), settingsIn<Calendar>)

/** Returns the holidays of a day's year and the next: no payout waits longer than from one into the other. */
export const findHolidays = async (day: Day): Promise<Holidays> => {
  const calendars = await Promise.all([yearOf(day), yearAfter(day)].map(findCalendar))
  return new Set(calendars.flatMap((calendar) => Object.keys(calendar?.days ?? {}) as Day[]))
}

/** @param alongside writes in the same transaction: the record of the change */
export const changeCalendar = <C extends Calendar | Refusal>(
  year: string,
  change: (previous: Calendar | undefined) => C,
  alongside: (previous: Calendar | undefined, next: Calendar) => readonly db.Write[],
  runtime: Runtime,
): Promise<C> => {
  const form = { entity: 'calendar', from: settingsIn<Calendar>, to: (next: Calendar) => next }
  return changeSettings(keys.calendar(year), form, change, alongside, runtime)
}
