import { checkedApp, defineStage } from './stage-stacks.ts'
import { stageNamed, UnknownStage } from './stages.ts'

/** `cdk deploy --all -c stage=NAME` */

const app = checkedApp()
try {
  defineStage(app, stageNamed(app.node.tryGetContext('stage')))
} catch (error) {
  if (!(error instanceof UnknownStage)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
