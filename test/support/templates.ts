import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import type { Stage } from '../../infra/definitions/stages.ts'
import { defineStage } from '../../infra/stacks/stage-stacks.ts'

/** The templates of a stage, and what AWS Solutions' rules find in its stacks. */
export const templatesOf = (stage: Stage) => {
  // The bundles are made by `npm run synth`; the templates do not need them.
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
