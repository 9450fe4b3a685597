import { Stack, type StackProps } from 'aws-cdk-lib'
import { CfnAccount } from 'aws-cdk-lib/aws-apigateway'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import { suppressNag } from '../constructs/nag-suppressions.ts'

/** Defines what all stages of one account and Region share: API Gateway's role for logs. */
export class AccountStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps = {}) {
    super(scope, id, props)
    const policy = 'service-role/AmazonAPIGatewayPushToCloudWatchLogs'
    const role = new Role(this, 'GatewayLogsRole', {
      // API Gateway does not document that it sends a source account, so there is no condition.
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(policy)],
    })
    suppressNag(role, {
      [`IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`]:
        'The policy that API Gateway documents for its logs',
    })
    new CfnAccount(this, 'GatewayAccount', { cloudWatchRoleArn: role.roleArn })
  }
}
