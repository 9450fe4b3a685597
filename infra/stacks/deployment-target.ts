import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { endpointRows } from '../definitions/functions.ts'
import { InvalidStage, reservedFor, type Stage } from '../definitions/stages.ts'

/** Concurrent executions that AWS keeps unreserved in every account. */
const UNRESERVED = 100

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
  const reserved = endpointRows.reduce((sum, { name }) => sum + (reservedFor(name, stage) ?? 0), 0)
  if (reserved > 0) await checkConcurrency(stage.name, reserved, region)
}

const checkConcurrency = async (stage: string, reserved: number, region: string) => {
  const { AccountLimit } = await new LambdaClient({ region }).send(new GetAccountSettingsCommand())
  const quota = AccountLimit?.ConcurrentExecutions ?? 0
  if (quota < reserved + UNRESERVED) {
    throw new InvalidStage(
      `Stage ${stage} reserves ${reserved} concurrent executions and AWS keeps ${UNRESERVED}, but the quota of the account is ${quota}: raise Lambda's quota "Concurrent executions" (L-B99A9384) or lower "reserved" in infra/definitions/stages.ts`,
    )
  }
}
