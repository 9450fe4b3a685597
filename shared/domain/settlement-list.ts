import * as v from 'valibot'
import { pageParameters } from './page.ts'
import { oneOf } from './text.ts'

/** Queries of a partner's settlement operations. */

const POSITION = /^\d{4}-\d{2}-\d{2}#\d{1,4}$/

const Position = v.pipe(
  v.string('must be a cursor of this list'),
  v.transform((text) => Buffer.from(text, 'base64url').toString('latin1')),
  v.regex(POSITION, 'must be a cursor of this list'),
)

/** Batches, the newest first; what follows a cursor. */
export const SettlementListQuery = v.object({
  per_page: pageParameters.per_page,
  cursor: v.optional(Position),
})

export const reportFormats = ['json', 'csv'] as const
export type ReportFormat = (typeof reportFormats)[number]

export const ReportQuery = v.object({ format: v.optional(oneOf(reportFormats), 'json') })
