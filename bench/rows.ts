import { conflicts } from './rows/conflicts.ts'
import { deployed } from './rows/deployed.ts'
import { peer } from './rows/peer.ts'
import { requests } from './rows/requests.ts'
import type { Row } from './rows/row.ts'
import { settlement } from './rows/settlement.ts'
import { webhooks } from './rows/webhooks.ts'

/**
 * Everything that is measured, as one row each: what it is, what it is held against, and what it is to
 * be. A row that misses its target says why, in the words that stand beside it.
 */

export const parts = {
  charge: 'Charge',
  status: 'Status read',
  'own-time': 'Time of our own',
  'cold-start': 'Cold start',
  cost: 'Cost of a debit',
  webhooks: 'Webhooks',
  'dead-receiver': 'One dead receiver',
  settlement: 'Settlement',
  conflicts: 'Charges that meet at one day total',
  peer: 'A charge built the usual way',
} as const
export type PartName = keyof typeof parts
export const partNames = Object.keys(parts) as PartName[]

/** By their names, in the order of the table. */
export const rows: ReadonlyMap<string, Row> = new Map(
  Object.entries({
    ...requests,
    ...deployed,
    ...webhooks,
    ...settlement,
    ...conflicts,
    ...peer,
  }),
)

export const rowsOf = (part: PartName): [string, Row][] =>
  [...rows].filter(([, row]) => row.part === part)
