import type { Stack } from 'aws-cdk-lib'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { removalPolicyOf, type Stage } from '../definitions/stages.ts'

/** Defines a log group with the stage's retention; logs contain no phone, account or secret. */
export const defineLog = (stack: Stack, id: string, stage: Stage, logGroupName?: string) =>
  new LogGroup(stack, id, {
    ...(logGroupName && { logGroupName }),
    retention: stage.logRetention,
    removalPolicy: removalPolicyOf(stage),
  })
