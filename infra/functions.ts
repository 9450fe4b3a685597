import { operationNames, operations } from '../shared/api/operations.ts'
import type { QueueName } from '../shared/queues/messages.ts'
import { jobNames, jobRow } from './jobs.ts'

export type ReportsUse = 'read' | 'write'

/** Every Lambda function: its name, which is its file's name, and what it may use. */
export type FunctionRow = {
  name: string
  /** Its file, from the project's root. */
  entry: string
  timeoutSeconds: number
  memoryMegabytes: number
  usesTable: boolean
  sends: readonly QueueName[]
  schedulesInto?: QueueName
  /** Seals or opens the secrets of partners or banks. */
  usesSealingKey: boolean
  /** Writes the reports of batches, or reads them. */
  usesReports: readonly ReportsUse[]
}

/** The gateway gives up at 29 s; the endpoint wrapper answers at 25 s. */
const API_TIMEOUT_SECONDS = 28
const MEMORY_MEGABYTES = 1024

/** The nouns of the operator command, and what sets them apart from each other. */
const operators: Record<string, Partial<FunctionRow>> = {
  'manage-provider': {},
  'manage-credential': {},
  'manage-limit': {},
  'manage-bank': {},
  'manage-connector': {},
  'manage-customer': {},
  'manage-webhook': {},
  'manage-delivery': {},
  'manage-debit': {},
  'manage-exception': {},
  // A day is looked through from end to end.
  'manage-reconciliation': { timeoutSeconds: 900 },
  'manage-settlement': { timeoutSeconds: 60, sends: ['settlements', 'payments'] },
}

const SEALERS = new Set([
  'manage-webhook',
  'test-webhook',
  'deliver-webhook',
  'deliver-sidelined-webhook',
  'manage-bank',
  'manage-connector',
  'submit-to-bank',
  'manage-settlement',
  'process-batch',
])

/** What each does with the reports of batches. */
const REPORTS: Record<string, readonly ReportsUse[]> = {
  'build-batch': ['write'],
  'manage-settlement': ['read', 'write'],
  'get-settlement-report': ['read'],
}

const row = (room: string, name: string, rest: Partial<FunctionRow> = {}): FunctionRow => ({
  name,
  entry: `functions/${room}/${name}.ts`,
  timeoutSeconds: API_TIMEOUT_SECONDS,
  memoryMegabytes: MEMORY_MEGABYTES,
  usesTable: true,
  sends: [],
  usesSealingKey: SEALERS.has(name),
  usesReports: REPORTS[name] ?? [],
  ...rest,
})

/** Answers what no operation takes. */
export const UNMATCHED = 'answer-unmatched'

export const functionRows: FunctionRow[] = [
  ...operationNames.map((name) => row(operations[name].caller, name)),
  row('gateway', UNMATCHED, { usesTable: false }),
  ...Object.entries(operators).map(([name, own]) => row('operator', name, own)),
  ...jobNames.map((name) => {
    const { timeoutSeconds, sends, schedulesInto } = jobRow(name)
    return row('jobs', name, {
      timeoutSeconds,
      sends,
      ...(schedulesInto ? { schedulesInto } : {}),
    })
  }),
]
