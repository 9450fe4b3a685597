import { openLocalStage, stageSeconds } from '../../commands/local-stage.ts'
import { newSteps } from '../../commands/terminal/progress.ts'
import { LOCAL_STAGE } from '../../infra/definitions/resource-name.ts'
import { runCommand } from '../../sandbox/localstack/command.ts'
import { run } from '../../sandbox/localstack/run.ts'

/** Deploys the stacks as `npm run sandbox:localstack` does, and runs the smoke checks. */

/** The usual number of smoke checks. */
const CHECKS = 55

await runCommand(async (deps) => {
  const steps = newSteps({ ...stageSeconds, smoke: 70 })
  const { api } = await openLocalStage(steps, deps)
  const smoke = ['commands/smoke.ts', '--stage', LOCAL_STAGE, '--api', api, '--receiver']
  let checked = 0
  const onLine = (line: string) => {
    checked += 1
    steps.advance('smoke', Math.min(checked / CHECKS, 0.99))
    steps.print(line)
  }
  const { signal } = deps
  return await steps.run('smoke', () => run([process.execPath, ...smoke], { onLine, signal }))
})
