import type { Effects } from '../engine/effects.ts'
import type { Faults } from '../engine/faults.ts'
import type { Random } from '../engine/random.ts'
import { timedOut, unavailable } from './failures.ts'
import { type Queues, queueIn } from './queues.ts'
import type { Command } from './sdk.ts'

/** Calls to SQS and their failures. */

type Entry = { Id: string; MessageBody: string; DelaySeconds?: number }

type Deps = {
  queues: Queues
  effects: Effects
  faults: Faults
  random: Random
  isOut: () => boolean
}

const TAKES = [5, 20] as const
const DELAY_MAX_SECONDS = 900

export const queueCalls = ({ queues, effects, faults, random, isOut }: Deps) => {
  const sending = (name: string, put: () => unknown): Promise<unknown> =>
    effects.call({ name, changes: true, takes: TAKES }, () => {
      if (isOut()) throw unavailable()
      if (faults.strikes('queue unreachable')) throw timedOut()
      const output = put()
      if (faults.strikes('queue result unknown')) throw timedOut()
      return output
    })

  const put = (url: string, { MessageBody, DelaySeconds = 0 }: Omit<Entry, 'Id'>): void => {
    if (DelaySeconds > DELAY_MAX_SECONDS) throw new RangeError(`A delay of ${DelaySeconds} s`)
    queues.put(queueIn(url), MessageBody, DelaySeconds)
  }

  const putBatch = (url: string, entries: readonly Entry[]) => {
    const rejected = faults.strikes('queue takes a part') ? random.below(entries.length) : undefined
    const Failed = entries.filter((_, index) => index === rejected).map(({ Id }) => ({ Id }))
    for (const [index, entry] of entries.entries()) if (index !== rejected) put(url, entry)
    return { Failed }
  }

  return ({ constructor: { name }, input }: Command): Promise<unknown> | undefined => {
    const url = String(input.QueueUrl)
    switch (name) {
      case 'SendMessageCommand':
        return sending(`send ${queueIn(url)} ${input.MessageBody}`, () => {
          put(url, input as Omit<Entry, 'Id'>)
          return {}
        })
      case 'SendMessageBatchCommand': {
        const entries = input.Entries as Entry[]
        const bodies = entries.map(({ MessageBody }) => MessageBody).join(' ')
        return sending(`send ${queueIn(url)} ${bodies}`, () => putBatch(url, entries))
      }
      case 'ChangeMessageVisibilityCommand':
        return effects.call({ name: 'hide', changes: false, takes: TAKES }, () => {
          if (isOut()) throw unavailable()
          queues.hide(String(input.ReceiptHandle), Number(input.VisibilityTimeout))
          return {}
        })
    }
    return undefined
  }
}
