import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertJava } from '../test/emulators/dynamodb-local.ts'
import { print, runCommand } from './command.ts'
import {
  bootstrap,
  deploy,
  ignoredTypes,
  resourcesIn,
  STAGE,
  synthesize,
  useEndpoint,
  usePlaceholderCredentials,
} from './deployment.ts'
import { startLocalStack } from './emulator.ts'
import { installedPython, stackTools } from './python.ts'
import { run } from './run.ts'
import { fireSchedules } from './schedules.ts'

/** Deploys the stacks into LocalStack and runs the smoke checks (docs/localstack.md#the-stacks). */

/** Runs a step and prints its seconds. */
const measure = async <T>(name: string, step: Promise<T>): Promise<T> => {
  const startTime = performance.now()
  const result = await step
  print(`${name}: ${((performance.now() - startTime) / 1000).toFixed(1)} s`)
  return result
}

await runCommand(async ({ cleanup, signal, all }) => {
  assertJava()
  const python = await installedPython(stackTools, print, signal)
  usePlaceholderCredentials()
  const folder = await mkdtemp(join(tmpdir(), 'debit-collection-'))
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const assembly = join(folder, 'cdk.out')
  const emulate = async (): Promise<string> => {
    const settings = { python, folder, ignoredTypes, signal }
    const endpoint = await measure('LocalStack', startLocalStack(settings, cleanup))
    useEndpoint(endpoint)
    await measure('bootstrap', bootstrap(folder, signal))
    return endpoint
  }
  const [endpoint] = await all(emulate(), measure('synthesis', synthesize(assembly, signal)))
  const counts = resourcesIn(assembly)
  for (const type of ignoredTypes) {
    const count = counts.get(type)
    if (count) print(`ignored by LocalStack: ${count} ${type}`)
  }
  const api = await measure('deployment', deploy(endpoint, assembly, signal))
  cleanup.defer(fireSchedules(endpoint, (error) => print(`schedules: ${error}`)))
  const smoke = ['smoke/main.ts', '--stage', STAGE, '--api', api, '--receiver']
  // Its last line is the number of checks.
  return await run([process.execPath, ...smoke], { onLine: print, signal })
})
