import { parseJson } from '../shared/domain/json.ts'
import { connectionBroke, InvocationFailure, noSandbox, notSandbox } from './functions-client.ts'
import { fail } from './terminal/fail.ts'

export type SandboxRequest = {
  method: string
  path: string
  token?: string | undefined
  /** Sent as JSON. */
  body?: unknown
}

const explain = ({ name, code }: Partial<NodeJS.ErrnoException>, port: number): string => {
  if (code === 'ECONNREFUSED') return noSandbox(port)
  return name === 'HTTPParserError' ? notSandbox(port) : connectionBroke('the sandbox')
}

/**
 * Sends a request to the sandbox on this machine. The body of the reply is undefined if it is not JSON.
 * @throws InvocationFailure if no sandbox answers
 */
export const requestSandbox = async (
  port: number,
  { method, path, token, body }: SandboxRequest,
): Promise<{ status: number; body: unknown }> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: parseJson(await response.text()) }
  } catch (error) {
    throw new InvocationFailure(explain((error as Error).cause ?? {}, port))
  }
}

/** Returns the error of a reply in one line; undefined without one. */
export const errorIn = (body: unknown): string | undefined => {
  const { error } = (body ?? {}) as { error?: { code: number; message?: string; details?: object } }
  if (!error?.message) return undefined
  const { message, code, details = {} } = error
  const fields = Object.entries(details).map(([name, texts]) =>
    /^[0-9]+$/.test(name) ? texts : `${name} ${[texts].flat().join('; ')}`,
  )
  return [`${message} (${code})`, ...fields].join(': ')
}

/**
 * Calls a route below /sandbox and returns its data. Prints one line and exits with 1 if no sandbox
 * listens at the port or if it refuses.
 */
export const callSandbox = async (
  port: number,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<unknown> => {
  const request = { method, path: `/sandbox/${path}`, body }
  const reply = await requestSandbox(port, request).catch(({ message }: Error) => fail(message))
  const error = errorIn(reply.body)
  const { data } = (reply.body ?? {}) as { data?: unknown }
  return error || data === undefined ? fail(error ?? notSandbox(port)) : data
}
