import { Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'

/**
 * Findings of AWS Solutions' rules that are meant so, each with its reason, where the thing is
 * defined. A finding is named in full: `AwsSolutions-IAM5[Resource::*]`.
 */
export const suppressNag = (construct: IConstruct, findings: Record<string, string>): void => {
  for (const [rule, reason] of Object.entries(findings)) {
    Validations.of(construct).acknowledge({ id: `AwsSolutions-${rule}`, reason })
  }
}
