import { eventually } from './eventually.ts'
import { CHARGE, chargeBody, FAILS_AT_ONCE } from './requests.ts'
import type { Service, Shown } from './running-service.ts'

/** A provider with its own limits, feed and webhook. */

export type Provider = Awaited<ReturnType<typeof createProvider>>

const ATTEMPTS_MAX = 3

export const createProvider = async (
  service: Service,
  id: string,
  settings: Record<string, string> = {},
) => {
  const credential = `sk_sandbox_${id.replaceAll('-', '_')}`
  const options = { provider: id, name: id, 'daily-limit': 'none', ...settings }
  await service.call('provider', 'create', options)
  await service.call('credential', 'issue', { provider: id, token: credential })
  return {
    id,
    credential,
    send: (method: string, path: string) => service.send(method, path, { credential }),
    get: (path: string) => service.get(path, credential),
    /** Creates a debit of 1.00 GHS and returns its reference. */
    charge: async (phone_number = FAILS_AT_ONCE): Promise<string> => {
      const body = chargeBody({ phone_number, amount: '1.00' })
      // On a busy machine some requests of a burst get 503 and must be retried.
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
        const reply = await service.send('POST', CHARGE, { credential, body })
        if (reply.status !== 503) return reply.body.data.reference
      }
      throw new Error('The service is unavailable')
    },
    /** Runs a verb of `webhook`. @throws when it is refused */
    webhook: (verb: string, more: Record<string, string> = {}) =>
      service.call('webhook', verb, { provider: id, ...more }),
    /** Waits until the delivery record of one event has a status. */
    delivery: (reference: string, event: string, status: string): Promise<Shown> =>
      eventually(async () => {
        const records = await service.call('delivery', 'list', { reference })
        const record = records.find((item: Shown) => item.event === `transaction.${event}`)
        if (record?.status !== status) throw new Error(`${event} is ${record?.status}`)
        return record
      }),
    /** Makes an attempt without its delay. */
    attempt: (reference: string, n: number, attempt: number) =>
      service.runJob('deliver-webhook', { reference, n, attempt }),
  }
}
