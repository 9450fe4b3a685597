import { existsSync } from 'node:fs'
import { functionRows } from '../../../infra/definitions/functions.ts'
import {
  codeStatements,
  formatPermission,
  permissionsIn,
} from '../../../infra/definitions/iam-statements.ts'
import type { Call } from './calls.ts'

/** Returns unused permissions, and calls that the policies of the templates deny. */
export const findingsIn = async (calls: readonly Call[]): Promise<string[]> => [
  ...unusedIn(calls),
  ...(hasSimulator() ? await deniedIn(calls) : []),
]

/** `npm run tools` installs the simulator of IAM. */
export const hasSimulator = (): boolean => existsSync('node_modules/@cloud-copilot/iam-simulate')

const unusedIn = (calls: readonly Call[]): string[] => {
  const used = new Set(
    calls.flatMap(({ name, checks }) => checks.map(({ allowedBy }) => `${name}: ${allowedBy}`)),
  )
  return functionRows
    .flatMap(({ name }) =>
      permissionsIn(codeStatements(name)).map(
        (permission) => `${name}: ${formatPermission(permission)}`,
      ),
    )
    .filter((line) => !used.has(line))
    .map((line) => `${line} is not used in a flow test (function-permissions.ts)`)
}

/** Loads the CDK for whole runs only. */
const deniedIn = async (calls: readonly Call[]): Promise<string[]> => {
  const [{ deployedStage }, { checksOf }, { deniedChecks }, { stageNamed }] = await Promise.all([
    import('../iam/deployed-stage.ts'),
    import('../iam/checks.ts'),
    import('../iam/simulate.ts'),
    import('../../../infra/definitions/stages.ts'),
  ])
  // This stage has all functions.
  const stage = deployedStage(stageNamed('sandbox'))
  return deniedChecks(
    stage,
    calls.flatMap((call) => checksOf(stage, call)),
  )
}
