import { relative } from 'node:path'
import { newSteps } from '../../commands/terminal/progress.ts'
import { buildBundles, everyFunction, probeEntry } from '../../infra/bundles/build.ts'
import { completeStage, replicatedStage } from '../../infra/definitions/complete-stage.ts'
import { stageIn, stageNamed, stageNames } from '../../infra/definitions/stages.ts'
import {
  checkedApp,
  defineAccount,
  defineDeployment,
  defineProbe,
  defineStage,
} from '../../infra/stacks/stage-stacks.ts'

/** Synthesizes the account, all stages and an example stage for `npm run synth`. */

const { run, print } = newSteps({ bundles: 6, stacks: 1, templates: 12 })
await run('bundles', () => buildBundles({ ...everyFunction, ...probeEntry }))
const app = checkedApp()
await run('stacks', () => {
  defineAccount(app)
  for (const name of stageNames) defineStage(app, stageNamed(name))
  defineStage(app, completeStage)
  defineDeployment(app, completeStage, 'example/debit-collection', false)
  defineProbe(app, completeStage, 'eu-central-1')
  defineStage(app, { ...replicatedStage, name: 'active' })
  defineStage(app, { ...stageIn(replicatedStage, { passive: 'true' }), name: 'passive' })
})
const { directory, stacks } = await run('templates', () => app.synth())
print(`written to ${relative('', directory)}: ${stacks.length} stacks`)
