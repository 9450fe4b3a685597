import { setTimeout as pause } from 'node:timers/promises'
import {
  DeleteScheduleCommand,
  GetScheduleCommand,
  paginateListSchedules,
  SchedulerClient,
} from '@aws-sdk/client-scheduler'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { AT, recurrence } from '../aws/scheduler.ts'

const POLL_MS = 500

type PlannedMessage = { due: number; send: () => Promise<void> }

/**
 * Sends the messages of LocalStack's schedules, which LocalStack stores but never fires.
 * @returns a function that ends the polling
 */
export const fireSchedules = (
  endpoint: string,
  onFault: (error: unknown) => void,
): (() => Promise<void>) => {
  const scheduler = new SchedulerClient({ endpoint })
  const sqs = new SQSClient({ endpoint })
  const controller = new AbortController()
  const planned = new Map<string, PlannedMessage>()

  const send = (queueArn: string, MessageBody: string) => {
    const QueueUrl = `${endpoint}/${queueArn.split(':').slice(4).join('/')}`
    return sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }))
  }

  const plan = async (id: string, schedule: { Name: string; GroupName: string }) => {
    const {
      ScheduleExpression = '',
      Target,
      State,
      ActionAfterCompletion,
    } = await scheduler.send(new GetScheduleCommand(schedule))
    const { Arn = '', Input = '' } = Target ?? {}
    const instant = AT.exec(ScheduleExpression)?.[1]
    const next = recurrence(ScheduleExpression)
    if (!instant && !next)
      throw new Error(`Schedule ${id} has the expression ${ScheduleExpression}`)
    const entry: PlannedMessage = {
      due: instant ? Date.parse(`${instant}Z`) : (next?.(Date.now()) ?? Number.POSITIVE_INFINITY),
      send: async () => {
        entry.due = next?.(Date.now()) ?? Number.POSITIVE_INFINITY
        if (State !== 'ENABLED') return
        await send(Arn, Input)
        if (instant && ActionAfterCompletion === 'DELETE') {
          planned.delete(id)
          await scheduler.send(new DeleteScheduleCommand(schedule))
        }
      },
    }
    planned.set(id, entry)
  }

  const poll = async (): Promise<void> => {
    for await (const { Schedules = [] } of paginateListSchedules({ client: scheduler }, {})) {
      for (const { Name = '', GroupName = '' } of Schedules) {
        const id = `${GroupName}/${Name}`
        if (!planned.has(id)) await plan(id, { Name, GroupName })
      }
    }
    const now = Date.now()
    for (const message of [...planned.values()]) if (message.due <= now) await message.send()
  }

  const loop = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      await poll().catch(onFault)
      await pause(POLL_MS, undefined, { signal: controller.signal }).catch(() => undefined)
    }
  }
  const loopEnd = loop()
  return async () => {
    controller.abort()
    await loopEnd
    scheduler.destroy()
    sqs.destroy()
  }
}
