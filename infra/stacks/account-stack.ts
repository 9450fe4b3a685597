import { Stack, type StackProps } from 'aws-cdk-lib'
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway'
import type { Construct } from 'constructs'
import { definePlatformRole } from '../constructs/platform-role.ts'

/** Defines what all stages of one account and Region share: API Gateway's role for logs. */
export class AccountStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps = {}) {
    super(scope, id, props)
    // API Gateway does not document that it sends a source account, so the trust has no condition.
    const role = definePlatformRole(
      this,
      'GatewayLogsRole',
      'apigateway',
      'service-role/AmazonAPIGatewayPushToCloudWatchLogs',
    )
    new CfnAccount(this, 'GatewayAccount', { cloudWatchRoleArn: role.roleArn })
  }
}
