import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { parseJson } from '../../shared/domain/json.ts'
import { verify } from '../listener/verify.ts'

/** Receives webhooks on this machine and verifies them (docs/webhooks.md#verification). */

type Received = {
  event: string
  eventId: string
  deliveryId: string
  sequence: number
  reference: string
  status: string
  /** The problem with its signature or headers. */
  problem: string | undefined
}

type Payload = {
  event?: string
  event_id?: string
  sequence?: number
  data?: { transaction?: { reference?: string; status?: string } }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

export const startReceiver = async () => {
  const received: Received[] = []
  let secret = ''

  const receive = async (request: IncomingMessage): Promise<void> => {
    const { headers } = request
    const body = await buffer(request)
    const { event = '', event_id = '', sequence = -1, data } = parsePayload(body)
    const isLabelled = headers['x-svc-event'] === event && headers['x-svc-event-id'] === event_id
    received.push({
      event,
      eventId: event_id,
      deliveryId: String(headers['x-svc-delivery-id']),
      sequence,
      reference: data?.transaction?.reference ?? '',
      status: data?.transaction?.status ?? '',
      problem:
        verify({ headers, body }, secret, new Date()) ??
        (isLabelled ? undefined : 'X-SVC-Event or X-SVC-Event-ID differs from the body'),
    })
  }

  const server = createServer((request, response) => {
    receive(request).then(
      () => response.writeHead(204).end(),
      () => response.destroy(),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    useSecret: (text: string): void => {
      secret = text
    },
    /** Returns the received events of a debit by sequence. */
    eventsOf: (reference: string): Received[] =>
      received
        .filter((event) => event.reference === reference)
        .sort((a, b) => a.sequence - b.sequence),
    stop: (): void => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const parsePayload = (body: Buffer): Payload => {
  const payload = parseJson(body.toString('utf8'))
  return typeof payload === 'object' && payload !== null ? payload : {}
}
