import { App } from 'aws-cdk-lib'
import { buildBundles } from './bundles/build.ts'
import { DataStack } from './data-stack.ts'
import { ServiceStack } from './service-stack.ts'
import { stageNamed } from './stages.ts'

/** `cdk deploy --all -c stage=NAME` */

await buildBundles()
const app = new App()
const stage = stageNamed(app.node.tryGetContext('stage'))
const data = new DataStack(app, `debit-collection-${stage.name}-data`, { stage })
new ServiceStack(app, `debit-collection-${stage.name}-service`, { stage, data })
