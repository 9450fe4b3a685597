import { Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'

/** Suppresses findings of the AWS Solutions rules, such as `IAM5[Resource::*]`, with reasons. */
export const suppressNag = (construct: IConstruct, findings: Record<string, string>): void => {
  for (const [rule, reason] of Object.entries(findings)) {
    Validations.of(construct).acknowledge({ id: `AwsSolutions-${rule}`, reason })
  }
}
