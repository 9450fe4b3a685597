import type { Stack } from 'aws-cdk-lib'
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch'
import * as codedeploy from 'aws-cdk-lib/aws-codedeploy'
import type { Alias } from 'aws-cdk-lib/aws-lambda'
import { canaries } from '../definitions/functions.ts'
import { definePlatformRole } from './platform-role.ts'

/**
 * Sends another tenth of the requests to a new version each minute, so that its workers start one after
 * another. An alarm returns all of them to the previous version and fails the deployment. The other functions
 * switch at once.
 */
export const defineRollout = (
  stack: Stack,
  aliases: ReadonlyMap<string, Alias>,
  alarms: Alarm[],
): void => {
  const application = new codedeploy.LambdaApplication(stack, 'Rollout')
  const role = definePlatformRole(
    stack,
    'RolloutRole',
    'codedeploy',
    'service-role/AWSCodeDeployRoleForLambdaLimited',
  )
  for (const alias of canaries.flatMap((name) => aliases.get(name) ?? [])) {
    new codedeploy.LambdaDeploymentGroup(alias, 'rollout', {
      application,
      alias,
      role,
      alarms,
      deploymentConfig: codedeploy.LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_1MINUTE,
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    })
  }
}
