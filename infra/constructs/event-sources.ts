import { Duration } from 'aws-cdk-lib'
import type { ITable, ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import * as awsLambda from 'aws-cdk-lib/aws-lambda'
import { DynamoEventSource, SqsDlq, SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import {
  type ChangeFilter,
  concurrencyOf,
  type JobName,
  type JobSource,
  jobRow,
} from '../definitions/jobs.ts'
import type { Stage } from '../definitions/stages.ts'

export const queueSource = (name: JobName, queue: Queue, stage: Stage): SqsEventSource =>
  new SqsEventSource(queue, {
    batchSize: jobRow(name).from.batchSize,
    maxConcurrency: concurrencyOf(name, stage),
    reportBatchItemFailures: true,
    enabled: !stage.paused,
  })

export const streamSource = (
  { stream, batchSize }: Extract<JobSource, { stream: unknown }>,
  { table, lost, stage }: { table: ITableV2; lost: Queue; stage: Stage },
): DynamoEventSource =>
  new DynamoEventSource(table as ITable, {
    // LATEST would miss records that are written before the mapping is active.
    startingPosition: awsLambda.StartingPosition.TRIM_HORIZON,
    batchSize,
    bisectBatchOnError: true,
    reportBatchItemFailures: true,
    retryAttempts: 10,
    // The stream keeps a record for 24 hours.
    maxRecordAge: Duration.hours(23),
    onFailure: new SqsDlq(lost),
    // Read while the Region waits: otherwise a failover would first relay a day of the other Region's changes.
    enabled: !stage.paused || stage.waits === true,
    filters: (stage.waits ? [NOTHING] : stream).map(patternOf),
  })

const NOTHING: ChangeFilter = { next: { entity: ['none'] } }

const patternOf = ({ next, previous }: ChangeFilter) =>
  awsLambda.FilterCriteria.filter({
    dynamodb: {
      ...(next && { NewImage: imagePattern(next) }),
      ...(previous && { OldImage: imagePattern(previous) }),
    },
  })

const imagePattern = (values: Readonly<Record<string, readonly string[] | 'any'>>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, accepted]) => [
      name,
      { S: accepted === 'any' ? awsLambda.FilterRule.exists() : [...accepted] },
    ]),
  )
