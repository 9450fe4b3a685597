import { createHash } from 'node:crypto'
import { deadLetters, isFifo, type QueueName, queueNames } from '../../shared/queues/messages.ts'
import type { Journal, SentMessage } from './journal.ts'

/** The dead-letter queues of SQS: their letters stay until an operator deletes them. */

type Letter = SentMessage & { receives: number; receipt: string }

type Deps = {
  now: () => number
  /** Returns the ARN of a queue. */
  arnOf: (queue: QueueName) => string
  journal: Journal
}

type ReceiveInput = {
  QueueUrl: string
  MaxNumberOfMessages?: number
  VisibilityTimeout?: number
  MessageSystemAttributeNames?: readonly string[]
  MessageAttributeNames?: readonly string[]
}

type DeleteInput = { QueueUrl: string; Entries: readonly { Id: string; ReceiptHandle: string }[] }

/** Returns the queue whose dead-letter queue has a URL; undefined for another URL. */
export const queueOfLetters = (url: string): QueueName | undefined =>
  queueNames.find((queue) => url.endsWith(`/${deadLetters(queue)}`))

/** The visible letters; none of a FIFO group that has an earlier one in flight. */
const visible = (letters: readonly Letter[], now: number): Letter[] => {
  const groups = new Set<string | undefined>()
  return letters.filter(({ queue, group, visibleAt }) => {
    if (visibleAt > now) groups.add(group)
    return visibleAt <= now && !(isFifo(queue) && groups.has(group))
  })
}

export const newDeadLetters = ({ now, arnOf, journal }: Deps) => {
  const byQueue = new Map<QueueName, Letter[]>()
  let receipts = 0

  const lettersOf = (queue: QueueName): Letter[] => {
    const letters = byQueue.get(queue) ?? []
    byQueue.set(queue, letters)
    return letters
  }

  const lettersAt = (url: string): Letter[] => {
    const queue = queueOfLetters(url)
    if (!queue) throw new Error(`${url} is the URL of no dead-letter queue`)
    return lettersOf(queue)
  }

  /** Adds a letter again after a restart. */
  const restore = (sent: SentMessage): void => {
    lettersOf(sent.queue).push({ ...sent, receives: 0, receipt: '' })
  }

  return {
    restore,
    /** @returns the id */
    add: (letter: Omit<SentMessage, 'visibleAt'>): string => {
      const sent = { ...letter, visibleAt: now() }
      journal.write({ sent })
      restore(sent)
      return sent.id
    },
    calls: {
      ReceiveMessageCommand: ({ QueueUrl, ...input }: ReceiveInput) => {
        const { MaxNumberOfMessages = 1, VisibilityTimeout = 30 } = input
        const letters = visible(lettersAt(QueueUrl), now()).slice(0, MaxNumberOfMessages)
        for (const letter of letters) {
          receipts += 1
          letter.receives += 1
          letter.receipt = `dead-letter-${receipts}`
          letter.visibleAt = now() + VisibilityTimeout * 1000
        }
        return letters.length > 0
          ? { Messages: letters.map((letter) => messageOf(letter, input, arnOf)) }
          : {}
      },
      DeleteMessageBatchCommand: ({ QueueUrl, Entries }: DeleteInput) => {
        const letters = lettersAt(QueueUrl)
        for (const { ReceiptHandle } of Entries) {
          // SQS accepts an earlier receipt, and deletes nothing.
          const index = letters.findIndex(({ receipt }) => receipt === ReceiptHandle)
          const [letter] = index === -1 ? [] : letters.splice(index, 1)
          if (letter) journal.write({ removed: letter.id })
        }
        return { Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] }
      },
      GetQueueAttributesCommand: ({ QueueUrl }: Pick<ReceiveInput, 'QueueUrl'>) => {
        const letters = lettersAt(QueueUrl)
        const isVisible = ({ visibleAt }: Letter) => visibleAt <= now()
        const count = letters.filter(isVisible).length
        return {
          Attributes: {
            ApproximateNumberOfMessages: String(count),
            ApproximateNumberOfMessagesNotVisible: String(letters.length - count),
          },
        }
      },
    },
  }
}

export const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

/** SQS returns attributes only to callers that name them. */
const messageOf = (
  { id, queue, body, group, sentAt, receives, receipt, dead, ...letter }: Letter,
  { MessageSystemAttributeNames, MessageAttributeNames }: Omit<ReceiveInput, 'QueueUrl'>,
  arnOf: Deps['arnOf'],
) => ({
  MessageId: id,
  ReceiptHandle: receipt,
  Body: body,
  MD5OfBody: md5(body),
  ...(MessageSystemAttributeNames?.includes('All') && {
    Attributes: {
      SentTimestamp: String(sentAt),
      ApproximateReceiveCount: String(receives),
      ...(group !== undefined && { MessageGroupId: group }),
      ...(letter.deduplicationId && { MessageDeduplicationId: letter.deduplicationId }),
      ...(dead === 'moved' && { DeadLetterQueueSourceArn: arnOf(queue) }),
    },
  }),
  ...(MessageAttributeNames?.includes('All') &&
    letter.attributes && { MessageAttributes: letter.attributes }),
})
