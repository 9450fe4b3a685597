import { buildBundles } from '../bundles/build.ts'
import { stageNamed, stageNames } from '../definitions/stages.ts'
import { checkedApp, defineStage } from './stage-stacks.ts'

/** All stages in one go, for checking them: `npm run synth`. Each function is bundled once. */

await buildBundles()
const app = checkedApp()
for (const name of stageNames) defineStage(app, stageNamed(name))
