import { type OperationName, operationNames, operations } from '../../shared/api/operations.ts'
import { type FunctionName, functionNames, permissionsOf } from './function-permissions.ts'
import { isInStage, type JobName, jobNames, jobRow, queuesOf, type StageBanks } from './jobs.ts'
import type { Permissions } from './permissions.ts'
import type { Stage } from './stages.ts'

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

/** Peaks are 60 to 95 MB (docs/benchmarks.md#memory); processor time is proportional to memory. */
const MEMORY_MEGABYTES = 1024
/** One whole processor: a run of the sweep reads every new debit within half a minute. */
const SWEEP_MEMORY_MEGABYTES = 1769
/** No customer waits for the reply to a bank. */
const BANK_MEMORY_MEGABYTES = 512
/** Most jobs wait for the network nearly all the time. */
const JOB_MEMORY_MEGABYTES = 256
/** These process many records in one invocation. */
const COMPUTING_JOBS: readonly JobName[] = ['relay', 'build-batch', 'reconcile-part']

const memoryOf = (folder: string, name: FunctionName): number => {
  if (folder === 'bank') return BANK_MEMORY_MEGABYTES
  if (name === 'sweep') return SWEEP_MEMORY_MEGABYTES
  const isWaiting = folder === 'jobs' && !COMPUTING_JOBS.some((job) => job === name)
  return isWaiting ? JOB_MEMORY_MEGABYTES : MEMORY_MEGABYTES
}

/** Timeouts, in seconds, of operator functions that exceed the one of the API. */
const operatorTimeouts: Partial<Record<FunctionName, number>> = {
  // Waits for the function that executes the approved call.
  'manage-approval': 75,
  'manage-settlement': 60,
  // These look for work in progress at a bank.
  'manage-bank': 60,
  'manage-connector': 60,
  // These process many objects in one call.
  'manage-exception': 60,
  'manage-customer': 60,
  // This moves letters in many batches.
  'manage-dead-letters': 60,
  // These read all debits of a day.
  'manage-debit': 900,
  'manage-reconciliation': 900,
  'manage-ledger': 900,
  'manage-day': 900,
  'manage-change': 900,
  // This seals the secrets of all providers and banks again.
  'manage-secret': 900,
}

/** Answers requests that match no operation. */
export const UNMATCHED = 'answer-unmatched'

const row = (folder: string, name: FunctionName, timeoutSeconds: number = API_TIMEOUT_SECONDS) => ({
  name,
  entry: `functions/${folder}/${name}.ts`,
  timeoutSeconds,
  memoryMegabytes: memoryOf(folder, name),
  permissions: permissionsOf(name),
})

/**
 * Functions without AWS's loop detection, which would stop a delivery of up to eleven attempts, or a
 * reconciliation of many parts.
 */
export const RECURSIVE = new Set([
  'relay',
  'submit-to-bank',
  'submit-sidelined',
  'deliver-webhook',
  'deliver-sidelined-webhook',
  'recover-deliveries',
  'reconcile-part',
])

/** The functions behind the gateway. */
export const endpointRows: FunctionRow[] = [
  ...operationNames.map((name) => row(operations[name].caller, name)),
  row('gateway', UNMATCHED),
]

/** Endpoints whose new versions first get a tenth of the requests. */
export const canaries = [
  'charge',
  'get-debit-request',
  ...operationNames.filter((name) => operations[name].caller === 'bank'),
] as const satisfies OperationName[]

const operatorRows = functionNames
  .filter((name) => name.startsWith('manage-'))
  .map((name) => row('operator', name, operatorTimeouts[name]))

const jobRows = jobNames.map((name) => row('jobs', name, jobRow(name).timeoutSeconds))

export const functionRows: FunctionRow[] = [...endpointRows, ...operatorRows, ...jobRows]

/** Returns the rows of a stage's functions, which send only to its queues. */
const inStage = (rows: readonly FunctionRow[], stage: StageBanks): FunctionRow[] => {
  const queues = queuesOf(stage).map(({ name }) => name)
  return rows
    .filter(({ name }) => isInStage(stage, name))
    .map(({ permissions, ...row }) => {
      const sends = permissions.sends?.filter((queue) => queues.includes(queue)) ?? []
      return { ...row, permissions: { ...permissions, sends } }
    })
}

export const jobRowsOf = (stage: StageBanks) => inStage(jobRows, stage)
export const operatorRowsOf = (stage: StageBanks) => inStage(operatorRows, stage)
export const functionsOf = (stage: StageBanks) => inStage(functionRows, stage)

/** Returns the reserved concurrency of a function behind the gateway; it is also its maximum. */
export const reservedFor = (name: string, { reserved }: Pick<Stage, 'reserved'>) =>
  name === UNMATCHED || Object.hasOwn(operations, name)
    ? (reserved?.[name as OperationName] ?? reserved?.each)
    : undefined
