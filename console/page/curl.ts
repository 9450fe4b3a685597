import type { LoggedRequest } from '../server/live.ts'

export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Headers that curl sets itself. */
const OMITTED = /^(?:host|connection|content-length|accept-encoding|user-agent|sec-.*|origin)$/i

/** Returns the command of a request to a quoted URL; its token comes from a variable. */
export const curlWith = (
  method: string,
  url: string,
  sent: readonly (readonly [name: string, value: string])[],
  body: string,
): string => {
  const headers = sent
    .filter(([name]) => !OMITTED.test(name))
    .map(([name, value]) =>
      name.toLowerCase() === 'authorization'
        ? `-H ${quoted(`${name}: ${value.replace(/\*\*\*$/, '')}`)}"$TOKEN"`
        : `-H ${quoted(`${name}: ${value}`)}`,
    )
  const data = body ? [`--data-raw ${quoted(body)}`] : []
  return [`curl -X ${method} ${url}`, ...headers, ...data].join(' \\\n  ')
}

/** Returns the command that repeats a request. */
export const curlOf = ({ method, target, request }: LoggedRequest, origin: string): string =>
  curlWith(method, quoted(origin + target), request.headers, request.body)
