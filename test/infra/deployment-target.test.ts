import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, expect, test } from 'vitest'
import { stageNamed } from '../../infra/definitions/stages.ts'
import { checkDeploymentTarget } from '../../infra/stacks/deployment-target.ts'

const lambda = mockClient(LambdaClient)
afterAll(() => lambda.restore())

const place = { CDK_DEFAULT_ACCOUNT: '111111111111', CDK_DEFAULT_REGION: 'eu-west-1' }
const withQuota = (ConcurrentExecutions: number) =>
  lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions } })

test.each([
  ['222222222222', 'eu-west-1'],
  ['111111111111', 'af-south-1'],
])(
  'the deployment rejects credentials of another account or Region than %s in %s',
  async (account, region) => {
    const stage = { ...stageNamed('sandbox'), account, region }
    await expect(checkDeploymentTarget(stage, place)).rejects.toThrow(
      `Stage sandbox belongs to account ${account} in ${region}; the credentials are of 111111111111 in eu-west-1`,
    )
  },
)

test('a stage without account and Region accepts any, and another stage its own', async () => {
  await checkDeploymentTarget(stageNamed('sandbox'), place)
  await checkDeploymentTarget({ ...stageNamed('sandbox'), account: '111111111111' }, place)
  expect(lambda.calls()).toEqual([])
})

test.each([10, 899])(
  'the production stage is rejected where the quota is %i executions',
  async (quota) => {
    withQuota(quota)
    await expect(checkDeploymentTarget(stageNamed('production'), place)).rejects.toThrow(
      `needs 900 concurrent executions (334 reserved, 566 for jobs), but the quota of the account is ${quota}`,
    )
  },
)

test('the production stage is accepted where the quota covers its reservations', async () => {
  withQuota(900)
  await checkDeploymentTarget(stageNamed('production'), place)
})

test('no check is made without credentials', async () => {
  const pinned = { ...stageNamed('production'), account: '222222222222' }
  await checkDeploymentTarget(pinned, {})
})
