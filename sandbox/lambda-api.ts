import type { ServerResponse } from 'node:http'
import { parseJson } from '../shared/domain/json.ts'
import { type FunctionHost, RequestTooLarge } from './function-host.ts'

const EXECUTED = { 'x-amz-executed-version': '$LATEST' }

export const write = (
  response: ServerResponse,
  status: number,
  payload: unknown,
  headers: Record<string, string> = {},
): void => {
  const body = Buffer.from(JSON.stringify(payload ?? null))
  const base = { 'content-type': 'application/json', 'content-length': body.length }
  response.writeHead(status, { ...base, ...headers }).end(body)
}

export const refuse = (
  response: ServerResponse,
  status: number,
  type: string,
  Message: string,
): void => write(response, status, { Type: 'User', Message }, { 'x-amzn-errortype': type })

/** Rejects a call with a foreign Host or Origin. */
export const refuseForeignInvocation = (response: ServerResponse): void => {
  response.setHeader('Connection', 'close')
  refuse(response, 403, 'AccessDeniedException', 'Only this machine may invoke functions')
}

/**
 * Invokes a function and sends its result, or its error with `x-amz-function-error`.
 * @param body undefined if it is too large
 */
export const handleInvocation = async (
  functions: FunctionHost,
  name: string,
  body: Buffer | undefined,
  response: ServerResponse,
): Promise<void> => {
  if (!functions.has(name)) {
    return refuse(response, 404, 'ResourceNotFoundException', `Function not found: ${name}`)
  }
  if (response.req.headers['x-amz-invocation-type'] === 'DryRun') {
    response.writeHead(204).end()
    return
  }
  try {
    if (!body) throw new RequestTooLarge()
    const event = parseEvent(body)
    if (event === undefined) {
      const message = 'Could not parse request body into json'
      return refuse(response, 400, 'InvalidRequestContentException', message)
    }
    write(response, 200, await functions.invoke(name, event), EXECUTED)
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error
    if (error instanceof RequestTooLarge) return refuse(response, 413, errorType, errorMessage)
    const fault = { ...EXECUTED, 'x-amz-function-error': 'Unhandled' }
    write(response, 200, { errorType, errorMessage }, fault)
  }
}

export const parseEvent = (body: Buffer): unknown =>
  body.length === 0 ? {} : parseJson(body.toString('utf8'))
