import { stageNamed } from '../../../infra/definitions/stages.ts'
import { checksOf } from '../iam/checks.ts'
import { deployedStage } from '../iam/deployed-stage.ts'
import { deniedChecks } from '../iam/simulate.ts'
import type { Call } from './calls.ts'

/** Loads the CDK while the tests run. Receives their calls, and sends those that the policies deny. */

// This stage has all functions.
const stage = deployedStage(stageNamed('sandbox'))

process.once('message', async (calls: readonly Call[]) => {
  process.send?.(
    await deniedChecks(
      stage,
      calls.flatMap((call) => checksOf(stage, call)),
    ),
  )
  process.disconnect()
})
