import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { freePort } from '../../../sandbox/localstack/dynamodb-local.ts'
import { type Peer, post, TIMEOUT_SECONDS } from './peer.ts'
import { assertReady, startPostgres, startProgram, startRedis, until } from './programs.ts'

/** Hookdeck Outpost: all its services in one process, with Redis, PostgreSQL and SQS queues. */

const TOKEN = 'peers'
/** The delays of this service's retries, in seconds. */
const RETRIES = '2,4,8,16,32,64,128,256,300,300'
/** About the size of this service's events. */
const PAYLOAD_BYTES = 750

type OutpostOptions = {
  /** Contains the programs `outpost` and `outpost-server`. */
  folder: string
  concurrency: number
  /** The endpoint of a running SQS. */
  sqs: string
}

export const startOutpost = async (
  { folder, concurrency, sqs }: OutpostOptions,
  receivers: readonly string[],
): Promise<Peer> => {
  const redis = await startRedis()
  const postgres = await startPostgres()
  const port = await freePort()
  const env = {
    SERVICE: '',
    API_PORT: String(port),
    API_KEY: TOKEN,
    API_JWT_SECRET: TOKEN,
    AES_ENCRYPTION_SECRET: '0123456789abcdef0123456789abcdef',
    TOPICS: 'debit',
    REDIS_HOST: '127.0.0.1',
    REDIS_PORT: String(redis.port),
    POSTGRES_URL: postgres.url,
    AWS_SQS_ENDPOINT: sqs,
    AWS_SQS_REGION: 'eu-west-1',
    AWS_SQS_ACCESS_KEY_ID: TOKEN,
    AWS_SQS_SECRET_ACCESS_KEY: TOKEN,
    PUBLISH_MAX_CONCURRENCY: String(concurrency),
    DELIVERY_MAX_CONCURRENCY: String(concurrency),
    LOG_MAX_CONCURRENCY: String(concurrency),
    DELIVERY_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS),
    RETRY_SCHEDULE: RETRIES,
    DISABLE_TELEMETRY: 'true',
  }
  const migration = { env: { ...process.env, ...env }, stdio: 'ignore' as const }
  execFileSync(join(folder, 'outpost'), ['migrate', 'apply', '--yes'], migration)
  const start = { command: join(folder, 'outpost-server'), args: [], port }
  const outpost = await startProgram(start, { env })
  const api = `http://127.0.0.1:${port}/api/v1`
  await until(() => assertReady(`${api}/healthz`))
  for (const [index, url] of receivers.entries()) {
    const tenant = `${api}/tenants/tenant-${index}`
    await post(tenant, { token: TOKEN, body: {}, method: 'PUT' })
    const destination = { type: 'webhook', topics: ['*'], config: { url } }
    await post(`${tenant}/destinations`, { token: TOKEN, body: destination })
  }
  const padding = 'x'.repeat(PAYLOAD_BYTES)
  return {
    processes: { Outpost: outpost.pid, Redis: redis.pid, PostgreSQL: postgres.pid },
    eventsPerRequest: 1,
    timedPerRequest: 1,
    request: (tenant, key) =>
      post(`${api}/publish`, {
        token: TOKEN,
        body: { tenant_id: `tenant-${tenant}`, topic: 'debit', data: { key, padding } },
      }),
    timedEvent: ({ body }) => ({ key: JSON.parse(body).key, event: 'debit' }),
    signature: 'x-outpost-signature',
    stop: async () => {
      for (const program of [outpost, postgres, redis]) await program.stop()
    },
  }
}
