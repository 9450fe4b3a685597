import { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
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

// biome-ignore lint/suspicious/noExplicitAny: templates have no types
export type TemplateNode = Record<string, any>

/** Returns the properties of all resources of a type. */
export const propertiesOf = (template: Template, type: string): TemplateNode[] =>
  Object.values(template.findResources(type)).map(({ Properties }) => Properties)

/** Matches a policy that denies requests without TLS. */
export const denyWithoutTls = (Principal: unknown = { AWS: '*' }) => ({
  PolicyDocument: {
    Statement: Match.arrayWith([
      Match.objectLike({
        Effect: 'Deny',
        Principal,
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    ]),
  },
})
