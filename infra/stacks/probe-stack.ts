import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import * as awsLambda from 'aws-cdk-lib/aws-lambda'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import type { Construct } from 'constructs'
import { PROBE } from '../bundles/build.ts'
import { defineAlarm } from '../constructs/alarm.ts'
import { alarmTopicsIn } from '../constructs/alarm-topics.ts'
import { codeOf, functionDefaults } from '../constructs/function.ts'
import { defineLog } from '../constructs/log-group.ts'
import { suppressNag } from '../constructs/nag-suppressions.ts'
import { metricsOf } from '../definitions/metrics.ts'
import { probeRow } from '../definitions/platform-alarms.ts'
import { resourceName } from '../definitions/resource-name.ts'
import type { Stage } from '../definitions/stages.ts'

const MEMORY_MEGABYTES = 256
/** Of the two handlers; a run ends before the next one. */
const TIMEOUT_SECONDS = { probe: 55, receive: 10 }

/** Defines a probe that uses a stage from another Region, as a provider does (docs/deployment.md#probe). */
export class ProbeStack extends Stack {
  constructor(scope: Construct, id: string, { stage, ...props }: StackProps & { stage: Stage }) {
    super(scope, id, props)
    const secret = new Secret(this, 'Secret', {
      description: `Address, token and webhook secret of the probe, ${stage.name}`,
      // The probe fails until an operator sets the value.
      generateSecretString: { excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    })
    suppressNag(secret, {
      SMG4: 'An operator rotates token and webhook secret by the verbs of the stage',
    })
    const probe = this.#defineFunction('probe', stage, secret)
    const receiver = this.#defineFunction('receive', stage, secret)
    new Rule(this, 'EveryMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(probe as awsLambda.IFunction, { retryAttempts: 0 })],
    })
    const url = receiver.addFunctionUrl({ authType: awsLambda.FunctionUrlAuthType.NONE })
    const alarm = defineAlarm(this, stage, probeRow, metricsOf(stage, ''))
    const action = new SnsAction(alarmTopicsIn(this, stage)('Pages'))
    alarm.addAlarmAction(action)
    alarm.addOkAction(action)
    new CfnOutput(this, 'ProbeWebhookUrl', { value: url.url })
    new CfnOutput(this, 'ProbeSecretArn', { value: secret.secretArn })
  }

  #defineFunction(handler: 'probe' | 'receive', stage: Stage, secret: Secret): awsLambda.Function {
    const name = handler === 'probe' ? 'probe' : 'probe-webhooks'
    const logGroup = defineLog(this, `${name}-log`, stage)
    const role = new Role(this, `${name}-role`, {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    })
    logGroup.grantWrite(role)
    secret.grantRead(role)
    return new awsLambda.Function(this, name, {
      ...functionDefaults,
      functionName: resourceName(name, stage.name),
      code: codeOf(this, PROBE),
      handler: `index.${handler}`,
      timeout: Duration.seconds(TIMEOUT_SECONDS[handler]),
      memorySize: MEMORY_MEGABYTES,
      logGroup,
      retryAttempts: 0,
      role: role.withoutPolicyUpdates(),
      environment: {
        STAGE: stage.name,
        PROBE_SECRET_ARN: secret.secretArn,
        ...(stage.hasSandboxBank && { SANDBOX_BANK: 'true' }),
      },
    })
  }
}
