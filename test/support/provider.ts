import { vi } from 'vitest'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { CHARGE, chargeBody, type Reply, type Service } from './running-service.ts'

/** A provider that a test made for itself, with limits, a feed and a webhook of its own. */

export type Provider = {
  id: string
  credential: string
  send: (method: string, path: string) => Promise<Reply>
  /** @returns the reference of a new debit, of 1.00 */
  charge: (phone?: string) => Promise<string>
  /** A verb of `webhook`, which must not be refused. */
  webhook: (verb: string, options?: Record<string, string>) => Promise<Shown>
  /** The record of one event, once it has come to this status. */
  delivery: (reference: string, event: string, status: string) => Promise<Shown>
}

// biome-ignore lint/suspicious/noExplicitAny: a view is looked into, member by member
export type Shown = any

/** The published number of an account that does not take part: its debits fail at once. */
export const FAILS_AT_ONCE = '+233240000001'

/** What an operator's verb printed. */
export const printed = (reply: OperatorReply): Shown => {
  if ('error' in reply) throw new Error(reply.error)
  return reply.result
}

export const deliveriesPath = (reference: string) =>
  `/api/v1/payment-providers/debit-requests/${reference}/deliveries`

const TRIES = 3

export const createProvider = async (
  service: Service,
  id: string,
  settings: Record<string, string> = {},
): Promise<Provider> => {
  const credential = `sk_sandbox_${id.replaceAll('-', '_')}`
  const options = { provider: id, name: id, 'daily-limit': 'none', ...settings }
  printed(await service.operate('provider', 'create', options))
  printed(await service.operate('credential', 'issue', { provider: id, token: credential }))
  return {
    id,
    credential,
    send: (method, path) => service.send(method, path, { credential }),
    charge: async (phone_number = FAILS_AT_ONCE) => {
      const body = chargeBody({ phone_number, amount: '1.00' })
      // A busy machine answers some of a burst with 503, which is to be repeated as it was.
      for (let left = TRIES; left > 0; left -= 1) {
        const reply = await service.send('POST', CHARGE, { credential, body })
        if (reply.status !== 503) return reply.body.data.reference
      }
      throw new Error('The service is unavailable')
    },
    webhook: async (verb, options = {}) =>
      printed(await service.operate('webhook', verb, { provider: id, ...options })),
    delivery: (reference, event, status) =>
      vi.waitFor(
        async () => {
          const records = printed(await service.operate('delivery', 'list', { reference }))
          const found = records.find((one: Shown) => one.event === `transaction.${event}`)
          if (found?.status !== status) throw new Error(`${event} is ${found?.status}`)
          return found
        },
        { timeout: 15_000, interval: 50 },
      ),
  }
}
