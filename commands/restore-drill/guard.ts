import type { Command } from '../../sandbox/aws/sdk.ts'

/** Limits the AWS calls of a drill: nothing of it can change the stage, or reach a bank or a receiver. */

type GuardedInput = {
  TableName?: string
  TargetTableName?: string
  Bucket?: string
  RequestItems?: Record<string, unknown>
  TransactItems?: readonly Record<string, { TableName: string }>[]
}

/** The calls that describe the stage. */
const descriptions = new Set([
  'GetFunctionConfigurationCommand',
  'DescribeTableCommand',
  'DescribeContinuousBackupsCommand',
  'ListTablesCommand',
])

/** The calls that may change tables: each names its tables, which must be the copy. */
const ofCopy = new Set([
  'RestoreTableToPointInTimeCommand',
  'DeleteTableCommand',
  'GetCommand',
  'BatchGetCommand',
  'QueryCommand',
  'PutCommand',
  'UpdateCommand',
  'DeleteCommand',
  'TransactWriteCommand',
])

const reads = new Set(['GetObjectCommand', 'HeadObjectCommand', 'ListObjectsV2Command'])

const tablesOf = (input: GuardedInput): (string | undefined)[] => [
  ...(input.TransactItems ?? []).flatMap((item) =>
    Object.values(item).map(({ TableName }) => TableName),
  ),
  ...Object.keys(input.RequestItems ?? {}),
  ...(input.TransactItems || input.RequestItems ? [] : [input.TargetTableName ?? input.TableName]),
]

export type Allowed = { copy: string; buckets: readonly (string | undefined)[] }

/** Returns an error for a call that a drill must not make. */
export const refusalOf = (
  { constructor: { name }, input }: Command,
  { copy, buckets }: Allowed,
): Error | undefined => {
  const guarded = input as GuardedInput
  const isAllowed =
    descriptions.has(name) ||
    (ofCopy.has(name) && tablesOf(guarded).every((table) => table === copy)) ||
    (reads.has(name) && guarded.Bucket !== undefined && buckets.includes(guarded.Bucket))
  return isAllowed ? undefined : new Error(`A drill makes no call ${name}`)
}
