import { Stack, type StackProps } from 'aws-cdk-lib'
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import { defineFunction } from '../constructs/function.ts'
import { defineInvocationTrail } from '../constructs/invocation-trail.ts'
import { operatorRowsOf } from '../definitions/functions.ts'
import type { Stage } from '../definitions/stages.ts'
import type { ApiStack } from './api-stack.ts'
import type { DataStack } from './data-stack.ts'
import type { JobsStack } from './jobs-stack.ts'
import type { NetworkStack } from './network-stack.ts'

type OperatorsProps = StackProps & {
  stage: Stage
  data: DataStack
  api: ApiStack
  jobs: JobsStack
  network: NetworkStack | undefined
}

/**
 * Defines the functions of operators, one for each noun, so that IAM can separate duties. Their URLs
 * verify the caller.
 */
export class OperatorsStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { stage, data, api, jobs, network, ...props }: OperatorsProps,
  ) {
    super(scope, id, props)
    const resources = { stage, data, hosts: api.hosts, queues: jobs.queues, network }
    const functions = operatorRowsOf(stage).map((row) => defineFunction(this, row, resources))
    if (!stage.claimedOperators) {
      for (const lambda of functions)
        lambda.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM })
    }
    if (stage.recordsInvocations) defineInvocationTrail(this, stage, functions)
  }
}
