import { buildBundles } from '../bundles/build.ts'
import { stageNamed, stageNames } from '../definitions/stages.ts'
import { checkedApp, defineStage } from './stage-stacks.ts'

/** Synthesizes all stages for `npm run synth`. */

await buildBundles()
const app = checkedApp()
for (const name of stageNames) defineStage(app, stageNamed(name))
