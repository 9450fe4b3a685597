import { buildBundles } from '../bundles/build.ts'
import { InvalidStage, stageNamed } from '../definitions/stages.ts'
import { checkPlace } from './place.ts'
import { checkedApp, defineAccount, defineStage } from './stage-stacks.ts'

/**
 * Synthesizes one stage, `cdk deploy --all -c stage=NAME [-c paused=true]`, or without a stage what
 * all stages of an account and Region share, `cdk deploy`.
 */

const app = checkedApp()
try {
  const { node } = app
  const name: unknown = node.tryGetContext('stage')
  if (name === undefined) defineAccount(app)
  else {
    const stage = stageNamed(name, node.tryGetContext('paused'))
    await checkPlace(stage)
    await buildBundles()
    defineStage(app, stage)
  }
} catch (error) {
  if (!(error instanceof InvalidStage)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
