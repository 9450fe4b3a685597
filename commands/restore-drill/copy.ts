import {
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  paginateListTables,
  ResourceInUseException,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb'
import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { resourceName } from '../../infra/definitions/resource-name.ts'
import { CHECKERS } from '../../sandbox/restored-books.ts'
import { StartFailure } from '../../sandbox/start-failure.ts'
import { pause } from '../../shared/runtime.ts'

/** The copy of a table at an earlier second. */

const FIRST_POLL_MS = 1_000
const POLL_MS = 30_000

const dynamodb = () => new DynamoDBClient()

const prefixOf = (stage: string): string => resourceName('drill-', stage)

/** Returns the name of a copy, with the time of its drill. */
export const copyName = (stage: string, at: Date): string =>
  `${prefixOf(stage)}${at.toISOString().replaceAll(/\D/g, '').slice(0, 14)}`

/** Returns the variables of the functions that check books in the stage. */
export const readVariables = async (stage: string): Promise<Record<string, string>> => {
  const client = new LambdaClient()
  const all = await Promise.all(
    CHECKERS.map(async (name) => {
      const FunctionName = resourceName(name, stage)
      const { Environment } = await client.send(
        new GetFunctionConfigurationCommand({ FunctionName }),
      )
      return Environment?.Variables ?? {}
    }),
  )
  return Object.assign({}, ...all)
}

/** Returns the copies that earlier drills have left. */
export const listCopies = async (stage: string): Promise<string[]> => {
  const names: string[] = []
  for await (const { TableNames = [] } of paginateListTables({ client: dynamodb() }, {}))
    names.push(...TableNames.filter((name) => name.startsWith(prefixOf(stage))))
  return names
}

const describe = async (TableName: string): Promise<TableDescription | undefined> => {
  try {
    return (await dynamodb().send(new DescribeTableCommand({ TableName }))).Table
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined
    throw error
  }
}

/** Waits while the table has the status. */
const whileStatus = async (name: string, status: string, signal?: AbortSignal) => {
  for (let ms = FIRST_POLL_MS; ; ms = Math.min(2 * ms, POLL_MS)) {
    const table = await describe(name)
    if (table?.TableStatus !== status) return table
    await pause(ms, signal)
  }
}

/** @returns the latest second that can be restored @throws StartFailure without recovery at that time */
export const restorableAt = async (source: string, at: Date | undefined): Promise<Date> => {
  const { ContinuousBackupsDescription } = await dynamodb().send(
    new DescribeContinuousBackupsCommand({ TableName: source }),
  )
  const { EarliestRestorableDateTime: first, LatestRestorableDateTime: last } =
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {}
  if (!first || !last) throw new StartFailure(`${source} has no point-in-time recovery`)
  if (at && (at < first || at > last))
    throw new StartFailure(`--at: ${first.toISOString()} to ${last.toISOString()} can be restored`)
  return at ?? last
}

type CopyRequest = { source: string; copy: string; at: Date; signal: AbortSignal }

/** Restores a table with its key and indexes, and waits until it is active. */
export const restoreCopy = async ({ source, copy, at, signal }: CopyRequest): Promise<void> => {
  const table = await describe(source)
  const KMSMasterKeyId = table?.SSEDescription?.KMSMasterKeyArn
  await dynamodb().send(
    new RestoreTableToPointInTimeCommand({
      SourceTableName: source,
      TargetTableName: copy,
      RestoreDateTime: at,
      ...(KMSMasterKeyId && {
        SSESpecificationOverride: { Enabled: true, SSEType: 'KMS', KMSMasterKeyId },
      }),
    }),
  )
  const restored = await whileStatus(copy, 'CREATING', signal)
  if (restored?.TableStatus !== 'ACTIVE')
    throw new Error(`${copy} is ${restored?.TableStatus ?? 'missing'} after its restore`)
}

/** Removes a copy, once its restore has ended: DynamoDB cannot stop one. */
export const removeCopy = async (copy: string): Promise<void> => {
  for (;;) {
    await whileStatus(copy, 'CREATING')
    try {
      await dynamodb().send(new DeleteTableCommand({ TableName: copy }))
    } catch (error) {
      if (error instanceof ResourceInUseException) continue
      if (!(error instanceof ResourceNotFoundException)) throw error
    }
    if ((await whileStatus(copy, 'DELETING')) === undefined) return
  }
}
