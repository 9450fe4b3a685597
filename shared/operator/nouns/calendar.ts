import * as v from 'valibot'
import { parseJson } from '../../domain/json.ts'
import { text } from '../../domain/text.ts'
import { Day } from '../../domain/time.ts'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'

const year = o.option(
  'YYYY',
  'year',
  v.pipe(v.string(), v.regex(/^2[01][0-9]{2}$/, 'must be a year from 2000 to 2199')),
)
const holiday = o.day('UTC day of a public holiday')
const holidayName = text({ max: 100 })

export const calendar = {
  name: 'calendar',
  summary: 'public holidays, on which banks with payout days `working` pay nothing',
  shows: 'no customer',
  verbs: {
    set: {
      effect: 'settings',
      summary: 'replaces the holidays of a year by those of a file',
      options: o.options({
        year,
        file: o.option(
          'FILE',
          'CSV file with date, name; -: standard input',
          text({ max: 100_000, lines: true }),
        ),
        days: o.optional(
          'JSON',
          'the days of the file with their names; the command adds it',
          v.pipe(
            v.string(),
            v.maxBytes(100_000, 'must be at most 100000 bytes'),
            v.transform(parseJson),
            v.check((value) => !Array.isArray(value), 'must be an object'),
            v.record(Day, holidayName),
          ),
        ),
      }),
    },
    add: {
      effect: 'settings',
      summary: 'adds a holiday, or renames it',
      options: o.options({
        date: holiday,
        name: o.option('NAME', 'name of the holiday', holidayName),
      }),
    },
    remove: {
      effect: 'settings',
      summary: 'removes a holiday',
      options: o.options({ date: holiday }),
    },
    show: {
      effect: 'reads',
      summary: 'lists the holidays of a year',
      options: o.options({ year }),
    },
  },
} as const satisfies Noun
