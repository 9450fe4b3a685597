import type { Stack } from 'aws-cdk-lib'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { CfnSchedule, CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler'
import type { QueueName } from '../../shared/queues/messages.ts'
import { recurring } from '../definitions/jobs.ts'
import { stageName } from '../definitions/resource-name.ts'
import type { Stage } from '../definitions/stages.ts'
import { type Queues, queueNamed } from './sqs-queues.ts'

export type Schedules = { group: CfnScheduleGroup; role: Role }

/** Defines the recurring schedules; `schedule-timeout` creates those of debits. */
export const defineSchedules = (
  stack: Stack,
  queues: Queues,
  { name: stage, paused }: Stage,
): Schedules => {
  const group = new CfnScheduleGroup(stack, 'Schedules', { name: stageName(stage) })
  const role = new Role(stack, 'ScheduleRole', {
    // AWS accepts the ARN of the group here, not of a schedule.
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: {
        StringEquals: { 'aws:SourceAccount': stack.account, 'aws:SourceArn': group.attrArn },
      },
    }),
  })
  for (const queue of new Set<QueueName>(['expiries', ...recurring.map(({ queue }) => queue)])) {
    queueNamed(queues.work, queue).grant(role, 'sqs:SendMessage')
    queueNamed(queues.deadLetters, queue).grant(role, 'sqs:SendMessage')
  }
  for (const { name, queue, expression } of recurring) {
    const target = queueNamed(queues.work, queue)
    new CfnSchedule(stack, `${name}-schedule`, {
      groupName: group.ref,
      state: paused ? 'DISABLED' : 'ENABLED',
      scheduleExpression: expression,
      scheduleExpressionTimezone: 'UTC',
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: target.queueArn,
        roleArn: role.roleArn,
        input: '{}',
        deadLetterConfig: { arn: queueNamed(queues.deadLetters, queue).queueArn },
      },
    })
  }
  return { group, role }
}
