import { CreateQueueCommand, DeleteQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { deadLetters, queueRows } from '../../infra/definitions/queues.ts'

export type EmulatedQueues = {
  sqs: SQSClient
  url: (name: string) => string
  arn: (name: string) => string
  remove: () => Promise<void>
  close: () => Promise<void>
}

/** @param prefix of the queue names in a shared emulator */
export const createQueues = async (
  endpoint: string,
  region: string,
  prefix = '',
): Promise<EmulatedQueues> => {
  const sqs = new SQSClient({ endpoint, region })
  const accounts = new Map<string, string>()

  const create = async (name: string, Attributes: Record<string, string>): Promise<void> => {
    const { QueueUrl = '' } = await sqs.send(
      new CreateQueueCommand({ QueueName: `${prefix}${name}`, Attributes }),
    )
    accounts.set(name, new URL(QueueUrl).pathname.split('/').at(-2) ?? '')
  }
  const address = (name: string): string => `${accounts.get(name)}/${prefix}${name}`
  // The emulator's own URLs may contain a host that only its containers can resolve.
  const url = (name: string): string => `${endpoint.replace(/\/$/, '')}/${address(name)}`
  const arn = (name: string): string => `arn:aws:sqs:${region}:${address(name).replace('/', ':')}`

  for (const row of queueRows) {
    const deadLetterQueue = deadLetters(row.name)
    await create(deadLetterQueue, {
      MessageRetentionPeriod: String(row.deadLetterRetentionSeconds),
    })
    await create(row.name, {
      VisibilityTimeout: String(row.visibilitySeconds),
      MessageRetentionPeriod: String(row.retentionSeconds),
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: arn(deadLetterQueue),
        maxReceiveCount: String(row.maxReceiveCount),
      }),
    })
  }
  const remove = async (): Promise<void> => {
    await Promise.all(
      [...accounts.keys()].map((name) => sqs.send(new DeleteQueueCommand({ QueueUrl: url(name) }))),
    )
  }
  return { sqs, url, arn, remove, close: async () => sqs.destroy() }
}
