import type { ServerResponse } from 'node:http'
import type { FunctionHost } from './function-host.ts'

/** The Lambda Invoke API: the function's reply, or its error with the header that marks it. */
export const answerInvocation = async (
  functions: FunctionHost,
  name: string,
  body: Buffer,
  response: ServerResponse,
): Promise<void> => {
  const answer = (status: number, payload: unknown, headers: Record<string, string> = {}) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(payload ?? null))
  if (!functions.has(name)) {
    answer(
      404,
      { Type: 'User', Message: `Function not found: ${name}` },
      { 'x-amzn-errortype': 'ResourceNotFoundException' },
    )
    return
  }
  const event = parsed(body)
  if (event === undefined) {
    answer(
      400,
      { Type: 'User', Message: 'Could not parse request body into json' },
      { 'x-amzn-errortype': 'InvalidRequestContentException' },
    )
    return
  }
  try {
    answer(200, await functions.invoke(name, event))
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error
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
