import * as v from 'valibot'
import { cursorAt, pageParameters } from '../page.ts'
import { oneOf } from '../text.ts'

const POSITION = /^\d{4}-\d{2}-\d{2}#\d{1,4}$/

/** Batches, newest first, by cursor. */
export const SettlementListQuery = v.object({
  per_page: pageParameters.per_page,
  cursor: v.optional(cursorAt(POSITION)),
})

export const reportFormats = ['json', 'csv'] as const
export type ReportFormat = (typeof reportFormats)[number]

export const statementFormats = [...reportFormats, 'html'] as const

/** A monthly statement is a document, a CSV file or a page to print. */
export const StatementQuery = v.object({ format: v.optional(oneOf(statementFormats), 'json') })

export const ReportQuery = v.object({ format: v.optional(oneOf(reportFormats), 'json') })
