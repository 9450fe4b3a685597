import { bankReports } from './operations/bank-reports.ts'
import { banks } from './operations/banks.ts'
import { debitRequests } from './operations/debit-requests.ts'
import type { Descriptions } from './operations/described.ts'
import { events } from './operations/events.ts'
import { settlements } from './operations/settlements.ts'

export const descriptions: Descriptions = {
  ...debitRequests,
  ...banks,
  ...bankReports,
  ...events,
  ...settlements,
}
