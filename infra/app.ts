import { buildBundles } from './bundles/build.ts'
import { checkedApp, defineStage } from './stage-stacks.ts'
import { stageNamed, UnknownStage } from './stages.ts'

/** `cdk deploy --all -c stage=NAME` */

const app = checkedApp()
try {
  const stage = stageNamed(app.node.tryGetContext('stage'))
  await buildBundles()
  defineStage(app, stage)
} catch (error) {
  if (!(error instanceof UnknownStage)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
