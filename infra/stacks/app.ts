import { buildBundles } from '../bundles/build.ts'
import { stageNamed, UnknownStage } from '../definitions/stages.ts'
import { checkedApp, defineStage } from './stage-stacks.ts'

/** Synthesizes one stage: `cdk deploy --all -c stage=NAME [-c paused=true]`. */

const app = checkedApp()
try {
  const { node } = app
  const stage = stageNamed(node.tryGetContext('stage'), node.tryGetContext('paused'))
  await buildBundles()
  defineStage(app, stage)
} catch (error) {
  if (!(error instanceof UnknownStage)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
