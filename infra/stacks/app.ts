import { Errors } from 'aws-cdk-lib'
import { buildBundles, probeEntry } from '../bundles/build.ts'
import { InvalidStage, stageNamed } from '../definitions/stages.ts'
import { checkDeploymentTarget } from './deployment-target.ts'
import {
  checkedApp,
  defineAccount,
  defineData,
  defineDeployment,
  defineProbe,
  defineStage,
} from './stage-stacks.ts'

/**
 * Synthesizes one of:
 * - a stage: `cdk deploy --all -c stage=NAME [-c paused=true] [-c canary=false]
 *   [-c passive=true]`
 * - the role of its deployment workflow: `cdk deploy -c stage=NAME -c repository=OWNER/NAME
 *   [-c oidcProvider=existing]`
 * - its probe: `cdk deploy -c stage=NAME -c probe=REGION`
 * - the account stack, which all stages of an account and Region share: `cdk deploy`
 */

const SETTINGS = ['stage', 'paused', 'canary', 'passive', 'probe', 'repository', 'oidcProvider']

const app = checkedApp()
try {
  const { node } = app
  // The CDK's own keys have a colon, a hyphen or an at sign.
  const unknown = Object.keys(node.getAllContext()).find(
    (key) => /^\w+$/.test(key) && !SETTINGS.includes(key),
  )
  if (unknown) throw new InvalidStage(`-c ${unknown} is unknown; known: ${SETTINGS.join(', ')}`)
  const name: unknown = node.tryGetContext('stage')
  const repository: unknown = node.tryGetContext('repository')
  const probe: unknown = node.tryGetContext('probe')
  if ([name, repository, probe].every((value) => value === undefined)) defineAccount(app)
  else {
    const stage = stageNamed(name, {
      paused: node.tryGetContext('paused'),
      canary: node.tryGetContext('canary'),
      passive: node.tryGetContext('passive'),
    })
    if (probe !== undefined) {
      await buildBundles(probeEntry)
      defineProbe(app, stage, probe)
    } else if (repository !== undefined) {
      await checkDeploymentTarget(stage)
      defineDeployment(app, stage, repository, node.tryGetContext('oidcProvider') === 'existing')
    } else {
      await checkDeploymentTarget(stage)
      await buildBundles()
      if (stage.replicaOf && !stage.replicaOf.table) defineData(app, stage)
      else defineStage(app, stage)
    }
  }
} catch (error) {
  // The CDK's constructs reject wrong settings of a stage.
  if (!(error instanceof InvalidStage || Errors.isConstructError(error))) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
