import { buildBundles } from '../bundles/build.ts'
import { stageNamed, stageNames } from '../definitions/stages.ts'
import { checkedApp, defineAccount, defineStage } from './stage-stacks.ts'

/** Synthesizes the account and all stages for `npm run synth`. */

await buildBundles()
const app = checkedApp()
defineAccount(app)
for (const name of stageNames) defineStage(app, stageNamed(name))
