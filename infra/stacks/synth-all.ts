import { buildBundles } from '../bundles/build.ts'
import { completeStage } from '../definitions/complete-stage.ts'
import { stageNamed, stageNames } from '../definitions/stages.ts'
import { checkedApp, defineAccount, defineDeployment, defineStage } from './stage-stacks.ts'

/** Synthesizes the account, all stages and an example stage for `npm run synth`. */

await buildBundles()
const app = checkedApp()
defineAccount(app)
for (const name of stageNames) defineStage(app, stageNamed(name))
defineStage(app, completeStage)
defineDeployment(app, completeStage, 'example/debit-collection', false)
