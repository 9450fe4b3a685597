import type { SQSEvent } from 'aws-lambda'
import type { QueueName } from '../../shared/queues/messages.ts'

/** Returns the event of a batch from a queue; a text is the exact body. */
export const sqsEvent = (
  queue: QueueName | undefined,
  bodies: readonly unknown[],
  receiveCount = (_index: number) => 1,
): SQSEvent => ({
  Records: bodies.map((body, index) => ({
    messageId: `message-${index + 1}`,
    receiptHandle: `receipt-${index + 1}`,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:eu-west-1:000000000000:${queue}`,
    attributes: {
      ...{ ApproximateReceiveCount: String(receiveCount(index)), SentTimestamp: '' },
      ...{ SenderId: '', ApproximateFirstReceiveTimestamp: '' },
    },
    ...{ messageAttributes: {}, md5OfBody: '', awsRegion: 'eu-west-1' },
  })),
})
