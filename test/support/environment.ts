import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import { SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, vi } from 'vitest'

// Tests read the date several times: a file that starts in the last minute of a day waits for the next day.
const remaining = 86_400_000 - (Date.now() % 86_400_000)
if (remaining < 60_000) await pause(remaining)

// The files of a process share the modules of packages, and each has its own of the service.
vi.resetModules()

// The instance that aws-sdk-client-mock requires.
const { restore: restoreClients } = createRequire(import.meta.url)('sinon')
const before = { ...process.env }
const clients = Object.getPrototypeOf(SQSClient.prototype)
const { send } = clients
afterAll(() => {
  vi.useRealTimers()
  // Else the next file restores what this one replaced, after its own hooks.
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  restoreClients()
  clients.send = send
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  Object.assign(process.env, before)
})

/** Sets the environment of the functions before any test imports them. */
Object.assign(process.env, {
  AWS_REGION: 'eu-west-1',
  // DynamoDB Local keeps the tables of each access key apart.
  AWS_ACCESS_KEY_ID: `test${randomBytes(8).toString('hex')}`,
  AWS_SECRET_ACCESS_KEY: 'test',
  STAGE: 'sandbox',
  LIMITS: 'sandbox',
  SANDBOX_BANK: 'true',
  REFERENCE_PREFIX: 'DCS',
  CLAIMED_OPERATORS: 'true',
  TABLE_NAME: 'test',
  AWS_LAMBDA_LOG_LEVEL: 'FATAL',
  METRICS_DISABLED: 'true',
})
