import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { clientLimits } from '../client-limits.ts'
import { environment } from '../runtime.ts'
import type { OperatorCall, OperatorReply } from './verbs.ts'

const lambda = new LambdaClient(clientLimits.functions)

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
