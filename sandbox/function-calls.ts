import type { Command } from '../aws/sdk.ts'
import type { FunctionHost } from './function-host.ts'

/** Answers the calls of functions to Lambda and Secrets Manager. */
export const answerFunctionCalls =
  (functions: FunctionHost) =>
  ({ constructor: { name }, input }: Command): Promise<unknown> | undefined => {
    switch (name) {
      case 'InvokeCommand':
        return invocation(functions, String(input.FunctionName), String(input.Payload))
      case 'GetSecretValueCommand':
        return Promise.resolve({ ARN: input.SecretId, SecretString: 'sandbox' })
      default:
        return undefined
    }
  }

const invocation = async (functions: FunctionHost, name: string, payload: string) => {
  const reply = (value: unknown) => ({ Payload: Buffer.from(JSON.stringify(value ?? null)) })
  try {
    return reply(await functions.invoke(name, JSON.parse(payload)))
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error
    return { ...reply({ errorType, errorMessage }), FunctionError: 'Unhandled' }
  }
}
