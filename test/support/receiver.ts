import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, vi } from 'vitest'
import { holdWebhook } from './contract.ts'

/** A provider's webhook receiver: keeps what arrives, and answers as a test tells it. */

export type Received = {
  at: number
  path: string
  headers: IncomingHttpHeaders
  raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a payload is looked into, member by member
  body: any
}

/** A status, or whatever a test does with the response. */
export type Answer = number | ((response: ServerResponse) => unknown)

export type Receiver = {
  url: (path?: string) => string
  received: Received[]
  /** What is answered next, before what is answered otherwise. */
  answers: Answer[]
  otherwise: (received: Received) => Answer
  close: () => Promise<void>
  /** Where it was before. */
  reopen: () => Promise<void>
  /** Waits until so many events of a debit or a batch have come; gives them by their sequence. */
  events: (reference: string, count: number) => Promise<Received[]>
}

/** In the reduced payload it stands in `data` itself; a batch has its id. */
const referenceIn = ({ data }: Received['body']): string =>
  data.settlement?.id ?? (data.transaction ?? data).reference

export const useReceiver = (): Receiver => {
  let port = 0
  const server = createServer(async (request, response) => {
    const raw = await text(request)
    const { headers, url: path = '' } = request
    const webhook = { at: Date.now(), path, headers, raw, body: JSON.parse(raw) }
    receiver.received.push(webhook)
    const answer = receiver.answers.shift() ?? receiver.otherwise(webhook)
    if (typeof answer === 'number') response.writeHead(answer).end()
    else answer(response)
  })
  const open = async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
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
    otherwise: () => 204,
    close,
    reopen: open,
    events: async (reference, count) => {
      const events = await vi.waitFor(
        () => {
          const ours = receiver.received.filter(({ body }) => referenceIn(body) === reference)
          if (ours.length < count) throw new Error(`${ours.length} of ${count} events have come`)
          return ours
        },
        { timeout: 15_000, interval: 20 },
      )
      for (const { headers, body } of events) holdWebhook(headers, body)
      // No order of arrival is promised; the sequence tells, and attempts at one event keep theirs.
      return events.toSorted((a, b) => a.body.sequence - b.body.sequence)
    },
  }
  return receiver
}
