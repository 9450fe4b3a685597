import { AsyncLocalStorage } from 'node:async_hooks'
import { SendMessageBatchCommand, type SendMessageBatchCommandInput } from '@aws-sdk/client-sqs'
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { messages, type QueueName } from '../../shared/queues/messages.ts'
import { sqs } from '../../shared/queues/send.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import { sqsEvent } from '../support/sqs-event.ts'

/** Replaces SQS: collects the messages that a task sends, and invokes consumers with a message. */

export type Sent = {
  queue: string
  body: Record<string, unknown>
  delaySeconds: number | undefined
  group: string | undefined
}

const gathering = new AsyncLocalStorage<Sent[]>()

/** Replaces every queue for the tests of a file. `refusing`: entries of batches that SQS refuses. */
export const useQueues = () => {
  const refusing: { queue: string; index: number }[] = []
  /** The queue of each call. */
  const queues: string[] = []
  for (const queue of Object.keys(messages)) {
    process.env[queueUrlVariable(queue)] = `https://sqs.test/${queue}`
  }
  const calls = mockClient(sqs)
  calls.onAnyCommand().resolves({})
  calls
    .on(SendMessageBatchCommand)
    .callsFake(async ({ QueueUrl = '', Entries = [] }: SendMessageBatchCommandInput) => {
      const queue = QueueUrl.split('/').at(-1) ?? ''
      const sent = Entries.map(({ MessageBody = '', DelaySeconds, MessageGroupId }) => ({
        queue,
        body: JSON.parse(MessageBody),
        delaySeconds: DelaySeconds,
        group: MessageGroupId,
      }))
      gathering.getStore()?.push(...sent)
      queues.push(queue)
      const refused = refusing.filter((one) => one.queue === queue)
      return { Failed: refused.map(({ index }) => ({ Id: String(index) })) }
    })
  return { calls: queues, refusing }
}

/** Returns the messages that a task sends. */
export const gathered = async (work: () => Promise<unknown>): Promise<Sent[]> => {
  const sent: Sent[] = []
  await gathering.run(sent, work)
  return sent
}

type Job = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>

/** Invokes a consumer with one message. */
export const take = (job: Job, queue: QueueName, body: object): Promise<SQSBatchResponse> =>
  job(sqsEvent(queue, [body]), {} as Context)
