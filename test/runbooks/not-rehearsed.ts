/** Commands of the pages that no test runs, by their first words, and why. */

const CLOUD = 'needs an AWS account'
const STACKS = `${CLOUD}; test/infra checks the stacks, npm run prove:stack deploys them to LocalStack`
const SHELL = 'prepares the shell of the other commands'
const SMOKE = 'test/commands/smoke runs it against a sandbox and a recorded stage'

export const notRehearsed: Record<string, string> = {
  'STAGE=': SHELL,
  'operator()': SHELL,
  'export AWS_': SHELL,
  'operator debit --help': 'test/commands/operator.proof.ts prints the help of each verb',
  'npm ci': 'is the first step of each build',
  'npm run smoke': SMOKE,
  'npx cdk': STACKS,
  'git tag': 'changes the repository',
  'git checkout': 'changes the repository',
  'aws sts': CLOUD,
  'aws service-quotas': CLOUD,
  'aws cloudformation describe-stacks': STACKS,
  'jq -n': 'writes a file of private keys; test/banks/client-certificate.test.ts reads its format',
  'aws secretsmanager create-secret': `${CLOUD}; test/banks/client-certificate.test.ts reads the secret`,
  'aws backup': CLOUD,
  'aws cloudwatch describe-alarms': `${CLOUD}; test/infra/runbook.test.ts checks the alarms`,
  'MACHINE=': SHELL,
  'LOST=': SHELL,
  'REPLACED=': SHELL,
  'aws sqs purge-queue': CLOUD,
  'aws stepfunctions': `${CLOUD}; test/infra/lake.test.ts checks the state machine`,
  rclone: 'needs rclone and a second storage',
  'npm run -s debit -- restore-drill': 'test/commands/restore-drill.proof.ts runs it',
  'npm run -s debit -- restore-check': 'test/commands/restore-check.test.ts runs it',
}

export const isRehearsed = (command: string): boolean =>
  !Object.keys(notRehearsed).some((start) => command.startsWith(start))

/** Runbooks for alarms whose commands are those of other sections, and the tests of their incidents. */
export const withoutCommands: Record<string, string> = {
  'operations.md#incidents': 'test/infra/incidents.test.ts',
  'operations.md#follow-a-request': 'test/flows/request-ids.test.ts',
  'operations.md#the-sweep-is-behind': 'test/sweep/faults.test.ts',
  'operations.md#a-change-record-was-altered': 'test/queues/relay.test.ts',
  'operations.md#the-firewall-blocks-a-provider': 'test/infra/firewall.test.ts',
}
