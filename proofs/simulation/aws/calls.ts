import type { Aws } from '../../../sandbox/aws/aws.ts'
import { queueIn, type SendBatchInput } from '../../../sandbox/aws/queues.ts'
import type { Command } from '../../../sandbox/aws/sdk.ts'
import type { Effects } from '../engine/effects.ts'
import type { Engine } from '../engine/faults.ts'
import { currentInvocation } from '../engine/invocations.ts'
import type { Period } from './lasting.ts'

/** Calls to SQS, Scheduler, S3 and Secrets Manager, and their failures. */

export type FaultyCalls = Engine & { perform: Aws['perform']; effects: Effects }

export const timedOut = (): Error =>
  Object.assign(new Error('socket hang up'), { name: 'TimeoutError', $metadata: {} })

const unavailable = (): Error =>
  Object.assign(new Error('Service is not available'), {
    name: 'ServiceUnavailable',
    $metadata: { httpStatusCode: 503 },
  })

export type Calls = Record<string, (command: Command) => Promise<unknown>>

const QUEUE_TAKES = [5, 20] as const

export const queueCalls = (deps: FaultyCalls, isOut: () => boolean): Calls => {
  const { perform, effects, faults, random } = deps
  const call = (name: string, act: () => unknown, changes = true) =>
    effects.call({ name, changes, takes: QUEUE_TAKES }, act)

  const send = (queue: unknown, bodies: unknown, act: () => unknown) =>
    call(`send ${queueIn(String(queue))} ${bodies}`, () => {
      const refuse = (error: Error) => {
        effects.writer()?.refused.push(String(bodies))
        return error
      }
      if (isOut()) throw refuse(unavailable())
      if (faults.strikes('queue unreachable')) throw refuse(timedOut())
      const output = act()
      if (faults.strikes('queue result unknown')) throw refuse(timedOut())
      return output
    })

  const sendBatch = (input: SendBatchInput): unknown => {
    const sendAll = (entries: SendBatchInput['Entries']) =>
      perform('SendMessageBatchCommand', { ...input, Entries: entries })
    const isRefused = effects.writer()?.name === 'sweep' && faults.strikes('sweep refused')
    if (!isRefused && !faults.strikes('queue takes a part')) return sendAll(input.Entries)
    const first = random.below(2)
    const Entries = input.Entries.filter((_, index) => index % 2 !== first)
    if (Entries.length > 0) sendAll(Entries)
    const Failed = input.Entries.filter((entry) => !Entries.includes(entry))
    effects.writer()?.refused.push(...Failed.map(({ MessageBody }) => String(MessageBody)))
    return { Failed: Failed.map(({ Id }) => ({ Id })) }
  }

  const usual = ({ constructor: { name }, input }: Command) =>
    call(name, () => perform(name, input))

  return {
    SendMessageCommand: ({ constructor: { name }, input }) =>
      send(input.QueueUrl, input.MessageBody, () => perform(name, input)),
    SendMessageBatchCommand: (command) => {
      const input = command.input as SendBatchInput
      const bodies = input.Entries.map(({ MessageBody }) => MessageBody).join(' ')
      return send(input.QueueUrl, bodies, () => sendBatch(input))
    },
    ReceiveMessageCommand: usual,
    DeleteMessageBatchCommand: usual,
    GetQueueAttributesCommand: usual,
    ChangeMessageVisibilityCommand: ({ constructor: { name }, input }) => {
      const hide = () => {
        if (isOut()) throw unavailable()
        return perform(name, input)
      }
      return call('hide', hide, false)
    },
  }
}

export const schedulerCalls = ({ perform, effects, faults }: FaultyCalls): Calls => ({
  CreateScheduleCommand: ({ constructor: { name }, input }) =>
    effects.call({ name: `schedule ${input.Name}`, changes: true, takes: [10, 60] }, () => {
      if (faults.strikes('scheduler unreachable')) throw timedOut()
      perform(name, input)
      if (faults.strikes('schedule result unknown')) throw timedOut()
      return {}
    }),
})

export const bucketCalls = (
  { perform, effects, faults }: FaultyCalls,
  onWrite: (key: string, text: string) => void,
): Calls => ({
  PutObjectCommand: ({ constructor: { name }, input }) =>
    effects.call({ name: `report ${input.Key}`, changes: true, takes: [20, 90] }, () => {
      if (faults.strikes('report not written')) throw unavailable()
      const stored = perform(name, input)
      onWrite(String(input.Key), Buffer.from(input.Body as string).toString())
      return stored
    }),
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
