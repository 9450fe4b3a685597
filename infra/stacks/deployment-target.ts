import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb'
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { endpointRows, reservedFor } from '../definitions/functions.ts'
import { concurrencyOf, jobRow, jobsOf } from '../definitions/jobs.ts'
import { InvalidStage, type RestoredTable, type Stage } from '../definitions/stages.ts'
import { tableDefinition } from '../definitions/table.ts'

/** Concurrent executions that AWS keeps unreserved in every account. */
const UNRESERVED = 100

/** The relay runs once per shard of the stream: an estimate for 1,000 debits/s. */
const SHARDS = 40

/**
 * Checks the account and Region of the credentials, which the CDK sets, against those of the stage, the
 * stream and indexes of a table that no stack defines, and the account's quota of concurrency. Without
 * credentials, as in CI, it checks nothing.
 * @throws InvalidStage before CloudFormation creates a resource
 */
export const checkDeploymentTarget = async (
  stage: Stage,
  { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env,
): Promise<void> => {
  if (!account || !region) return
  const expected = `${stage.account ?? account} in ${stage.region ?? region}`
  const actual = `${account} in ${region}`
  if (expected !== actual) {
    throw new InvalidStage(
      `Stage ${stage.name} belongs to account ${expected}; the credentials are of ${actual}`,
    )
  }
  if (stage.keepsData && !stage.alarmsTo) {
    throw new InvalidStage(
      `Stage ${stage.name} keeps data and has no alarmsTo: set the addresses of its pages and tickets in infra/definitions/stages.ts`,
    )
  }
  const table = stage.replicaOf ? stage.replicaOf.table : stage.restoredTable
  if (table) await checkTable(stage.name, table, region)
  const reserved = endpointRows.reduce((sum, { name }) => sum + (reservedFor(name, stage) ?? 0), 0)
  // A stage without reservations, such as a sandbox, only gets slower.
  if (reserved > 0)
    await checkConcurrency(stage.name, { reserved, jobs: jobWorkers(stage) }, region)
}

/** Returns the concurrent executions of all jobs, which nothing reserves. */
const jobWorkers = (stage: Stage): number => {
  const counts = jobsOf(stage).map((name) => {
    const { from } = jobRow(name)
    return 'queues' in from ? from.queues.length * concurrencyOf(name, stage) : SHARDS
  })
  return counts.reduce((sum, count) => sum + count, 0)
}

const textOf = (name?: string, keys: unknown[] = [], projected: readonly string[] = []): string =>
  JSON.stringify([name, keys, projected.toSorted()])

const checkTable = async (
  stage: string,
  { name: TableName, streamLabel }: RestoredTable,
  region: string,
): Promise<void> => {
  const request = new DescribeTableCommand({ TableName })
  const { Table } = await new DynamoDBClient({ region }).send(request).catch((error) => {
    if (error instanceof ResourceNotFoundException) return { Table: undefined }
    throw error
  })
  if (Table?.LatestStreamLabel !== streamLabel)
    throw new InvalidStage(
      `Stage ${stage} uses the stream ${streamLabel} of the table ${TableName}, but ${region} has ${Table ? `the stream ${Table.LatestStreamLabel}` : 'no such table'}`,
    )
  // The data stack would add a new index to its own table, which the stage does not use.
  const found = Table.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => {
    const keys = KeySchema?.map(({ AttributeName }) => AttributeName)
    return textOf(IndexName, keys, Projection?.NonKeyAttributes)
  })
  const missing = tableDefinition.indexes.find(
    ({ name, partitionKey, sortKey, projected }) =>
      !found?.includes(textOf(name, [partitionKey, sortKey], projected)),
  )
  if (missing)
    throw new InvalidStage(
      `Stage ${stage} uses the table ${TableName}, which no stack changes and which lacks the index ${missing.name} of infra/definitions/table.ts: add it by aws dynamodb update-table`,
    )
}

const checkConcurrency = async (
  stage: string,
  { reserved, jobs }: { reserved: number; jobs: number },
  region: string,
) => {
  const { AccountLimit } = await new LambdaClient({ region }).send(new GetAccountSettingsCommand())
  const quota = AccountLimit?.ConcurrentExecutions ?? 0
  const needed = reserved + Math.max(jobs, UNRESERVED)
  if (quota < needed) {
    throw new InvalidStage(
      `Stage ${stage} needs ${needed} concurrent executions (${reserved} reserved, ${jobs} for jobs), but the quota of the account is ${quota}: raise Lambda's quota "Concurrent executions" (L-B99A9384), or lower "reserved" and "workers" in infra/definitions/stages.ts`,
    )
  }
}
