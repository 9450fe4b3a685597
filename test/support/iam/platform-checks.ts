import { mappingsOf } from './checks.ts'
import type { DeployedStage } from './deployed-stage.ts'
import { ACCOUNT, REGION } from './resolve-templates.ts'
import type { IamCheck } from './simulate.ts'

/** Returns the checks for calls that AWS makes in the roles of a stage. */
export const platformChecks = (stage: DeployedStage): IamCheck[] => [
  ...gatewayChecks(stage),
  ...stage.functionNames.flatMap((name) => [
    ...lambdaChecks(stage, name),
    ...pollingChecks(stage, name),
    ...createdScheduleChecks(stage, name),
  ]),
  ...stage
    .propertiesOf('AWS::Scheduler::Schedule')
    .flatMap(({ Target, GroupName }) => [
      ...scheduleChecks(Target.RoleArn, Target.Arn, GroupName),
      ...scheduleChecks(Target.RoleArn, Target.DeadLetterConfig.Arn, GroupName),
    ]),
]

/** API Gateway invokes what its integrations name. */
const gatewayChecks = (stage: DeployedStage): IamCheck[] =>
  stage
    .propertiesOf('AWS::ApiGateway::Method')
    .map(({ Integration: { Uri }, RestApiId, HttpMethod }) => ({
      principal: 'apigateway.amazonaws.com',
      action: 'lambda:InvokeFunction',
      resource: /functions\/(.+)\/invocations$/.exec(Uri)?.[1] ?? Uri,
      context: {
        'aws:SourceArn': `arn:aws:execute-api:${REGION}:${ACCOUNT}:${RestApiId}/stage/${HttpMethod}/path`,
      },
    }))

const logGroupArn = (name: string) => `arn:aws:logs:${REGION}:${ACCOUNT}:log-group:${name}`

const lambdaChecks = (stage: DeployedStage, name: string): IamCheck[] => {
  const { Role, LoggingConfig } = stage.functionNamed(name)
  const logGroup = logGroupArn(LoggingConfig.LogGroup)
  return [
    { principal: 'lambda.amazonaws.com', action: 'sts:AssumeRole', resource: Role },
    { principal: Role, action: 'logs:CreateLogStream', resource: `${logGroup}:*` },
    {
      principal: Role,
      action: 'logs:PutLogEvents',
      resource: `${logGroup}:log-stream:2026/01/01/[$LATEST]0123`,
    },
  ]
}

/** Lambda polls a function's event sources in the role of the function. */
const pollingChecks = (stage: DeployedStage, name: string): IamCheck[] => {
  const principal = stage.functionNamed(name).Role
  const streamActions = ['DescribeStream', 'GetRecords', 'GetShardIterator']
  const queueActions = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes']
  return mappingsOf(stage, name).flatMap(({ EventSourceArn, DestinationConfig }): IamCheck[] => {
    const source = { principal, resource: EventSourceArn }
    if (!EventSourceArn.includes('/stream/')) {
      return queueActions.map((action) => ({ ...source, action: `sqs:${action}` }))
    }
    const lost = DestinationConfig.OnFailure.Destination
    return [
      ...streamActions.map((action) => ({ ...source, action: `dynamodb:${action}` })),
      { principal, action: 'dynamodb:ListStreams', resource: '*' },
      { principal, action: 'sqs:SendMessage', resource: lost },
    ]
  })
}

const createdScheduleChecks = (stage: DeployedStage, name: string): IamCheck[] => {
  const { SCHEDULE_ROLE_ARN, SCHEDULE_TARGET_ARN, SCHEDULE_GROUP } =
    stage.functionNamed(name).Environment.Variables
  if (!SCHEDULE_ROLE_ARN) return []
  return [SCHEDULE_TARGET_ARN, `${SCHEDULE_TARGET_ARN}-dead-letters`].flatMap((queue) =>
    scheduleChecks(SCHEDULE_ROLE_ARN, queue, SCHEDULE_GROUP),
  )
}

/** Scheduler names the group, not the schedule, as the source. */
export const schedulerContext = (account: string, group: string) => ({
  'aws:SourceAccount': account,
  'aws:SourceArn': `arn:aws:scheduler:${REGION}:${account}:schedule-group/${group}`,
})

const scheduleChecks = (role: string, queue: string, group: string): IamCheck[] => [
  {
    principal: 'scheduler.amazonaws.com',
    action: 'sts:AssumeRole',
    resource: role,
    context: schedulerContext(ACCOUNT, group),
  },
  { principal: role, action: 'sqs:SendMessage', resource: queue },
]
