import type { Aws } from '../../../sandbox/aws/aws.ts'
import { queueIn, type SendBatchInput } from '../../../sandbox/aws/queues.ts'
import type { Command } from '../../../sandbox/aws/sdk.ts'
import type { Effects } from '../engine/effects.ts'
import type { Faults } from '../engine/faults.ts'
import { currentInvocation } from '../engine/invocations.ts'
import type { Random } from '../engine/random.ts'
import { timedOut, unavailable } from './failures.ts'
import type { Period } from './lasting.ts'

/** Calls to SQS, Scheduler, S3 and Secrets Manager, and their failures. */

export type FaultyCalls = {
  perform: Aws['perform']
  effects: Effects
  faults: Faults
  random: Random
}

type Calls = Record<string, (command: Command) => Promise<unknown>>

const QUEUE_TAKES = [5, 20] as const

export const queueCalls = ({
  perform,
  effects,
  faults,
  random,
  isOut,
}: FaultyCalls & { isOut: () => boolean }): Calls => {
  const sending = (name: string, send: () => unknown): Promise<unknown> =>
    effects.call({ name, changes: true, takes: QUEUE_TAKES }, () => {
      if (isOut()) throw unavailable()
      if (faults.strikes('queue unreachable')) throw timedOut()
      const output = send()
      if (faults.strikes('queue result unknown')) throw timedOut()
      return output
    })

  /** Rejects half of the batch, if that fault strikes. */
  const sendBatch = (input: SendBatchInput): unknown => {
    const send = (entries: SendBatchInput['Entries']) =>
      perform('SendMessageBatchCommand', { ...input, Entries: entries })
    if (!faults.strikes('queue takes a part')) return send(input.Entries)
    const first = random.below(2)
    const Entries = input.Entries.filter((_, index) => index % 2 !== first)
    if (Entries.length > 0) send(Entries)
    const Failed = input.Entries.filter((entry) => !Entries.includes(entry))
    return { Failed: Failed.map(({ Id }) => ({ Id })) }
  }

  return {
    SendMessageCommand: (command) =>
      sending(`send ${queueIn(String(command.input.QueueUrl))} ${command.input.MessageBody}`, () =>
        perform(command.constructor.name, command.input),
      ),
    SendMessageBatchCommand: (command) => {
      const input = command.input as SendBatchInput
      const bodies = input.Entries.map(({ MessageBody }) => MessageBody).join(' ')
      return sending(`send ${queueIn(input.QueueUrl)} ${bodies}`, () => sendBatch(input))
    },
    ...Object.fromEntries(
      ['ReceiveMessageCommand', 'DeleteMessageBatchCommand', 'GetQueueAttributesCommand'].map(
        (name) => [
          name,
          ({ input }: Command) =>
            effects.call({ name, changes: true, takes: QUEUE_TAKES }, () => perform(name, input)),
        ],
      ),
    ),
    ChangeMessageVisibilityCommand: (command) =>
      effects.call({ name: 'hide', changes: false, takes: QUEUE_TAKES }, () => {
        if (isOut()) throw unavailable()
        return perform(command.constructor.name, command.input)
      }),
  }
}

export const schedulerCalls = ({ perform, effects, faults }: FaultyCalls): Calls => ({
  CreateScheduleCommand: (command) => {
    const name = `schedule ${command.input.Name}`
    return effects.call({ name, changes: true, takes: [10, 60] }, () => {
      if (faults.strikes('scheduler unreachable')) throw timedOut()
      perform(command.constructor.name, command.input)
      if (faults.strikes('schedule result unknown')) throw timedOut()
      return {}
    })
  },
})

export const bucketCalls = (
  { perform, effects, faults }: FaultyCalls,
  onWrite: (key: string) => void,
): Calls => ({
  PutObjectCommand: (command) => {
    const name = `report ${command.input.Key}`
    return effects.call({ name, changes: true, takes: [20, 90] }, () => {
      if (faults.strikes('report not written')) throw unavailable()
      onWrite(String(command.input.Key))
      return perform(command.constructor.name, command.input)
    })
  },
})

/** A key is in the cache of a function at almost every call, so that it takes no time. */
export const secretCalls = (
  { perform, effects }: FaultyCalls,
  outage: Period,
  absence: Period,
): Calls => ({
  GetSecretValueCommand: ({ constructor: { name }, input }) => {
    const isUsual = !outage.isOn() && !absence.isOn()
    if (isUsual || !currentInvocation()) return Promise.resolve(perform(name, input))
    return effects.call({ name, changes: false, takes: QUEUE_TAKES }, () => {
      if (outage.strikes()) throw unavailable()
      return perform(name, absence.strikes() ? { ...input, VersionId: 'missing' } : input)
    })
  },
})
