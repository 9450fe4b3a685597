import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, vi } from 'vitest'
import { holdWebhook } from './contract.ts'
import { listen } from './servers.ts'

/** A webhook receiver with scripted responses. */

export type Received = {
  at: number
  path: string
  headers: IncomingHttpHeaders
  raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a payload is looked into, member by member
  body: any
}

/** A status, or a function that writes the response. */
export type Answer = number | ((response: ServerResponse) => unknown)

export type Receiver = {
  url: (path?: string) => string
  received: Received[]
  /** The next responses, before those of `otherwise`. */
  answers: Answer[]
  /** Adds responses for one path, before all others. */
  script: (path: string, ...answers: Answer[]) => void
  otherwise: (received: Received) => Answer
  close: () => Promise<void>
  /** Listens on the same port again. */
  reopen: () => Promise<void>
  /** Waits for a number of events of a debit or a batch and returns them in order. */
  events: (reference: string, count: number) => Promise<Received[]>
}

/** The reduced payload has it in `data`; a batch has an id. */
const referenceIn = ({ data }: Received['body']): string =>
  data.settlement?.id ?? (data.transaction ?? data).reference

export const useReceiver = (): Receiver => {
  let port = 0
  const scripts = new Map<string, Answer[]>()
  const server = createServer(async (request, response) => {
    const raw = await text(request)
    const { headers, url: path = '' } = request
    const webhook = { at: Date.now(), path, headers, raw, body: JSON.parse(raw) }
    receiver.received.push(webhook)
    const answer =
      scripts.get(path)?.shift() ?? receiver.answers.shift() ?? receiver.otherwise(webhook)
    if (typeof answer === 'number') response.writeHead(answer).end()
    else answer(response)
  })
  const open = async () => {
    port = await listen(server, port)
  }
  const close = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  beforeAll(open)
  afterAll(close)
  const receiver: Receiver = {
    url: (path = '/webhooks') => `http://127.0.0.1:${port}${path}`,
    received: [],
    answers: [],
    script: (path, ...answers) => {
      scripts.set(path, [...(scripts.get(path) ?? []), ...answers])
    },
    otherwise: () => 204,
    close,
    reopen: open,
    events: async (reference, count) => {
      const events = await vi.waitFor(
        () => {
          const ours = receiver.received.filter(({ body }) => referenceIn(body) === reference)
          if (ours.length < count) throw new Error(`${ours.length} of ${count} events arrived`)
          return ours
        },
        { timeout: 15_000, interval: 20 },
      )
      for (const { headers, body } of events) holdWebhook(headers, body)
      // Arrival order is undefined; attempts at one event keep theirs.
      return events.toSorted((a, b) => a.body.sequence - b.body.sequence)
    },
  }
  return receiver
}
