import type { LoggedRequest } from '../server/live.ts'

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Headers that curl sets itself. */
const OMITTED = /^(?:host|connection|content-length|accept-encoding|user-agent|sec-.*|origin)$/i

/** Returns the command that repeats a request; its token comes from a variable. */
export const curlOf = ({ method, target, request }: LoggedRequest, origin: string): string => {
  const headers = request.headers
    .filter(([name]) => !OMITTED.test(name))
    .map(([name, value]) =>
      name.toLowerCase() === 'authorization'
        ? `-H ${quoted(`${name}: ${value.replace(/\*\*\*$/, '')}`)}"$TOKEN"`
        : `-H ${quoted(`${name}: ${value}`)}`,
    )
  const body = request.body ? [`--data-raw ${quoted(request.body)}`] : []
  const words = [`curl -X ${method} ${quoted(origin + target)}`, ...headers, ...body]
  return words.join(' \\\n  ')
}
