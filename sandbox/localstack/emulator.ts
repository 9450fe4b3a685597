import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../local-server.ts'
import { StartFailure } from '../start-failure.ts'
import { startDynamoDbLocal } from './dynamodb-local.ts'
import { ROOT } from './run.ts'

const START_MS = 90_000
const POLL_MS = 100
const STOP_MS = 10_000

/** LocalStack's own output. */
const LOG = join(ROOT, 'dist/localstack.log')

/** Returns the endpoint of a running LocalStack in AWS_ENDPOINT_URL. @throws StartFailure */
export const endpointIn = ({ AWS_ENDPOINT_URL: url }: NodeJS.ProcessEnv): string | undefined => {
  if (!url) return undefined
  if (!/^https?:\/\/[^/]+\/?$/.test(url) || !URL.canParse(url)) {
    throw new StartFailure(`AWS_ENDPOINT_URL is not a URL like http://127.0.0.1:4566: ${url}`)
  }
  return new URL(url).origin
}

/** @throws StartFailure unless LocalStack answers at the endpoint */
export const assertLocalStack = async (endpoint: string): Promise<void> => {
  const health = await fetch(`${endpoint}/_localstack/health`).catch(({ cause }) => cause)
  if (health instanceof Response && health.ok) return
  const reason = health instanceof Response ? health.status : (health?.code ?? health)
  throw new StartFailure(`LocalStack does not answer at ${endpoint}: ${reason}`)
}

type EmulatorSettings = {
  python: string
  /** Folder for all state. */
  folder: string
  /** Resource types that LocalStack's CloudFormation accepts without creating them. */
  ignoredTypes: readonly string[]
  signal: AbortSignal
}

/** Starts DynamoDB Local and LocalStack, which stop with `cleanup`. @returns the endpoint */
export const startLocalStack = async (
  { python, folder, ignoredTypes, signal }: EmulatorSettings,
  cleanup: AsyncDisposableStack,
): Promise<string> => {
  const dynamoDb = await startDynamoDbLocal()
  cleanup.defer(dynamoDb.stop)
  signal.throwIfAborted()
  const port = await freePort()
  await mkdir(dirname(LOG), { recursive: true })
  const log = await open(LOG, 'w')
  // In its own process group, so that Ctrl-C reaches only this process.
  const child = spawn(python, ['-E', '-s', join(import.meta.dirname, 'start.py')], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      TMPDIR: folder,
      FILESYSTEM_ROOT: join(folder, 'files'),
      NODE: process.execPath,
      DYNAMODB_LOCAL_PORT: new URL(dynamoDb.endpoint).port,
      GATEWAY_LISTEN: `127.0.0.1:${port}`,
      LOCALSTACK_HOST: `127.0.0.1:${port}`,
      // Disables usage events, downloads and the DNS server.
      DISABLE_EVENTS: '1',
      SKIP_SSL_CERT_DOWNLOAD: '1',
      DNS_ADDRESS: '0',
      SQS_ENDPOINT_STRATEGY: 'path',
      // These providers use the streams of DynamoDB Local.
      PROVIDER_OVERRIDE_DYNAMODB: 'v2',
      PROVIDER_OVERRIDE_DYNAMODBSTREAMS: 'v2',
      LAMBDA_EVENT_SOURCE_MAPPING_MAX_BACKOFF_ON_EMPTY_POLL_SEC: '1',
      CFN_IGNORE_UNSUPPORTED_RESOURCE_TYPES: '0',
      CFN_IGNORE_UNSUPPORTED_TYPE_CREATE: ignoredTypes.join(','),
    },
  })
  await log.close()
  cleanup.defer(() => stopGroup(child))
  const endpoint = `http://127.0.0.1:${port}`
  for (let waited = 0; waited < START_MS && child.exitCode === null; waited += POLL_MS) {
    const health = await fetch(`${endpoint}/_localstack/health`, { signal }).catch(() => undefined)
    if (health?.ok) return endpoint
    await pause(POLL_MS, undefined, { signal })
  }
  const lines = (await readFile(LOG, 'utf8')).trim().split('\n')
  throw new StartFailure(`LocalStack did not start: ${lines.at(-1)}`)
}

/** Stops LocalStack with its process group, which contains the functions. */
const stopGroup = async (child: ChildProcess): Promise<void> => {
  const exited = child.exitCode === null ? once(child, 'exit') : undefined
  child.kill('SIGTERM')
  await Promise.race([exited, pause(STOP_MS, undefined, { ref: false })])
  try {
    if (child.pid) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}
