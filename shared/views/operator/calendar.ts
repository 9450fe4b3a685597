import type { Calendar } from '../../domain/banks/calendar.ts'
import type { Shows } from '../../domain/complete.ts'

export type CalendarResult = ReturnType<typeof calendarView>

export const calendarView = ({ year, days }: Calendar) =>
  ({
    year,
    days: Object.entries(days)
      .map(([date, name]) => ({ date, name }))
      .sort((a, b) => a.date.localeCompare(b.date)),
  }) satisfies Shows<Calendar>
