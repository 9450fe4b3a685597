import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { endpointRows } from '../definitions/functions.ts'
import { concurrencyOf, jobRow, jobsOf } from '../definitions/jobs.ts'
import { InvalidStage, reservedFor, type Stage } from '../definitions/stages.ts'

/** Concurrent executions that AWS keeps unreserved in every account. */
const UNRESERVED = 100

/** The relay runs once per shard of the stream: an estimate for 1,000 debits/s. */
const SHARDS = 40

/**
 * Checks the account and Region of the credentials, which the CDK sets, against those of the stage, and
 * the account's quota of concurrency. Without credentials, as in CI, it checks nothing.
 * @throws InvalidStage before CloudFormation creates a resource
 */
export const checkDeploymentTarget = async (
  stage: Stage,
  { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION: region } = process.env,
): Promise<void> => {
  if (!account || !region) return
  const expected = `${stage.account ?? account} in ${stage.region ?? region}`
  const actual = `${account} in ${region}`
  if (expected !== actual) {
    throw new InvalidStage(
      `Stage ${stage.name} belongs to account ${expected}; the credentials are of ${actual}`,
    )
  }
  if (stage.keepsData && !stage.alarmsTo) {
    throw new InvalidStage(
      `Stage ${stage.name} keeps data and has no alarmsTo: set the addresses of its pages and tickets in infra/definitions/stages.ts`,
    )
  }
  const reserved = endpointRows.reduce((sum, { name }) => sum + (reservedFor(name, stage) ?? 0), 0)
  // A stage without reservations, such as a sandbox, only gets slower.
  if (reserved > 0)
    await checkConcurrency(stage.name, { reserved, jobs: jobWorkers(stage) }, region)
}

/** Returns the concurrent executions of all jobs, which nothing reserves. */
const jobWorkers = (stage: Stage): number => {
  const counts = jobsOf(stage).map((name) => {
    const { from } = jobRow(name)
    return 'queues' in from ? from.queues.length * concurrencyOf(name, stage) : SHARDS
  })
  return counts.reduce((sum, count) => sum + count, 0)
}

const checkConcurrency = async (
  stage: string,
  { reserved, jobs }: { reserved: number; jobs: number },
  region: string,
) => {
  const { AccountLimit } = await new LambdaClient({ region }).send(new GetAccountSettingsCommand())
  const quota = AccountLimit?.ConcurrentExecutions ?? 0
  const needed = reserved + Math.max(jobs, UNRESERVED)
  if (quota < needed) {
    throw new InvalidStage(
      `Stage ${stage} needs ${needed} concurrent executions (${reserved} reserved, ${jobs} for jobs), but the quota of the account is ${quota}: raise Lambda's quota "Concurrent executions" (L-B99A9384), or lower "reserved" and "workers" in infra/definitions/stages.ts`,
    )
  }
}
