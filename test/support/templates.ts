import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import type { Stage } from '../../infra/definitions/stages.ts'
import { defineStage } from '../../infra/stacks/stage-stacks.ts'

/** Returns the templates of a stage and the findings of the AWS Solutions rules. */
export const templatesOf = (stage: Stage) => {
  // Templates do not need bundles.
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } })
  const { data, service } = defineStage(app, stage)
  return {
    data: Template.fromStack(data),
    service: Template.fromStack(service),
    findings: () =>
      new AwsSolutionsChecks(app)
        .validateScope(app)
        .violations.flatMap(({ ruleName, violatingResources }) =>
          violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
        ),
  }
}
