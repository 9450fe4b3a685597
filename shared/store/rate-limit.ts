import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { keys } from './keys.ts'
import { expiresAt, table, tableName } from './table.ts'

const WINDOW_SECONDS = 60

/** The use of a request limit in the current minute (docs/api.md#rate-limits). */
export type RateStanding = {
  limit: number
  remaining: number
  /** Epoch seconds at which the window ends. */
  reset: number
  exceeded: boolean
}

export const unused = (limit: number, now: Date): RateStanding => ({
  limit,
  remaining: limit,
  reset: windowStart(now) + WINDOW_SECONDS,
  exceeded: false,
})

const windowStart = (now: Date): number => {
  const seconds = Math.floor(now.getTime() / 1000)
  return seconds - (seconds % WINDOW_SECONDS)
}

/** Counts one request in the caller's window. */
export const countRequest = async (
  scope: string,
  limit: number,
  now: Date,
): Promise<RateStanding> => {
  const start = windowStart(now)
  const { Attributes } = await table.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: keys.window(scope, start),
      UpdateExpression: 'SET expiresAt = :expires ADD requests :one',
      ExpressionAttributeValues: { ':one': 1, ':expires': expiresAt(now, 2 * WINDOW_SECONDS) },
      ReturnValues: 'UPDATED_NEW',
    }),
  )
  const used = Number(Attributes?.requests)
  return {
    limit,
    remaining: Math.max(0, limit - used),
    reset: start + WINDOW_SECONDS,
    exceeded: used > limit,
  }
}
