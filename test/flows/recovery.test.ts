import type { ServerResponse } from 'node:http'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { RECOVERY_PAGE } from '../../shared/domain/webhooks/recovery.ts'
import { findRecovery } from '../../shared/store/webhooks/recoveries.ts'
import { providerId } from '../support/examples.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { PATIENCE, printed, type Shown, useService } from '../support/running-service.ts'

/** Automatic and requested recovery of abandoned events (docs/api.md#recovery). */

const service = useService()
const receiver = useReceiver()
const down = useReceiver()

const PING = '/api/v1/payment-providers/webhook/test'
const DAY_MS = 86_400_000

const many = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make))

const abandonedOf = async ({ id }: Provider): Promise<Shown[]> =>
  await service.call('delivery', 'list', { provider: id, status: 'abandoned' })

const setUp = async (id: string, options: Record<string, string> = {}): Promise<Provider> => {
  const provider = await createProvider(service, id)
  await provider.webhook('set', { url: receiver.url(`/${id}`), 'max-attempts': '1', ...options })
  return provider
}

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

const recover = (provider: string, since: string) =>
  service.operate('delivery', 'recover', { provider, since })

// The second page starts ten seconds after the first; the other tests run in between.
const DEBITS = 21
const MISSED = 3 * DEBITS
let requested: Shown
let received: string

beforeAll(async () => {
  const provider = await setUp('recovers', { url: down.url() })
  received = await provider.charge()
  await provider.delivery(received, 'failed', 'delivered')
  await down.events(received, 3)
  await down.close()
  await many(DEBITS, () => provider.charge())
  await vi.waitFor(async () => expect(await abandonedOf(provider)).toHaveLength(MISSED), PATIENCE)
  await down.reopen()
  requested = printed(await recover(provider.id, daysAgo(13.9)))
})

describe('automatic recovery', () => {
  test('sends abandoned events again once the receiver replies 2xx', async () => {
    const provider = await setUp('revives')
    receiver.otherwise = () => 503
    const references = await many(2, () => provider.charge())
    await vi.waitFor(async () => expect(await abandonedOf(provider)).toHaveLength(6), PATIENCE)
    expect(await provider.webhook('show')).toMatchObject({ health: 'exhausted' })
    receiver.otherwise = () => 204
    await receiver.events(await provider.charge(), 3)
    for (const reference of references) {
      for (const event of ['created', 'pending', 'failed']) {
        const record = await provider.delivery(reference, event, 'delivered')
        expect(record).toMatchObject({ attempt_count: 2, failed_at: null, reason: null })
      }
    }
  })

  test('retries an event three times at most', async () => {
    const provider = await setUp('poisoned', { events: 'transaction.created' })
    const refusedOnce = async (): Promise<string> => {
      receiver.otherwise = () => 400
      const reference = await provider.charge()
      await provider.delivery(reference, 'created', 'abandoned')
      return reference
    }
    const poison = await refusedOnce()
    const isPoison = (body: Shown) => body.data.transaction?.reference === poison
    receiver.otherwise = ({ body }) => (isPoison(body) ? 400 : 204)
    const pinged = async () => (await provider.send('POST', PING)).body.data.delivered
    for (const revival of [1, 2, 3]) {
      expect(await pinged()).toBe(true)
      await vi.waitFor(
        async () =>
          expect(await provider.delivery(poison, 'created', 'abandoned')).toMatchObject({
            attempt_count: 1 + revival,
          }),
        PATIENCE,
      )
    }
    const fresh = await refusedOnce()
    receiver.otherwise = ({ body }) => (isPoison(body) ? 400 : 204)
    expect(await pinged()).toBe(true)
    // The older event goes first, so the recovery has skipped it.
    await provider.delivery(fresh, 'created', 'delivered')
    const left = await provider.delivery(poison, 'created', 'abandoned')
    expect(left).toMatchObject({ attempt_count: 4, max_attempts: 4 })
  })

  test('includes an attempt that was in flight when the receiver recovered and failed later', async () => {
    const provider = await setUp('under-way', { events: 'transaction.created' })
    const held: ServerResponse[] = []
    receiver.answers.push(400, (response) => held.push(response))
    const refused = await provider.charge()
    await provider.delivery(refused, 'created', 'abandoned')
    const late = await provider.charge()
    await receiver.events(late, 1)
    expect((await provider.send('POST', PING)).body.data.delivered).toBe(true)
    await provider.delivery(refused, 'created', 'delivered')
    held[0]?.writeHead(400).end()
    await provider.delivery(late, 'created', 'abandoned')
    await vi.waitFor(
      async () => expect(await provider.webhook('show')).toMatchObject({ health: 'exhausted' }),
      PATIENCE,
    )
    expect((await provider.send('POST', PING)).body.data.delivered).toBe(true)
    await provider.delivery(late, 'created', 'delivered')
  })
})

describe('delivery recover', () => {
  test.each([
    ['longer ago than 14 days', () => daysAgo(14.1), '--since: must not be more than 14 days ago'],
    ['in the future', () => daysAgo(-1), '--since: must not be in the future'],
    ['no time', () => 'yesterday', '--since: must be a time like 2026-11-21T10:00:00Z'],
  ])('rejects a time that is %s', async (_name, since, error) => {
    expect(await recover('recovers', since())).toEqual({ error })
  })

  test('gets 4404 for a provider without a webhook', async () => {
    const error = 'Webhook not configured for partner (4404)'
    expect(await recover('other', daysAgo(1))).toEqual({ error })
  })

  test('sends every undelivered event once, page by page, and no delivered one', async () => {
    expect(MISSED).toBeGreaterThan(RECOVERY_PAGE)
    expect(requested).toMatchObject({ provider: 'recovers', deliveries: MISSED })
    await vi.waitFor(async () => {
      expect(down.received).toHaveLength(3 + MISSED)
      const recovery = await findRecovery(providerId('recovers'), requested.recovery)
      expect(recovery).toMatchObject({ status: 'done', page: 2 })
    }, PATIENCE)
    expect(new Set(down.received.map(({ body }) => body.event_id)).size).toBe(3 + MISSED)
    expect(await down.events(received, 3)).toHaveLength(3)
  })
})
