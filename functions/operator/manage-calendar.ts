import { type Calendar, withDay, yearOf } from '../../shared/domain/banks/calendar.ts'
import { invalid, type Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { calendar } from '../../shared/operator/nouns/calendar.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { changeCalendar, findCalendar } from '../../shared/store/banks/calendar.ts'
import { changeRecorder } from '../../shared/store/operator/changes.ts'
import { calendarView } from '../../shared/views/operator/calendar.ts'

const change = async (
  year: string,
  next: (previous: Calendar) => Calendar | Refusal,
  author: Author,
  runtime: Runtime,
) => {
  const recordChange = changeRecorder({ ...author, target: year }, ({ days }: Calendar) => days)
  const changed = await changeCalendar(
    year,
    (previous = { year, days: {} }) => next(previous),
    recordChange,
    runtime,
  )
  return unlessRefused(changed, calendarView)
}

export const manageCalendar = operatorHandler(calendar, {
  set: async ({ year, days }, author, runtime) => {
    if (!days) return invalid({ days: ['is required: the command reads them from the file'] })
    const dates = Object.keys(days)
    // A call without days would remove the holidays of the year.
    return dates.length > 0 && dates.every((day) => day.startsWith(`${year}-`))
      ? change(year, (previous) => ({ ...previous, days }), author, runtime)
      : invalid({ days: [`must be days of ${year}`] })
  },
  add: ({ date, name }, author, runtime) =>
    change(yearOf(date), (previous) => withDay(previous, date, name), author, runtime),
  remove: ({ date }, author, runtime) =>
    change(
      yearOf(date),
      (previous) =>
        date in previous.days ? withDay(previous, date, undefined) : noSuch('holiday'),
      author,
      runtime,
    ),
  show: async ({ year }) => calendarView((await findCalendar(year)) ?? { year, days: {} }),
})

export const handler = manageCalendar(real)
