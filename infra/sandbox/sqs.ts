import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { buildApp } from 'fauxqs'
import { deadLetters, queueRows } from '../queues.ts'

/** SQS in this process, with every queue that the stacks have. */
export type Sqs = {
  endpoint: string
  client: SQSClient
  queueUrl: (name: string) => string
  stop: () => Promise<void>
}

export type Account = { region: string; id: string }

export const queueArn = ({ region, id }: Account, name: string): string =>
  `arn:aws:sqs:${region}:${id}:${name}`

export const startSqs = async (account: Account): Promise<Sqs> => {
  // Not its own start function: that listens on every interface of the machine.
  const app = buildApp({ logger: false, defaultRegion: account.region })
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' })
  const client = new SQSClient({ endpoint, region: account.region })
  await createQueues(client, account)
  return {
    endpoint,
    client,
    queueUrl: (name) => `${endpoint}/${account.id}/${name}`,
    stop: async () => {
      client.destroy()
      await app.close()
    },
  }
}

const createQueues = async (client: SQSClient, account: Account): Promise<void> => {
  const create = (QueueName: string, Attributes: Record<string, string>) =>
    client.send(new CreateQueueCommand({ QueueName, Attributes }))
  for (const row of queueRows) {
    await create(deadLetters(row.name), {
      MessageRetentionPeriod: String(row.deadLetterRetentionSeconds),
    })
    await create(row.name, {
      VisibilityTimeout: String(row.visibilitySeconds),
      MessageRetentionPeriod: String(row.retentionSeconds),
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: queueArn(account, deadLetters(row.name)),
        maxReceiveCount: String(row.maxReceiveCount),
      }),
    })
  }
}
