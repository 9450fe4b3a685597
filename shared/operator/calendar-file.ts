import * as v from 'valibot'
import { type Calendar, yearOf } from '../domain/banks/calendar.ts'
import { text } from '../domain/text.ts'
import { Day } from '../domain/time.ts'
import {
  type Columns,
  columnsIn,
  type FileParts,
  firstLineOf,
  type LineError,
  PRINTED_MAX,
  reasonsOf,
  recordsIn,
  refuse,
  widthReason,
} from './csv-file.ts'

/** A CSV file with the public holidays of a year: columns `date` and `name`. */

const COLUMNS = ['date', 'name'] as const

const Holiday = v.object({ date: Day, name: text({ max: 100 }) })

/** @throws MalformedFile with line and reason of each wrong line */
export const readCalendar = async (year: string, file: FileParts): Promise<Calendar['days']> => {
  const days: Calendar['days'] = {}
  const errors: LineError[] = []
  let columns: Columns | undefined
  for await (const csv of recordsIn(file)) {
    const line = firstLineOf(csv)
    if (!columns) {
      columns = columnsIn(csv, COLUMNS)
      continue
    }
    const reason = widthReason(csv, columns.width)
    if (reason) {
      errors.push({ line, reason })
      continue
    }
    const [date, name] = columns.places.map((place) => csv.record[place])
    const { success, output, issues } = v.safeParse(Holiday, { date, name })
    if (!success) errors.push({ line, reason: reasonsOf(issues) })
    else if (yearOf(output.date) !== year) errors.push({ line, reason: `is not in ${year}` })
    else if (output.date in days) errors.push({ line, reason: `${output.date} is there twice` })
    else days[output.date] = output.name
  }
  if (!columns) refuse([{ line: 1, reason: `column ${COLUMNS.join(', ')} is missing` }])
  if (errors.length > 0) refuse(errors.slice(0, PRINTED_MAX), errors.length)
  // Such a file must not remove the holidays of the year.
  if (Object.keys(days).length === 0)
    refuse([{ line: 1, reason: 'a row with a holiday is missing' }])
  return days
}
