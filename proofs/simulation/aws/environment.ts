import { S3Client } from '@aws-sdk/client-s3'
import { queueArn, queueUrl } from '../../../sandbox/aws/queues.ts'
import { queueNames } from '../../../shared/queues/messages.ts'
import { queueUrlVariable } from '../../../shared/runtime.ts'

/** The environment variables of a deployment; set before any function is loaded. */
Object.assign(process.env, {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'simulated',
  AWS_SECRET_ACCESS_KEY: 'simulated',
  AWS_LAMBDA_LOG_LEVEL: process.env.AWS_LAMBDA_LOG_LEVEL ?? 'FATAL',
  METRICS_DISABLED: 'false',
  STAGE: 'production',
  LIMITS: 'production',
  SANDBOX_BANK: 'true',
  RETAIN_YEARS: '7',
  TABLE_NAME: 'simulated',
  REFERENCE_PREFIX: 'DCS',
  CLAIMED_OPERATORS: 'true',
  REPORTS_BUCKET: 'simulated',
  AUDIT_BUCKET: 'simulated-audit',
  SEALING_KEY_ARN: 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:sealing-key',
  SCHEDULE_GROUP: 'debits',
  SCHEDULE_ROLE_ARN: 'arn:aws:iam::000000000000:role/scheduler',
  SCHEDULE_TARGET_ARN: queueArn('expiries'),
  ...Object.fromEntries(queueNames.map((queue) => [queueUrlVariable(queue), queueUrl(queue)])),
})

// The SDK reads its files once. Within a run that would take real time.
await new S3Client().config.requestChecksumCalculation()
