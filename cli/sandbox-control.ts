import { fail } from './fail.ts'

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
  const response = await fetch(`http://127.0.0.1:${port}/sandbox/${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(() => fail(`No sandbox answers at port ${port}: start it with npm run sandbox`))
  const { data, error } = (await response.json()) as ControlReply
  return error ? fail(lineOf(error)) : data
}

type ControlReply = { data?: unknown; error?: { message: string; details?: object } }

const lineOf = ({ message, details = {} }: NonNullable<ControlReply['error']>): string =>
  [message, ...Object.values(details).flat()].join(': ')
