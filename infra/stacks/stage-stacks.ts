import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import type { Stage } from '../definitions/stages.ts'
import { DataStack } from './data-stack.ts'
import { ServiceStack } from './service-stack.ts'

/** Returns an app that checks its stacks with the AWS Solutions rules; a finding fails the synthesis. */
export const checkedApp = (): App => {
  const app = new App()
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  return app
}

export const defineStage = (app: App, stage: Stage) => {
  const name = `debit-collection-${stage.name}`
  const data = new DataStack(app, `${name}-data`, { stage })
  const service = new ServiceStack(app, `${name}-service`, { stage, data })
  return { data, service }
}
