/** A request to the API with its reply, without credentials. */
export type LoggedRequest = {
  id: number
  at: string
  method: string
  /** The path with its query. */
  target: string
  status: number
  milliseconds: number
  request: LoggedMessage
  reply: LoggedMessage
}

type LoggedMessage = { headers: [name: string, value: string][]; body: string }

/** A changed item of the table. Its content is read by the operator functions. */
export type ItemChange = { entity: string; pk: string; sk: string }

export type LiveEvent =
  | { type: 'requests'; data: readonly LoggedRequest[] }
  | { type: 'request'; data: LoggedRequest }
  | { type: 'change'; data: ItemChange }

export type Live = ReturnType<typeof openLive>

const REQUESTS_MAX = 1_000
/** A longer body is cut, so that the log has at most 128 MB. */
const BODY_MAX = 65_536

const SECRET_HEADERS = ['authorization', 'cookie', 'proxy-authorization']

const withoutSecrets = ([name, value]: readonly [string, string]): [string, string] => {
  if (!SECRET_HEADERS.includes(name.toLowerCase())) return [name, value]
  const [scheme = '', secret] = value.split(' ')
  return [name, secret === undefined ? '***' : `${scheme} ***`]
}

const logged = ({ headers, body }: LoggedMessage): LoggedMessage => ({
  headers: headers.map(withoutSecrets),
  body: body.length > BODY_MAX ? `${body.slice(0, BODY_MAX)}…` : body,
})

/** Keeps the last 1,000 requests and passes events to the open pages. */
export const openLive = () => {
  const requests: LoggedRequest[] = []
  const listeners = new Set<(event: LiveEvent) => void>()
  let lastId = 0
  const publish = (event: LiveEvent): void => {
    for (const listener of listeners) listener(event)
  }
  return {
    requests: (): readonly LoggedRequest[] => requests,
    addRequest: ({ request, reply, ...rest }: Omit<LoggedRequest, 'id'>): void => {
      lastId += 1
      const entry = { id: lastId, ...rest, request: logged(request), reply: logged(reply) }
      requests.push(entry)
      if (requests.length > REQUESTS_MAX) requests.shift()
      publish({ type: 'request', data: entry })
    },
    addChange: (data: ItemChange): void => publish({ type: 'change', data }),
    /** Announces that everything may have changed: the clock moved, or the sandbox was reset. */
    refresh: (): void => publish({ type: 'change', data: { entity: '*', pk: '', sk: '' } }),
    /** @returns the unsubscriber */
    subscribe: (listener: (event: LiveEvent) => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
