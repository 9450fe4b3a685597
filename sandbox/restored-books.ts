import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { functionRows } from '../infra/definitions/functions.ts'
import { tableDefinition } from '../infra/definitions/table.ts'
import { real } from '../shared/runtime.ts'
import { newBucket } from './aws/bucket.ts'
import { noJournal } from './aws/journal.ts'
import { answerCalls, perform } from './aws/sdk.ts'
import type { Item } from './aws/table/change.ts'
import { newTable } from './aws/table/table.ts'
import { functionVariables, NAME, useLocalCredentials } from './environment.ts'
import { loadFunctions, loadWith } from './function-host.ts'

/** The functions that check books. No queue, schedule or bank exists next to them. */
export const CHECKERS = ['manage-reconciliation', 'manage-change']
const rows = functionRows.filter(({ name }) => CHECKERS.includes(name))

type Copy = { items: readonly Item[]; until: Date; folder: string; referencePrefix: string }

/** Loads a copy of the books into an empty table in memory. @returns the functions that check them */
export const openBooks = async ({ items, until, folder, referencePrefix }: Copy) => {
  const settings = { timeScale: 1, approvals: false, host: 'localhost' }
  useLocalCredentials()
  Object.assign(process.env, ...rows.map((row) => functionVariables(row, settings)), {
    REFERENCE_PREFIX: referencePrefix,
  })
  const table = newTable({ definition: tableDefinition, name: NAME, now: () => until.getTime() })
  for (const item of items) table.restore(item, item, 0)
  const { objects, calls } = newBucket(noJournal)
  for (const bucket of ['audit', 'reports'].map((name) => join(folder, name))) {
    const keys = existsSync(bucket) ? (readdirSync(bucket, { recursive: true }) as string[]) : []
    for (const key of keys) {
      objects.set(key, {
        ...{ key, type: 'application/octet-stream', disposition: 'inline' },
        // Read when a check needs it: the reports of years are large.
        get body() {
          return readFileSync(join(bucket, key), 'latin1')
        },
      })
    }
  }
  const readObject = calls as Record<string, (input: object) => unknown>
  answerCalls(({ constructor: { name }, input }) =>
    perform(() => readObject[name]?.(input as object) ?? table.run(name, input)),
  )
  return loadFunctions(rows, loadWith({ ...real, now: () => until }))
}

/** The variables of the checkers that name neither a queue, a secret nor another function. */
const READ_VARIABLES = [
  'STAGE',
  'LIMITS',
  'REFERENCE_PREFIX',
  'REPORTS_BUCKET',
  'AUDIT_BUCKET',
  'RETAIN_YEARS',
]

/**
 * Loads the functions that check books, for a table in AWS.
 * @param variables those of the functions of the stage
 */
export const openTable = (
  { tableName, until }: { tableName: string; until: Date },
  variables: Record<string, string>,
) => {
  const read = Object.entries(variables).filter(([name]) => READ_VARIABLES.includes(name))
  Object.assign(process.env, Object.fromEntries(read), {
    TABLE_NAME: tableName,
    CLAIMED_OPERATORS: 'true',
    CACHE_SECONDS: '0',
    METRICS_DISABLED: 'true',
    AWS_LAMBDA_LOG_LEVEL: 'FATAL',
  })
  return loadFunctions(rows, loadWith({ ...real, now: () => until }))
}
