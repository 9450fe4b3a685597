import { parseJson } from '../shared/domain/json.ts'
import { InvocationFailure, noSandbox } from './functions-client.ts'

export type SandboxRequest = {
  method: string
  path: string
  token?: string | undefined
  /** Sent as JSON. */
  body?: unknown
}

/**
 * Sends a request to the sandbox on this machine. The body of the reply is undefined if it is not JSON.
 * @throws InvocationFailure if no sandbox answers
 */
export const requestSandbox = async (
  port: number,
  { method, path, token, body }: SandboxRequest,
): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new InvocationFailure(noSandbox(port))
  })
  return { status: response.status, body: parseJson(await response.text()) }
}
