import { startDynamoDbLocal } from '../sandbox/dynamodb-local.ts'
import { seeds } from '../sandbox/seeds.ts'
import { createTable } from '../sandbox/table.ts'

/** What a warm function stands on: its environment, DynamoDB Local, and the sandbox's providers and banks. */

const TABLE = 'bench'

/**
 * For every part, before any of the product's files is loaded: some read it once. Lines of the log
 * are written, as on Lambda, and go nowhere.
 */
export const setEnvironment = (): void => {
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    TABLE_NAME: TABLE,
    STAGE: 'sandbox',
    SANDBOX_BANK: 'true',
    REFERENCE_PREFIX: 'DCS',
    SEALING_KEY: 'bench',
    LOCAL_PEERS: 'true',
    // The clocks of the parts run ahead: what a warm function remembers stays remembered.
    CACHE_SECONDS: '100000000',
    POWERTOOLS_METRICS_DISABLED: 'true',
  })
  mute()
}

/** What the product says of its work goes nowhere; what ends the process is still told. */
export const mute = (): void => {
  process.stdout.write = () => true
  process.stderr.write = () => true
}

export type Ground = { endpoint: string; stop: () => Promise<void> }

// DynamoDB Local pauses at times to tidy its heap, for longer than the product would wait.
export const PATIENCE_MS = 60_000

export const openGround = async (): Promise<Ground> => {
  const local = await startDynamoDbLocal()
  try {
    process.env.AWS_ENDPOINT_URL_DYNAMODB = local.endpoint
    await createTable(local.endpoint, TABLE)
    const { table } = await import('../shared/store/table.ts')
    const handler = table.config.requestHandler as unknown as {
      updateHttpClientConfig: (key: 'requestTimeout', milliseconds: number) => void
    }
    handler.updateHttpClientConfig('requestTimeout', PATIENCE_MS)
    for (const together of seeds) await Promise.all(together.map(operate))
    return local
  } catch (error) {
    await local.stop()
    throw error
  }
}

/** @throws Error when the operator's function refuses */
export const operate = async (call: {
  noun: string
  verb: string
  options: Record<string, string>
}): Promise<void> => {
  const { noun, verb, options } = call
  const { handler } = await import(`../functions/operator/manage-${noun}.ts`)
  const { error } = await handler({ verb, options }, {})
  if (error) throw new Error(`${noun} ${verb}: ${error}`)
}
