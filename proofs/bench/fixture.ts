import { startDynamoDbLocal } from '../../sandbox/localstack/dynamodb-local.ts'
import { createTable } from '../../sandbox/localstack/dynamodb-table.ts'
import { seeds } from '../../sandbox/seeds.ts'
import type { Options } from './figures.ts'

/** The environment of a warm function: DynamoDB Local with the sandbox's providers and banks. */

const TABLE = 'bench'

/** Sets the environment, and discards logs. Call it before any product module is loaded. */
export const setEnvironment = (): void => {
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    // As on Lambda, settings are read once.
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    TABLE_NAME: TABLE,
    STAGE: 'sandbox',
    LIMITS: 'sandbox',
    SANDBOX_BANK: 'true',
    REFERENCE_PREFIX: 'DCS',
    CLAIMED_OPERATORS: 'true',
    SEALING_KEY: 'bench',
    LOCAL_PEERS: '127.0.0.1',
    // Caches never expire, although the clock of a part runs fast.
    CACHE_SECONDS: '100000000',
    METRICS_DISABLED: 'true',
  })
  // The process still reports an uncaught error.
  process.stdout.write = () => true
  process.stderr.write = () => true
}

/** Longer than a garbage collection of DynamoDB Local, which the product would not wait for. */
export const TIMEOUT_MS = 60_000

/** Raises the request timeout of the product's DynamoDB client. */
const extendTimeout = async (): Promise<void> => {
  const { table } = await import('../../shared/store/table.ts')
  const handler = table.config.requestHandler as unknown as {
    updateHttpClientConfig: (key: 'requestTimeout', milliseconds: number) => void
  }
  handler.updateHttpClientConfig('requestTimeout', TIMEOUT_MS)
}

/** Creates the table and its providers and banks in a DynamoDB Local, and directs the product to it. */
const prepare = async (endpoint: string): Promise<void> => {
  process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint
  await createTable(endpoint, TABLE)
  await extendTimeout()
  for (const call of seeds) await operate(call)
}

/** Runs a measurement on a DynamoDB Local of its own. */
export const onFixture =
  <T>(measure: (options: Options) => Promise<T>) =>
  async (options: Options): Promise<T> => {
    const local = await startDynamoDbLocal()
    try {
      await prepare(local.endpoint)
      return await measure(options)
    } finally {
      await local.stop()
    }
  }

/** @throws Error when the operator function returns an error */
export const operate = async (call: {
  noun: string
  verb: string
  options: Record<string, string>
}): Promise<void> => {
  const { noun, verb, options } = call
  const { handler } = await import(`../../functions/operator/manage-${noun}.ts`)
  const { error } = await handler({ verb, options }, {})
  if (error) throw new Error(`${noun} ${verb}: ${error}`)
}
