import { buildBundles } from '../../infra/bundles/build.ts'
import { LOCAL_STAGE } from '../../infra/definitions/resource-name.ts'
import { type Stage, stageNamed } from '../../infra/definitions/stages.ts'
import { checkedApp, defineAccount, defineStage } from '../../infra/stacks/stage-stacks.ts'

/** Synthesizes the sandbox stage for LocalStack; its functions can reach this machine. */
const { auditYears: _, ...sandbox } = stageNamed('sandbox')
const local: Stage = {
  ...sandbox,
  name: LOCAL_STAGE,
  privatePeers: ['127.0.0.1'],
  keepsData: false,
  claimedOperators: true,
}

const app = checkedApp()
await buildBundles()
defineAccount(app)
defineStage(app, local)
