import { CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler'
import { mockClient } from 'aws-sdk-client-mock'
import { expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { scheduleExpiry } from '../../shared/queues/schedule.ts'

/** Timers of EventBridge Scheduler, which have whole seconds. */

const scheduler = mockClient(SchedulerClient)
Object.assign(process.env, {
  SCHEDULE_GROUP: 'timeouts',
  SCHEDULE_ROLE_ARN: 'arn:aws:iam::000000000000:role/scheduler',
  SCHEDULE_TARGET_ARN: 'arn:aws:sqs:us-east-1:000000000000:expiries',
})

test.each([
  ['2026-11-21T10:05:00.000Z', 'at(2026-11-21T10:05:00)'],
  ['2026-11-21T10:05:00.001Z', 'at(2026-11-21T10:05:01)'],
  ['2026-11-21T23:59:59.400Z', 'at(2026-11-22T00:00:00)'],
])('a timer for %s has the expression %s, which is not before it', async (deadline, expression) => {
  scheduler.reset()
  const message = { reference: 'DCS-20261121-ABC123' as Reference, phase: 'approval' } as const
  await scheduleExpiry('a-timer', new Date(deadline), message)
  const [call] = scheduler.commandCalls(CreateScheduleCommand)
  const { ScheduleExpression, Target } = call?.args[0].input ?? {}
  expect(ScheduleExpression).toBe(expression)
  expect(JSON.parse(Target?.Input ?? '')).toEqual(message)
})
