import { type Stack, Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'

/** Suppresses findings of the AWS Solutions rules, such as `IAM5[Resource::*]`, with reasons. */
export const suppressNag = (construct: IConstruct, findings: Record<string, string>): void => {
  for (const [rule, reason] of Object.entries(findings)) {
    Validations.of(construct).acknowledge({ id: `AwsSolutions-${rule}`, reason })
  }
}

/** Returns an ARN in the notation of findings, such as `arn:<AWS::Partition>:sqs:eu-west-1:...`. */
export const arnInFindings = (stack: Stack, arn: string): string => {
  const parts: (string | { Ref: string })[] = stack.resolve(arn)['Fn::Join'][1]
  return parts.map((part) => (typeof part === 'string' ? part : `<${part.Ref}>`)).join('')
}

/** Returns the ARN of a resource of another stack in the notation of findings. */
export const importInFindings = (owner: Stack, arn: string): string =>
  owner.resolve(owner.exportValue(arn))['Fn::ImportValue']
