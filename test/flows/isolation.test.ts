import type { ServerResponse } from 'node:http'
import { afterAll, expect, test, vi } from 'vitest'
import { jobs } from '../../infra/definitions/jobs.ts'
import { createProvider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** Ten providers, one of whose receivers never responds. */

const service = useService()
const silent = useReceiver()
const awake = useReceiver()

const held: ServerResponse[] = []
silent.otherwise = () => (response) => held.push(response)
afterAll(() => {
  for (const response of held) response.destroy()
})

const many = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

const { maxConcurrency } = jobs['deliver-webhook'].from
/** Each leads to one message for created and pending and one for failed. */
const DEBITS = 80

test('nine providers receive all their events while the first attempts for the tenth still hang', async () => {
  expect(DEBITS).toBeGreaterThan(1.5 * maxConcurrency)
  const slow = await createProvider(service, 'silent')
  const others = await many(9, (index) => createProvider(service, `awake-${index}`))
  await slow.webhook('set', { url: silent.url() })
  await Promise.all(others.map(({ webhook }) => webhook('set', { url: awake.url() })))
  await many(DEBITS, () => slow.charge())
  // Every worker of one priority would hang if the webhook were not marked as slow.
  await vi.waitFor(
    async () => {
      const { is_sidelined } = await slow.webhook('show')
      expect(is_sidelined || held.length >= maxConcurrency).toBe(true)
    },
    { timeout: 10_000, interval: 50 },
  )
  const references = await Promise.all(
    others.flatMap(({ charge }) => [charge(), charge(), charge()]),
  )
  const received = await Promise.all(references.map((reference) => awake.events(reference, 3)))
  expect(received.flat()).toHaveLength(9 * 3 * 3)
  const deliveries = await service.call('delivery', 'list', { provider: slow.id })
  // Only attempts that were aborted after five seconds have ended.
  expect(deliveries.map(({ status }: Shown) => status)).not.toContain('delivered')
  expect(held.some((response) => !response.destroyed)).toBe(true)
  expect(await slow.webhook('show')).toMatchObject({ is_sidelined: true, health: 'healthy' })
})
