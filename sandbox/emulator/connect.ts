import type { DynamoDBRecord } from 'aws-lambda'
import { jobNames, jobRow } from '../../infra/definitions/jobs.ts'
import type { Invoke } from '../aws/event-sources.ts'
import type { Print } from '../terminal.ts'
import { assertReachable, type Endpoints } from './endpoints.ts'
import { pollQueue } from './queue-poller.ts'
import { createBucket, createQueues, createTable, removeTable } from './resources.ts'
import { pollStream } from './stream-poller.ts'

type Consumers = {
  invoke: Invoke
  takeRecord: (record: DynamoDBRecord) => void
  /** Called when the emulator fails; the pollers continue. */
  onFault: (name: string, error: unknown) => void
}

type EmulatorOptions = {
  endpoints: Endpoints
  region: string
  /** The name of the table, and the prefix of the other names. */
  name: string
  print: Print
}

/** Creates the resources of the services that have an endpoint, and removes them at the end. */
export const connectEmulator = async (
  { endpoints, region, name, print }: EmulatorOptions,
  cleanup: AsyncDisposableStack,
) => {
  await assertReachable(endpoints, region)
  const removeAtEnd = (description: string, remove: () => Promise<void>): void => {
    // The emulator may have stopped before the sandbox.
    cleanup.defer(() => remove().catch(() => print(`${description} could not be removed`)))
  }
  const { dynamoDb, sqs, s3 } = endpoints
  const bucket = `${name}-reports`
  if (dynamoDb) removeAtEnd(`The table ${name}`, () => removeTable(dynamoDb, name))
  const streamArn = dynamoDb && (await createTable(dynamoDb, name))
  if (s3) removeAtEnd(`The bucket ${bucket}`, await createBucket(s3, region, bucket))
  const queues = sqs ? await createQueues(sqs, region, `${name}-`) : undefined
  if (queues) {
    cleanup.defer(queues.close)
    removeAtEnd(`The queues ${name}-*`, queues.remove)
  }
  const places = Object.entries(endpoints).map(([service, endpoint]) => `${service} ${endpoint}`)
  print(`${name}: the table, queues and bucket have this name at ${places.join(', ')}`)
  return {
    queues,
    bucket,
    poll: ({ invoke, takeRecord, onFault }: Consumers) => {
      if (dynamoDb && streamArn) {
        const onStreamFault = (error: unknown) => onFault('stream', error)
        cleanup.defer(pollStream(dynamoDb, { streamArn, takeRecord, onFault: onStreamFault }))
      }
      if (!queues) return
      for (const job of jobNames) {
        const { from } = jobRow(job)
        if (!('queues' in from)) continue
        for (const queue of from.queues) {
          cleanup.defer(
            pollQueue(queues.sqs, {
              queueUrl: queues.url(queue),
              queueArn: queues.arn(queue),
              batchSize: from.batchSize,
              concurrency: from.maxConcurrency,
              invoke: (event) => invoke(job, event),
              onFault: (error) => onFault(queue, error),
            }),
          )
        }
      }
    },
  }
}
