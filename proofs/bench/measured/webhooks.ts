import { Agent, request } from 'undici'
import { canSign } from '../../../shared/domain/webhooks/webhook.ts'
import { compare, type Figure } from '../figures.ts'
import { onFixture, operate, setEnvironment } from '../fixture.ts'
import { openReceiver } from '../receivers.ts'
import { call, chargeEvents } from '../requests.ts'
import { cpuEach, interleaved, perSecond, type Sample } from '../samples.ts'

/** The webhook sender, compared with loops that post one body. */

const REQUESTS = 2_000
const KEPT = 'undici loop with kept connections, unsigned'

setEnvironment()
const { handler: charge } = await import('../../../functions/provider/charge.ts')
const { findEvents } = await import('../../../shared/webhooks/find-events.ts')
const { send } = await import('../../../shared/webhooks/send.ts')
const { findWebhook } = await import('../../../shared/store/webhooks/webhooks.ts')

/** Returns an event of a charge, and its webhook. */
const createEvent = async (url: string) => {
  await operate({ noun: 'webhook', verb: 'set', options: { provider: 'demo', url } })
  const charged = await call(charge, (await chargeEvents())('order'), 202)
  const [event] = await findEvents([JSON.parse(charged.body).data.reference])
  const webhook = event && (await findWebhook(event.provider))
  if (!event || !webhook || !canSign(webhook)) throw new Error('There is no event to send')
  return { event, webhook }
}

const createWorks = async (url: string) => {
  const { event, webhook } = await createEvent(url)
  const body = JSON.stringify(event.payload(webhook))
  const headers = { 'content-type': 'application/json' }
  const dispatcher = new Agent({ connections: 64, pipelining: 1 })
  const { signal } = new AbortController()
  return {
    ours: async (index: number) => {
      const id = `dlv_${index}`
      const { outcome } = await send({
        event,
        id,
        webhook,
        at: new Date(),
        sentAt: new Date(),
        signal,
      })
      if (outcome.kind !== 'answered') throw new Error(outcome.cause)
    },
    byFetch: async () => {
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.arrayBuffer()
    },
    byUndici: async () => {
      const response = await request(url, { dispatcher, method: 'POST', headers, body })
      await response.body.dump()
    },
  }
}

const webhooks = onFixture(async ({ rounds, short }) => {
  const receiver = await openReceiver()
  const works = await createWorks(receiver.url)
  const load = { count: short ? REQUESTS / 4 : REQUESTS, chunk: 250 }
  await interleaved(works, { ...load, rounds: 1, concurrency: 4 })
  const figures: Figure[] = []
  for (const concurrency of [1, 16]) {
    const { ours, byFetch, byUndici } = await interleaved(works, { ...load, rounds, concurrency })
    const row = (against: string, base: Sample[]) => ({
      name: `signed webhooks, concurrency ${concurrency}`,
      unit: '1/s' as const,
      against,
      ...compare(ours, base, perSecond),
    })
    figures.push(
      { ...row('fetch loop, unsigned', byFetch), target: { ratioAtLeast: 1 } },
      row(KEPT, byUndici),
      {
        name: `processor time per webhook, concurrency ${concurrency}`,
        unit: 'µs',
        against: KEPT,
        ...compare(ours, byUndici, cpuEach),
        target: { ratioAtMost: 2 },
      },
    )
  }
  await receiver.stop()
  return {
    title: 'Webhooks',
    explanation: 'The sender, which checks and signs each request, and loops that post one body.',
    figures,
  }
})

export const parts = { webhooks }
