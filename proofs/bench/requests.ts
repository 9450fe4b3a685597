import { readFile } from 'node:fs/promises'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'

/** Requests as API Gateway sends them. */

export type Handler = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<APIGatewayProxyResult>

const context = { functionName: 'bench', getRemainingTimeInMillis: () => 28_000 } as Context

const sampleEvent = async (name: string): Promise<APIGatewayProxyEvent> =>
  JSON.parse(await readFile(new URL(`../../events/${name}.json`, import.meta.url), 'utf8'))

/** Returns a builder of sample charges for 1.00, by partner reference. */
export const chargeEvents = async () => {
  const sample = await sampleEvent('charge')
  const fields = JSON.parse(sample.body ?? '')
  return (partnerReference: string): APIGatewayProxyEvent => ({
    ...sample,
    // As text, because a number would lose its two decimals.
    body: JSON.stringify({ ...fields, partner_reference: partnerReference, amount: '1.00' }),
  })
}

/** Returns the event of a status read. */
export const statusEvent = async ({ body }: APIGatewayProxyResult) => ({
  ...(await sampleEvent('get-debit-request')),
  pathParameters: { reference: JSON.parse(body).data.reference as string },
})

/** @throws Error when the reply has another status */
export const call = async (
  handler: Handler,
  event: APIGatewayProxyEvent,
  status: number,
): Promise<APIGatewayProxyResult> => {
  const reply = await handler(event, context)
  if (reply.statusCode !== status) throw new Error(`${reply.statusCode}: ${reply.body}`)
  return reply
}
