import { randomBytes } from 'node:crypto'

/** Sets the environment of the functions before any test imports them. */
Object.assign(process.env, {
  AWS_REGION: 'eu-west-1',
  // DynamoDB Local keeps the tables of each access key apart.
  AWS_ACCESS_KEY_ID: `test${randomBytes(8).toString('hex')}`,
  AWS_SECRET_ACCESS_KEY: 'test',
  STAGE: 'sandbox',
  SANDBOX_BANK: 'true',
  REFERENCE_PREFIX: 'DCS',
  CLAIMED_OPERATORS: 'true',
  TABLE_NAME: 'test',
  AWS_LAMBDA_LOG_LEVEL: 'FATAL',
  METRICS_DISABLED: 'true',
})
