import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { environment } from '../runtime.ts'
import type { OperatorCall, OperatorReply } from './verbs.ts'

/** Payments and bank requests take less than a minute. */
const REPLY_MS = 60_000

const lambda = new LambdaClient({
  // A retry would run while the first call is in flight.
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: REPLY_MS,
    throwOnRequestTimeout: true,
  },
})

/** @throws Error if the function throws */
export const invokeNoun = async (noun: string, call: OperatorCall): Promise<OperatorReply> => {
  const FunctionName = `${environment.functionPrefix}manage-${noun}`
  const { Payload, FunctionError } = await lambda.send(
    new InvokeCommand({ FunctionName, Payload: JSON.stringify(call) }),
  )
  const reply = JSON.parse(Buffer.from(Payload ?? []).toString('utf8'))
  if (FunctionError) throw new Error(`${FunctionName}: ${reply.errorMessage}`)
  return reply
}
