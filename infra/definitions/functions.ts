import { operationNames, operations } from '../../shared/api/operations.ts'
import { type FunctionName, permissionsOf } from './function-permissions.ts'
import { jobNames, jobRow } from './jobs.ts'
import type { Permissions } from './permission-types.ts'

/** Describes a Lambda function; its name is the name of its file. */
export type FunctionRow = {
  name: FunctionName
  /** Path of the file from the project's root. */
  entry: string
  timeoutSeconds: number
  memoryMegabytes: number
  permissions: Permissions
}

/** The gateway's timeout is 29 s; the endpoint wrapper responds after 25 s. */
const API_TIMEOUT_SECONDS = 28
const MEMORY_MEGABYTES = 1024

/** Timeouts, in seconds, of the functions of the operator command. */
const operatorTimeouts = {
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
  // Waits for the function that executes the approved call.
  'manage-approval': 75,
  'manage-restore': API_TIMEOUT_SECONDS,
  // These read all debits of a day.
  'manage-debit': 900,
  'manage-reconciliation': 900,
  'manage-ledger': 900,
  'manage-settlement': 60,
} as const satisfies Record<string, number>

type OperatorFunction = keyof typeof operatorTimeouts
const operatorNames = Object.keys(operatorTimeouts) as OperatorFunction[]

/** Answers requests that match no operation. */
export const UNMATCHED = 'answer-unmatched'

const row = (
  folder: string,
  name: FunctionName,
  timeoutSeconds: number = API_TIMEOUT_SECONDS,
): FunctionRow => ({
  name,
  entry: `functions/${folder}/${name}.ts`,
  timeoutSeconds,
  memoryMegabytes: MEMORY_MEGABYTES,
  permissions: permissionsOf(name),
})

export const functionRows: FunctionRow[] = [
  ...operationNames.map((name) => row(operations[name].caller, name)),
  row('gateway', UNMATCHED),
  ...operatorNames.map((name) => row('operator', name, operatorTimeouts[name])),
  ...jobNames.map((name) => row('jobs', name, jobRow(name).timeoutSeconds)),
]
