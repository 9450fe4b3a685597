import { readFileSync } from 'node:fs'
import { App } from 'aws-cdk-lib'

/** As the CDK passes them to the app: its feature flags change templates. */
const cdkContext = JSON.parse(readFileSync('cdk.json', 'utf8')).context

/** Returns an app without bundles and the CDK's validation of templates, which `npm run synth` runs. */
export const unvalidatedAppIn = (outdir: string): App =>
  new App({
    context: {
      ...cdkContext,
      'aws:cdk:bundling-stacks': [],
      'aws:cdk:disable-creation-stack-traces': true,
    },
    builtinCloudFormationValidation: false,
    outdir,
    treeMetadata: false,
    stackTraces: false,
  })
