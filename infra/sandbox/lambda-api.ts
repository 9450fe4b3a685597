import type { ServerResponse } from 'node:http'
import { type FunctionHost, RequestTooLarge } from './function-host.ts'

/**
 * Answers a call of the Lambda Invoke API: the function's reply, or its error with the header that
 * marks it. A body that the gateway did not keep was too large.
 */
export const answerInvocation = async (
  functions: FunctionHost,
  name: string,
  body: Buffer | undefined,
  response: ServerResponse,
): Promise<void> => {
  const answer = (status: number, payload: unknown, headers: Record<string, string> = {}) => {
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(payload ?? null))
  }
  const refuse = (status: number, type: string, Message: string) =>
    answer(status, { Type: 'User', Message }, { 'x-amzn-errortype': type })

  if (!functions.has(name)) {
    return refuse(404, 'ResourceNotFoundException', `Function not found: ${name}`)
  }
  try {
    if (!body) throw new RequestTooLarge()
    const event = parsed(body)
    if (event === undefined) {
      const message = 'Could not parse request body into json'
      return refuse(400, 'InvalidRequestContentException', message)
    }
    answer(200, await functions.invoke(name, event))
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error
    if (error instanceof RequestTooLarge) return refuse(413, errorType, errorMessage)
    answer(200, { errorType, errorMessage }, { 'x-amz-function-error': 'Unhandled' })
  }
}

const parsed = (body: Buffer): unknown => {
  try {
    return body.length === 0 ? {} : JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
