import { createHmac } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { holdWebhook } from './contract.ts'
import { eventually } from './eventually.ts'
import { type ReceivedRequest, received, useServer } from './servers.ts'

/** A webhook receiver with scripted responses. */

export type Received = Omit<ReceivedRequest, 'body'> & {
  at: number
  raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a payload is looked into, member by member
  body: any
}

/** Whether both signatures of a webhook are of this secret; the second one may be one of two. */
export const verifies = ({ raw, headers }: Received, secret: string): boolean => {
  const hmac = createHmac('sha256', secret).update(raw).digest('hex')
  const own = [headers['x-svc-signature'], headers['x-svc-signature-previous']]
  try {
    new Webhook(secret).verify(raw, headers as Record<string, string>)
    return own.includes(hmac)
  } catch {
    return false
  }
}

/** A status, or a function that writes the response. */
export type Answer = number | ((response: ServerResponse) => unknown)

/** The reduced payload has it in `data`; a batch has an id. */
const referenceIn = ({ data }: Received['body']): string =>
  data.settlement?.id ?? (data.transaction ?? data).reference

export const useReceiver = () => {
  const scripts = new Map<string, Answer[]>()
  const server = createServer(async (request, response) => {
    const { body: raw, ...head } = await received(request)
    const webhook = { ...head, at: Date.now(), raw, body: JSON.parse(raw) }
    receiver.received.push(webhook)
    const answer =
      scripts.get(webhook.path)?.shift() ?? receiver.answers.shift() ?? receiver.otherwise(webhook)
    if (typeof answer === 'number') response.writeHead(answer).end()
    else answer(response)
  })
  const url = useServer(server)
  const receiver = {
    url: (path = '/webhooks') => url() + path,
    received: [] as Received[],
    /** The next responses, before those of `otherwise`. */
    answers: [] as Answer[],
    /** Adds responses for one path, before all others. */
    script: (path: string, ...answers: Answer[]) => {
      scripts.set(path, [...(scripts.get(path) ?? []), ...answers])
    },
    otherwise: (_received: Received): Answer => 204,
    /** Waits for a number of events of a debit or a batch and returns them in order. */
    events: async (reference: string, count: number): Promise<Received[]> => {
      const events = await eventually(() => {
        const ours = receiver.received.filter(({ body }) => referenceIn(body) === reference)
        if (ours.length < count) throw new Error(`${ours.length} of ${count} events arrived`)
        return ours
      })
      for (const { headers, body } of events) holdWebhook(headers, body)
      // Arrival order is undefined; attempts at one event keep theirs.
      return events.toSorted((a, b) => a.body.sequence - b.body.sequence)
    },
  }
  return receiver
}
