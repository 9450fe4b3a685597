import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { close, listen } from '../../sandbox/local-server.ts'
import { type PrintedEvent, readEvent } from '../listener/event.ts'
import { verify } from '../listener/verify.ts'

/** Receives webhooks on this machine and verifies them (docs/webhooks.md#verification). */

type Received = PrintedEvent & {
  deliveryId: string
  /** The problem with its signature or headers. */
  problem: string | undefined
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

export const startReceiver = async () => {
  const received: Received[] = []
  let secret = ''

  const receive = async (request: IncomingMessage): Promise<void> => {
    const { headers } = request
    const body = await buffer(request)
    const event = readEvent(body)
    if (!event) return
    const isLabelled =
      headers['x-svc-event'] === event.event && headers['x-svc-event-id'] === event.eventId
    received.push({
      ...event,
      deliveryId: String(headers['x-svc-delivery-id']),
      problem:
        (await verify({ headers, body }, secret, new Date())) ??
        (isLabelled ? undefined : 'X-SVC-Event or X-SVC-Event-ID differs from the body'),
    })
  }

  const server = createServer((request, response) => {
    receive(request).then(
      () => response.writeHead(204).end(),
      () => response.destroy(),
    )
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    useSecret: (text: string): void => {
      secret = text
    },
    /** Returns the received events of a debit by sequence. */
    eventsOf: (reference: string): Received[] =>
      received
        .filter((event) => event.reference === reference)
        .sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0)),
    stop: () => close(server),
  }
}
