import type { Stack } from 'aws-cdk-lib'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { suppressNag } from './nag-suppressions.ts'

/** Defines the role of a service of AWS, with the managed policies that the service documents. */
export const definePlatformRole = (
  stack: Stack,
  id: string,
  service: string,
  ...policies: readonly string[]
): Role => {
  const role = new Role(stack, id, {
    assumedBy: new ServicePrincipal(`${service}.amazonaws.com`),
    managedPolicies: policies.map((name) => ManagedPolicy.fromAwsManagedPolicyName(name)),
  })
  for (const name of policies) {
    suppressNag(role, {
      [`IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${name}]`]: `The policy that AWS documents for ${service}`,
    })
  }
  return role
}
