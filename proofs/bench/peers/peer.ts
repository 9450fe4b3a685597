import type { Arrival } from './receivers.ts'

/** A running service that delivers webhooks to one receiver per tenant. */
export type Peer = {
  /** The process of the service and those of its stores and queue, by name. */
  processes: Record<string, number>
  /** Events that follow from a request. */
  eventsPerRequest: number
  /** Those of them that the request itself creates; their latency counts. */
  timedPerRequest: number
  /** Creates events of a tenant. @throws Error unless the service accepts the request */
  request: (tenant: number, key: string) => Promise<void>
  /** Returns a timed event and the key of its request, or undefined for other events. */
  timedEvent: (arrival: Arrival) => { key: string; event: string } | undefined
  /** The header with the signature of an event. */
  signature: string
  stop: () => Promise<void>
}

/** The time in seconds that both services wait for a receiver. */
export const TIMEOUT_SECONDS = 10

/** @throws Error unless the response has the status */
export const post = async (
  url: string,
  { token, body, method = 'POST' }: { token: string; body: unknown; method?: string },
): Promise<void> => {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const reply = await response.text()
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${reply}`)
}
