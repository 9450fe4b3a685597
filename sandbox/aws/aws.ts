import type { DynamoDBRecord } from 'aws-lambda'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { newBucket } from './bucket.ts'
import type { Clock } from './clock.ts'
import { type Conditions, faultless } from './conditions.ts'
import { type Invoke, newQueueSource, newStreamSource } from './event-sources.ts'
import { type Journal, noJournal } from './journal.ts'
import { type Message, newQueues, type Queues, queueIn } from './queues.ts'
import { newScheduler } from './scheduler.ts'
import { newSecrets } from './secrets.ts'
import { isFollowed } from './stream-filters.ts'
import type { Change } from './table/change.ts'
import type { TableOptions } from './table/storage.ts'
import { newTable } from './table/table.ts'

/** An in-memory AWS: the services that functions call and the triggers that invoke them. */

export type AwsOptions = {
  clock: Clock
  tableName: string
  invoke: Invoke
  conditions?: Conditions
  journal?: Journal
  /** Returns the invocation that writes. */
  by?: () => Change['by']
  onCommit?: (changes: readonly Change[]) => void
  onConsumed?: TableOptions['onConsumed']
  onDeadLetter?: (message: Message) => void
  onLostRecords?: (records: readonly DynamoDBRecord[]) => void
  /** Reports whether a schedule must not send its message to the queue of an ARN. */
  skips?: (arn: string) => boolean
  /** Called with each record, also those that the stream's filters drop. */
  onRecord?: (record: DynamoDBRecord) => void
  /** Shortens a batch of records that exceeds the size of an invocation. */
  fitting?: (records: DynamoDBRecord[]) => DynamoDBRecord[]
}

export type Service = 'dynamoDb' | 'sqs' | 's3' | 'scheduler' | 'secretsManager'

export type Aws = ReturnType<typeof newAws>

export const newAws = ({
  clock,
  tableName,
  invoke,
  conditions = faultless,
  journal = noJournal,
  by,
  onCommit,
  onConsumed,
  onDeadLetter = () => undefined,
  onLostRecords = () => undefined,
  fitting = (records) => records,
  skips = () => false,
  onRecord,
}: AwsOptions) => {
  const queueSource = newQueueSource({ invoke, queues: () => queues, clock, conditions })
  const queues: Queues = newQueues({
    clock,
    journal,
    copies: conditions.copies,
    onVisible: queueSource.offer,
    onDeadLetter,
  })
  const scheduler = newScheduler({
    clock,
    journal,
    firings: conditions.firings,
    deliver: (arn, body) => {
      if (!skips(arn)) queues.put(queueIn(arn), body)
    },
  })
  const [bucket, secrets] = [newBucket(journal), newSecrets(journal)]
  const stream = newStreamSource({
    conditions,
    invoke,
    clock,
    fitting,
    onLost: onLostRecords,
    onHandled: (records) =>
      journal.write({ handled: records.map(({ dynamodb }) => Number(dynamodb?.SequenceNumber)) }),
  })
  const streamChange = (change: Change): void => {
    const isTaken = isFollowed(change) && !conditions.losesRecord(change)
    if (!isTaken && !onRecord) return
    const record = table.streamRecord(change)
    onRecord?.(record)
    if (isTaken) stream.take(record)
  }
  const table = newTable({
    definition: tableDefinition,
    name: tableName,
    now: clock.now,
    indexLag: conditions.indexLag,
    ...(by && { by }),
    ...(onConsumed && { onConsumed }),
    onCommit: (changes) => {
      journal.write({ changes })
      onCommit?.(changes)
      for (const change of changes) streamChange(change)
    },
  })
  const commands = commandsOf({
    sqs: queues.calls,
    scheduler: scheduler.calls,
    s3: bucket.calls,
    secretsManager: secrets.calls,
    dynamoDb: table.commands,
  })
  return { ...commands, table, queues, scheduler, bucket, secrets, streamChange }
}

const commandsOf = (calls: Record<Service, object>) => {
  const services = new Map<string, Service>(
    (Object.keys(calls) as Service[]).flatMap((service) =>
      Object.keys(calls[service]).map((name) => [name, service] as const),
    ),
  )
  return {
    /** Returns the service of a command, by its class name; undefined for another service. */
    serviceOf: (name: string): Service | undefined => services.get(name),
    /** Performs a command, by its class name. @throws the SDK's errors */
    perform: (name: string, input: object): Record<string, unknown> => {
      const service = services.get(name)
      if (!service) throw new Error(`The in-memory AWS does not support ${name}`)
      const call = calls[service][name as never] as (input: object) => Record<string, unknown>
      return call(input)
    },
  }
}
