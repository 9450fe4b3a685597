import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { buildApp } from 'fauxqs'
import { deadLetters, queueRows } from '../queues.ts'

/** SQS and S3 in this process, with every queue and the bucket that the stacks have. */
export type Fauxqs = {
  /** Of both. */
  endpoint: string
  sqs: SQSClient
  queueUrl: (name: string) => string
  stop: () => Promise<void>
}

export type Account = { region: string; id: string }

export const queueArn = ({ region, id }: Account, name: string): string =>
  `arn:aws:sqs:${region}:${id}:${name}`

export const startFauxqs = async (account: Account, bucket: string): Promise<Fauxqs> => {
  // Not its own start function: that listens on every interface of the machine.
  const app = buildApp({ logger: false, defaultRegion: account.region })
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' })
  const sqs = new SQSClient({ endpoint, region: account.region })
  await createQueues(sqs, account)
  await createBucket(endpoint, account, bucket)
  return {
    endpoint,
    sqs,
    queueUrl: (name) => `${endpoint}/${account.id}/${name}`,
    stop: async () => {
      sqs.destroy()
      await app.close()
    },
  }
}

const createBucket = async (endpoint: string, { region }: Account, Bucket: string) => {
  const s3 = new S3Client({ endpoint, region, forcePathStyle: true })
  await s3.send(new CreateBucketCommand({ Bucket }))
  s3.destroy()
}

const createQueues = async (sqs: SQSClient, account: Account): Promise<void> => {
  const create = (QueueName: string, Attributes: Record<string, string>) =>
    sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
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
