import * as v from 'valibot'
import { type Calendar, yearOf } from '../domain/banks/calendar.ts'
import { text } from '../domain/text.ts'
import { Day } from '../domain/time.ts'
import { type FileParts, type LineError, reasonsOf, refuse, rowsIn } from './csv-file.ts'

/** A CSV file with the public holidays of a year: columns `date` and `name`. */

const Holiday = v.object({ date: Day, name: text({ max: 100 }) })

/** @throws MalformedFile with line and reason of each wrong line */
export const readCalendar = async (year: string, file: FileParts): Promise<Calendar['days']> => {
  const days: Calendar['days'] = {}
  const errors: LineError[] = []
  for await (const row of rowsIn(file, ['date', 'name'])) {
    if ('reason' in row) {
      errors.push(row)
      continue
    }
    const { line } = row
    const [date, name] = row.fields
    const { success, output, issues } = v.safeParse(Holiday, { date, name })
    if (!success) errors.push({ line, reason: reasonsOf(issues) })
    else if (yearOf(output.date) !== year) errors.push({ line, reason: `is not in ${year}` })
    else if (output.date in days) errors.push({ line, reason: `${output.date} is there twice` })
    else days[output.date] = output.name
  }
  if (errors.length > 0) refuse(errors)
  // Such a file must not remove the holidays of the year.
  if (Object.keys(days).length === 0)
    refuse([{ line: 1, reason: 'a row with a holiday is missing' }])
  return days
}
