import type { Stack } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { CfnSchedule, CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { QueueName } from '../../shared/queues/messages.ts'
import { recurring } from '../definitions/jobs.ts'
import type { Stage } from '../definitions/stages.ts'
import { queueNamed } from './sqs-queues.ts'

export type Schedules = { group: CfnScheduleGroup; role: Role }

/** Defines the recurring schedules; `schedule-timeout` creates those of debits. */
export const defineSchedules = (
  stack: Stack,
  queues: ReadonlyMap<QueueName, Queue>,
  { paused }: Pick<Stage, 'paused'>,
): Schedules => {
  const group = new CfnScheduleGroup(stack, 'Schedules')
  const role = new Role(stack, 'ScheduleRole', {
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com'),
  })
  queueNamed(queues, 'expiries').grant(role, 'sqs:SendMessage')
  for (const { name, queue, expression } of recurring) {
    const target = queueNamed(queues, queue)
    target.grant(role, 'sqs:SendMessage')
    new CfnSchedule(stack, `${name}-schedule`, {
      groupName: group.ref,
      state: paused ? 'DISABLED' : 'ENABLED',
      scheduleExpression: expression,
      scheduleExpressionTimezone: 'UTC',
      flexibleTimeWindow: { mode: 'OFF' },
      target: { arn: target.queueArn, roleArn: role.roleArn, input: '{}' },
    })
  }
  return { group, role }
}
