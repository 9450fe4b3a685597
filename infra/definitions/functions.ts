import { operationNames, operations } from '../../shared/api/operations.ts'
import { type FunctionName, permissionsOf } from './function-permissions.ts'
import { jobNames, jobRow } from './jobs.ts'
import type { Permissions } from './permission-types.ts'

/** Every Lambda function: its name, which is its file's name, and what it may use. */
export type FunctionRow = {
  name: FunctionName
  /** Its file, from the project's root. */
  entry: string
  timeoutSeconds: number
  memoryMegabytes: number
  permissions: Permissions
}

/** The gateway gives up at 29 s; the endpoint wrapper answers at 25 s. */
const API_TIMEOUT_SECONDS = 28
const MEMORY_MEGABYTES = 1024

/** The nouns of the operator command, and those that take longer. */
const operators = {
  'manage-provider': API_TIMEOUT_SECONDS,
  'manage-credential': API_TIMEOUT_SECONDS,
  'manage-limit': API_TIMEOUT_SECONDS,
  'manage-bank': API_TIMEOUT_SECONDS,
  'manage-connector': API_TIMEOUT_SECONDS,
  'manage-customer': API_TIMEOUT_SECONDS,
  'manage-webhook': API_TIMEOUT_SECONDS,
  'manage-delivery': API_TIMEOUT_SECONDS,
  'manage-exception': API_TIMEOUT_SECONDS,
  'manage-funding': API_TIMEOUT_SECONDS,
  'manage-change': API_TIMEOUT_SECONDS,
  // Waits for the function that carries out what it grants.
  'manage-approval': 75,
  'manage-restore': API_TIMEOUT_SECONDS,
  // A day is looked through from end to end.
  'manage-debit': 900,
  'manage-reconciliation': 900,
  'manage-ledger': 900,
  'manage-settlement': 60,
} as const satisfies Record<string, number>

type OperatorName = keyof typeof operators
const operatorNames = Object.keys(operators) as OperatorName[]

/** Answers what no operation takes. */
export const UNMATCHED = 'answer-unmatched'

const row = (
  room: string,
  name: FunctionName,
  timeoutSeconds: number = API_TIMEOUT_SECONDS,
): FunctionRow => ({
  name,
  entry: `functions/${room}/${name}.ts`,
  timeoutSeconds,
  memoryMegabytes: MEMORY_MEGABYTES,
  permissions: permissionsOf(name),
})

export const functionRows: FunctionRow[] = [
  ...operationNames.map((name) => row(operations[name].caller, name)),
  row('gateway', UNMATCHED),
  ...operatorNames.map((name) => row('operator', name, operators[name])),
  ...jobNames.map((name) => row('jobs', name, jobRow(name).timeoutSeconds)),
]
