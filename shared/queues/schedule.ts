import {
  ConflictException,
  CreateScheduleCommand,
  SchedulerClient,
} from '@aws-sdk/client-scheduler'
import { clientLimits } from '../client-limits.ts'
import { environment } from '../runtime.ts'
import { deadLetters, type Message } from './messages.ts'

const scheduler = new SchedulerClient(clientLimits.schedules)

/** Rounds up, because a timeout that fires before its deadline is ignored. */
const wholeSecond = (at: Date): string =>
  new Date(Math.ceil(at.getTime() / 1000) * 1000).toISOString().slice(0, 19)

/** Schedules a message to the expiries queue. A repeated name keeps its first schedule. */
export const scheduleExpiry = async (name: string, at: Date, message: Message<'expiries'>) => {
  const { group, roleArn, targetArn } = environment.schedules
  try {
    await scheduler.send(
      new CreateScheduleCommand({
        Name: name,
        GroupName: group,
        ScheduleExpression: `at(${wholeSecond(at)})`,
        ScheduleExpressionTimezone: 'UTC',
        FlexibleTimeWindow: { Mode: 'OFF' },
        ActionAfterCompletion: 'DELETE',
        Target: {
          Arn: targetArn,
          RoleArn: roleArn,
          Input: JSON.stringify(message),
          // Scheduler sends messages that it cannot deliver to this queue.
          DeadLetterConfig: { Arn: deadLetters(targetArn) },
        },
      }),
    )
  } catch (error) {
    if (!(error instanceof ConflictException)) throw error
  }
}
