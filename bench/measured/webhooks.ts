import { Agent, request } from 'undici'
import { beside, type Figure } from '../figures.ts'
import { openGround, operate, setEnvironment } from '../ground.ts'
import type { Measure } from '../part.ts'
import { openReceivers } from '../receivers.ts'
import { asked, chargeEvents } from '../requests.ts'
import { inTurns, perSecond, type Work } from '../samples.ts'

/**
 * Signed webhooks by the product's sender, URL and addresses judged each time, beside loops that post
 * one fixed body unsigned: by fetch, and by undici with its connections kept.
 */

const TOGETHER = [1, 16] as const
const REQUESTS = 2_000
const CHUNK = 250

setEnvironment()
const { handler: charge } = await import('../../functions/provider/charge.ts')
const { findEvents } = await import('../../shared/webhooks/find-events.ts')
const { send } = await import('../../shared/webhooks/send.ts')
const { findWebhook } = await import('../../shared/store/webhooks/webhooks.ts')

/** An event of a real debit, and the webhook that it goes to. */
const oneEvent = async (url: string) => {
  await operate({ noun: 'webhook', verb: 'set', options: { provider: 'demo', url } })
  const charged = await asked(charge, (await chargeEvents())('order'), 202)
  const [event] = await findEvents([JSON.parse(charged.body).data.reference])
  const webhook = event && (await findWebhook(event.provider))
  if (!event || !webhook) throw new Error('There is no event to send')
  return { event, webhook }
}

const worksOn = async (url: string): Promise<Record<'own' | 'byFetch' | 'byUndici', Work>> => {
  const { event, webhook } = await oneEvent(url)
  const body = JSON.stringify(event.payload(webhook))
  const headers = { 'content-type': 'application/json' }
  const dispatcher = new Agent({ connections: 64, pipelining: 1 })
  const { signal } = new AbortController()
  return {
    own: async (n) => {
      const { outcome } = await send({ event, id: `dlv_${n}`, webhook, at: new Date(), signal })
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

export const measure: Measure = async ({ rounds, short }) => {
  const ground = await openGround()
  const receivers = await openReceivers({ count: 1, takes: 0 })
  try {
    const works = await worksOn(receivers.urls[0] ?? '')
    const plan = { count: short ? REQUESTS / 4 : REQUESTS, chunk: CHUNK }
    await inTurns(works, { ...plan, rounds: 1, together: 4 })
    const figures: Record<string, Figure> = {}
    for (const together of TOGETHER) {
      const { own, byFetch, byUndici } = await inTurns(works, { ...plan, rounds, together })
      figures[`webhooks ${together} fetch`] = beside(own, byFetch, perSecond)
      figures[`webhooks ${together} undici`] = beside(own, byUndici, perSecond)
    }
    return { figures }
  } finally {
    await receivers.close()
    await ground.stop()
  }
}
