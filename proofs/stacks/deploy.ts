import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newSteps } from '../../commands/terminal/progress.ts'
import { runCommand } from '../../sandbox/localstack/command.ts'
import {
  bootstrap,
  deploy,
  ignoredTypes,
  resourcesIn,
  STAGE,
  synthesize,
  useEndpoint,
  usePlaceholderCredentials,
} from '../../sandbox/localstack/deployment.ts'
import { assertJava } from '../../sandbox/localstack/dynamodb-local.ts'
import { startLocalStack } from '../../sandbox/localstack/emulator.ts'
import { installedPython, stackTools } from '../../sandbox/localstack/python.ts'
import { run } from '../../sandbox/localstack/run.ts'
import { fireSchedules } from '../../sandbox/localstack/schedules.ts'

/** Deploys the stacks into LocalStack and runs the smoke checks (docs/localstack.md#the-stacks). */

const {
  run: runStep,
  advance,
  print,
} = newSteps({ LocalStack: 12, synthesis: 25, bootstrap: 20, deployment: 65, smoke: 70 })

/** The usual number of smoke checks. */
const CHECKS = 55

await runCommand(async ({ cleanup, signal, all }) => {
  assertJava()
  const python = await installedPython(stackTools, print, signal)
  usePlaceholderCredentials()
  const folder = await mkdtemp(join(tmpdir(), 'debit-collection-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const assembly = join(folder, 'cdk.out')
  const emulate = async (): Promise<string> => {
    const settings = { python, folder, ignoredTypes, signal }
    const endpoint = await runStep('LocalStack', () => startLocalStack(settings, cleanup))
    useEndpoint(endpoint)
    await runStep('bootstrap', () => bootstrap(folder, signal))
    return endpoint
  }
  const synthesis = runStep('synthesis', () => synthesize(assembly, signal))
  const [endpoint] = await all(emulate(), synthesis)
  const counts = resourcesIn(assembly)
  for (const type of ignoredTypes) {
    const count = counts.get(type)
    if (count) print(`ignored by LocalStack: ${count} ${type}`)
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const onCreated = (created: number) => advance('deployment', Math.min(created / total, 0.99))
  const api = await runStep('deployment', () => deploy(endpoint, assembly, { signal, onCreated }))
  cleanup.defer(fireSchedules(endpoint, (error) => print(`schedules: ${error}`)))
  const smoke = ['commands/smoke.ts', '--stage', STAGE, '--api', api, '--receiver']
  let checked = 0
  const onLine = (line: string) => {
    checked += 1
    advance('smoke', Math.min(checked / CHECKS, 0.99))
    print(line)
  }
  return await runStep('smoke', () => run([process.execPath, ...smoke], { onLine, signal }))
})
