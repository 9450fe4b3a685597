import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { backupOf } from '../definitions/recovery.ts'
import { resourceName } from '../definitions/resource-name.ts'
import { InvalidStage, type Stage } from '../definitions/stages.ts'
import { AccountStack } from './account-stack.ts'
import { ApiStack } from './api-stack.ts'
import { BackupStack } from './backup-stack.ts'
import { DataStack } from './data-stack.ts'
import { DeploymentStack } from './deployment-stack.ts'
import { JobsStack } from './jobs-stack.ts'
import { LakeStack } from './lake-stack.ts'
import { MonitoringStack } from './monitoring-stack.ts'
import { NetworkStack } from './network-stack.ts'
import { OperatorsStack } from './operators-stack.ts'
import { ProbeStack } from './probe-stack.ts'

/** Returns an app that checks its stacks with the AWS Solutions rules; a finding fails the synthesis. */
export const checkedApp = (): App => {
  const app = new App()
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  return app
}

export const defineAccount = (app: App): AccountStack =>
  new AccountStack(app, 'debit-collection-account')

const propsOf = (stage: Stage) => {
  const { account, region } = stage
  const env = { ...(account && { account }), ...(region && { region }) }
  const tags = { application: 'debit-collection', stage: stage.name, ...stage.tags }
  return { stage, env, tags }
}

/**
 * @param repository whose workflow deploys the stage
 * @param hasOidcProvider whether the account already has an OIDC provider for GitHub
 */
export const defineDeployment = (
  app: App,
  stage: Stage,
  repository: unknown,
  hasOidcProvider: boolean,
): DeploymentStack =>
  new DeploymentStack(app, resourceName('deployment', stage.name), {
    ...propsOf(stage),
    repository,
    hasOidcProvider,
  })

/** @throws InvalidStage unless the Region is another than that of the stage, which has `alarmsTo` */
export const defineProbe = (app: App, stage: Stage, region: unknown): ProbeStack => {
  if (typeof region !== 'string' || !/^[a-z]{2}(?:-[a-z]+)+-[0-9]$/.test(region))
    throw new InvalidStage('-c probe must be a Region')
  if (region === stage.region)
    throw new InvalidStage(`-c probe must be another Region than ${region}, that of the stage`)
  if (!stage.alarmsTo)
    throw new InvalidStage(`Stage ${stage.name} has no alarmsTo, so its probe could notify nobody`)
  const { env, ...props } = propsOf(stage)
  return new ProbeStack(app, resourceName('probe', stage.name), {
    ...props,
    env: { ...env, region },
  })
}

/** Defines the first stack of a passive Region, whose replicas do not exist yet. */
export const defineData = (app: App, stage: Stage): DataStack =>
  new DataStack(app, resourceName('data', stage.name), propsOf(stage))

export const defineStage = (app: App, stage: Stage) => {
  const props = propsOf(stage)
  const name = (part: string) => resourceName(part, stage.name)
  const data = defineData(app, stage)
  const network =
    stage.network && new NetworkStack(app, name('network'), { ...props, network: stage.network })
  const shared = { ...props, data, network }
  const api = new ApiStack(app, name('api'), shared)
  const jobs = new JobsStack(app, name('jobs'), { ...shared, api })
  const operators = new OperatorsStack(app, name('operators'), { ...shared, api, jobs })
  const monitoring = new MonitoringStack(app, name('monitoring'), { ...props, data, jobs })
  // The alarms use metrics of these stacks.
  for (const stack of [api, jobs, operators]) monitoring.addStackDependency(stack)
  const backup = backupOf(stage)
  return {
    ...{ data, api, jobs, operators, monitoring },
    ...(network && { network }),
    ...(data.lake && {
      lake: new LakeStack(app, name('lake'), { ...props, data, bucket: data.lake }),
    }),
    ...(backup && { backup: new BackupStack(app, name('backup'), { ...props, backup, data }) }),
  }
}
