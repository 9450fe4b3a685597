import { RemovalPolicy, type Stack } from 'aws-cdk-lib'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Stage } from '../definitions/stages.ts'

/** A log that is kept for as long as its stage says. Nobody's phone, account or secret is in one. */
export const defineLog = (
  stack: Stack,
  id: string,
  stage: Stage,
  logGroupName?: string,
): LogGroup =>
  new LogGroup(stack, id, {
    ...(logGroupName ? { logGroupName } : {}),
    retention: stage.logRetention,
    removalPolicy: stage.keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  })
