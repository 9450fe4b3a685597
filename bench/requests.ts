import { readFile } from 'node:fs/promises'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { type Runtime, real } from '../shared/runtime.ts'

/** Requests as API Gateway hands them over, and a clock under which any number of them is allowed. */

export type Handler = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<APIGatewayProxyResult>

export const context = { functionName: 'bench', getRemainingTimeInMillis: () => 28_000 } as Context

/** A tenth of a minute's limit of any operation, and a sixth of a day's of a provider. */
const REQUESTS_PER_MINUTE = 6

/** Each reading is later: no limit of a minute or a day is met, however many requests there are. */
export const hurriedClock = (begins = new Date()): Runtime => {
  let read = 0
  return {
    ...real,
    now: () => {
      read += 1
      return new Date(begins.getTime() + (read * 60_000) / REQUESTS_PER_MINUTE)
    },
  }
}

export const sampleEvent = async (name: string): Promise<APIGatewayProxyEvent> =>
  JSON.parse(await readFile(new URL(`../events/${name}.json`, import.meta.url), 'utf8'))

/** The sample charge at the least amount, each time under a reference of its own. */
export const chargeEvents = async () => {
  const sample = await sampleEvent('charge')
  const fields = JSON.parse(sample.body ?? '')
  return (partnerReference: string): APIGatewayProxyEvent => ({
    ...sample,
    // The amount keeps its two decimals, which a number would lose.
    body: JSON.stringify({ ...fields, partner_reference: partnerReference, amount: '1.00' }),
  })
}

/** @throws Error when the reply has another status */
export const asked = async (
  handler: Handler,
  event: APIGatewayProxyEvent,
  status: number,
): Promise<APIGatewayProxyResult> => {
  const reply = await handler(event, context)
  if (reply.statusCode !== status) throw new Error(`${reply.statusCode}: ${reply.body}`)
  return reply
}
