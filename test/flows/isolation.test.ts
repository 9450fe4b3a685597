import type { ServerResponse } from 'node:http'
import { afterAll, expect, test, vi } from 'vitest'
import { jobs } from '../../infra/definitions/jobs.ts'
import { createProvider, printed } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { useService } from '../support/running-service.ts'

/** Ten providers: the receiver of one takes its events and never answers, those of nine do. */

const service = useService()
const silent = useReceiver()
const awake = useReceiver()

const held: ServerResponse[] = []
silent.otherwise = () => (response) => held.push(response)
afterAll(() => {
  for (const response of held) response.destroy()
})

const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

const { maxConcurrency } = jobs['deliver-webhook'].from
/** A message each for created and pending, and one for failed. */
const DEBITS = 80

test('nine receive all of theirs while the first attempts at the tenth still hang', async () => {
  expect(DEBITS).toBeGreaterThan(1.5 * maxConcurrency)
  const slow = await createProvider(service, 'silent')
  const others = await many(9, (n) => createProvider(service, `awake-${n}`))
  await slow.webhook('set', { url: silent.url() })
  await Promise.all(others.map(({ webhook }) => webhook('set', { url: awake.url() })))
  await many(DEBITS, () => slow.charge())
  // Every worker for events of one priority hangs, unless the webhook was found out before.
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
  const tried = await service.operate('delivery', 'list', { provider: slow.id })
  // Attempts that were aborted after five seconds are on record; no other has ended.
  expect(printed(tried).map(({ status }: { status: string }) => status)).not.toContain('delivered')
  expect(held.some((response) => !response.destroyed)).toBe(true)
  expect(await slow.webhook('show')).toMatchObject({ is_sidelined: true, health: 'healthy' })
})
