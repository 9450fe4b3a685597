import { once } from 'node:events'
import { LOCAL_STAGE } from '../infra/definitions/resource-name.ts'
import { print, runCommand } from '../sandbox/localstack/command.ts'
import { firstCharge } from '../sandbox/pages/start-page.ts'
import { openConsole } from './console-server.ts'
import { openLocalStage, stageSeconds } from './local-stage.ts'
import { newSteps } from './terminal/progress.ts'

/** Runs the stacks of the sandbox stage in LocalStack until a signal (docs/localstack.md). */

await runCommand(
  async (deps) => {
    const { cleanup, signal } = deps
    const { endpoint, api } = await openLocalStage(newSteps(stageSeconds), deps)
    const console = await openConsole(LOCAL_STAGE, 0)
    cleanup.defer(console.stop)
    const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env
    print(`
  A first charge, and an operator command:

${firstCharge(api).replaceAll(/^/gm, '  ')}

  export AWS_ENDPOINT_URL=${endpoint} AWS_REGION=${AWS_REGION}
  export AWS_ACCESS_KEY_ID=${AWS_ACCESS_KEY_ID} AWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY}
  npm run -s operator -- provider show --provider demo --stage ${LOCAL_STAGE}
`)
    print(`ready ${api} console ${console.address} operator ${endpoint}`)
    if (!signal.aborted) await once(signal, 'abort')
    return 0
  },
  { interrupted: 0 },
)
