import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, vi } from 'vitest'
import { holdWebhook } from './contract.ts'

/** A partner's webhook receiver: keeps what arrives, and answers as a test tells it. */

export type Received = {
  at: number
  headers: IncomingHttpHeaders
  raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a payload is looked into, member by member
  body: any
}

export type Receiver = {
  url: () => string
  received: Received[]
  /** What is answered next, before 204 for everything. */
  answers: number[]
  close: () => Promise<void>
  /** Waits until so many events of a debit have come, and gives them by their sequence. */
  events: (reference: string, count: number) => Promise<Received[]>
}

/** In the reduced payload it stands in `data` itself. */
const referenceIn = ({ data }: Received['body']): string => (data.transaction ?? data).reference

export const useReceiver = (): Receiver => {
  const received: Received[] = []
  const answers: number[] = []
  const server = createServer(async (request, response) => {
    const raw = await text(request)
    received.push({ at: Date.now(), headers: request.headers, raw, body: JSON.parse(raw) })
    response.writeHead(answers.shift() ?? 204).end()
  })
  const close = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(close)
  return {
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    received,
    answers,
    close,
    events: async (reference, count) => {
      const events = await vi.waitFor(
        () => {
          const ours = received.filter(({ body }) => referenceIn(body) === reference)
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
}
