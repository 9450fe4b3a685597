import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOCAL_STAGE } from '../infra/definitions/resource-name.ts'
import type { CommandDeps } from '../sandbox/localstack/command.ts'
import {
  bootstrap,
  deploy,
  ignoredTypes,
  resourcesIn,
  synthesize,
  useEndpoint,
  usePlaceholderCredentials,
} from '../sandbox/localstack/deployment.ts'
import { assertJava } from '../sandbox/localstack/dynamodb-local.ts'
import { assertLocalStack, endpointIn, startLocalStack } from '../sandbox/localstack/emulator.ts'
import { installedPython, stackTools } from '../sandbox/localstack/python.ts'
import { fireSchedules } from '../sandbox/localstack/schedules.ts'
import { seed } from '../sandbox/seeds.ts'
import { invokeFunction } from './functions-client.ts'
import type { newSteps } from './terminal/progress.ts'

/** Deploys the stacks of the sandbox stage into LocalStack, with the seeds of the sandbox. */

/** The usual seconds of each step. */
export const stageSeconds = {
  LocalStack: 12,
  synthesis: 25,
  bootstrap: 20,
  deployment: 65,
  seeds: 15,
}

/**
 * Starts LocalStack, or uses the one at AWS_ENDPOINT_URL. From then on the AWS clients of this process
 * and of its commands call LocalStack, until the cleanup. @throws StartFailure
 */
export const openLocalStage = async (
  { run, advance, print }: ReturnType<typeof newSteps<keyof typeof stageSeconds>>,
  deps: CommandDeps,
): Promise<{ endpoint: string; api: string }> => {
  const { cleanup, signal, all } = deps
  const start = await localStack(print, deps)
  usePlaceholderCredentials()
  const folder = await mkdtemp(join(tmpdir(), 'debit-collection-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const assembly = join(folder, 'cdk.out')

  const prepare = async (): Promise<string> => {
    const endpoint = await run('LocalStack', () => start(folder))
    useEndpoint(endpoint)
    await run('bootstrap', () => bootstrap(folder, signal))
    return endpoint
  }
  const synthesis = run('synthesis', () => synthesize(assembly, signal))
  const [endpoint] = await all(prepare(), synthesis)
  const counts = resourcesIn(assembly)
  for (const type of ignoredTypes) {
    const count = counts.get(type)
    if (count) print(`ignored by LocalStack: ${count} ${type}`)
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const onCreated = (created: number) => advance('deployment', Math.min(created / total, 0.99))
  const api = await run('deployment', () => deploy(endpoint, assembly, { signal, onCreated }))
  cleanup.defer(fireSchedules(endpoint, (error) => print(`schedules: ${error}`)))
  await run('seeds', seedOnce)
  return { endpoint, api }
}

/** Checks the prerequisites. @returns the start of LocalStack, with its state in a folder */
const localStack = async (
  print: (line: string) => void,
  { cleanup, signal }: CommandDeps,
): Promise<(folder: string) => Promise<string>> => {
  const running = endpointIn(process.env)
  if (running) {
    await assertLocalStack(running)
    return async () => running
  }
  assertJava()
  const python = await installedPython(stackTools, print, signal)
  return (folder) => startLocalStack({ python, folder, ignoredTypes, signal }, cleanup)
}

/** Adds the seeds unless an earlier run has added them. */
const seedOnce = async (): Promise<void> => {
  const invoke = (name: string, event: unknown) =>
    invokeFunction({ stage: LOCAL_STAGE }, name, event)
  const show = { verb: 'show', options: { provider: 'demo' } }
  const { result } = (await invoke('manage-provider', show)) as { result?: unknown }
  if (result === undefined) await seed({ invoke })
}
