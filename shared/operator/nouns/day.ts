import * as v from 'valibot'
import { parseJson } from '../../domain/json.ts'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'

/** The differences that a reconciliation of the day has found. */
const Differences = v.array(
  v.object({
    number: v.number(),
    title: v.pipe(v.string(), v.maxLength(300)),
    differences: v.pipe(v.number(), v.minValue(1)),
    example: v.nullable(v.pipe(v.string(), v.maxLength(1_000))),
  }),
)
export type ReconciledDifferences = v.InferOutput<typeof Differences>

const closeFormats = ['json', 'html'] as const

export const day = {
  name: 'day',
  summary: 'the closing of a day',
  shows: 'no customer',
  verbs: {
    close: {
      effect: 'reads',
      summary: 'reconciles a day and reports whether it is clean, or what is open; changes nothing',
      options: o.options({
        date: o.day('UTC day'),
        format: v.optional(
          o.oneOfWords('output format (default json)', { options: closeFormats }),
          'json',
        ),
        reconciled: o.optional(
          'JSON',
          'the differences of the reconciliation of the day; the command adds it',
          v.pipe(
            v.string(),
            v.maxBytes(100_000, 'must be at most 100000 bytes'),
            v.transform(parseJson),
            Differences,
          ),
        ),
      }),
    },
  },
} as const satisfies Noun
