import type { IConstruct } from 'constructs'
import { accept } from './accepted.ts'
import type { DataStack } from './data-stack.ts'

/** Wildcards in what functions are granted, and why none of them reaches further than it should. */
export const acceptGrants = (lambda: IConstruct, data: DataStack): void => {
  const nameOf = (arn: string): string =>
    (data.resolve(data.exportValue(arn)) as { 'Fn::ImportValue': string })['Fn::ImportValue']
  const ofOneBucket = 'Verbs of one bucket, which holds nothing but reports'
  accept(lambda, {
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]':
      'Writing logs, and nothing else',
    [`IAM5[Resource::${nameOf(data.table.tableArn)}/index/*]`]: 'The indexes of the one table',
    [`IAM5[Resource::${nameOf(data.reports.bucketArn)}/*]`]: 'The reports in their bucket',
    'IAM5[Action::s3:GetObject*]': ofOneBucket,
    'IAM5[Action::s3:GetBucket*]': ofOneBucket,
    'IAM5[Action::s3:List*]': ofOneBucket,
    'IAM5[Action::s3:Abort*]': ofOneBucket,
    'IAM5[Action::kms:ReEncrypt*]': 'Both halves of one verb, with the one key',
    'IAM5[Action::kms:GenerateDataKey*]': 'Both forms of one verb, with the one key',
    'IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/<Schedules>/*]':
      'Schedules have names of their own, within the one group',
  })
}
