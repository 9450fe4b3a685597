import type { ServerResponse } from 'node:http'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { jobs } from '../../infra/definitions/jobs.ts'
import { RECOVERY_PAGE } from '../../shared/domain/webhooks/recovery.ts'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { findRecovery } from '../../shared/store/webhooks/recoveries.ts'
import { atOnce, providerId } from '../support/examples.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { type Answer, useReceiver } from '../support/receiver.ts'
import { PATIENCE, type Shown, useService } from '../support/running-service.ts'

/** The health of a webhook and the recovery of its events (docs/api.md#webhook-health). */

const service = useService()
const receiver = useReceiver()

const held: ServerResponse[] = []
const hold: Answer = (response) => held.push(response)
afterAll(() => {
  for (const response of held) response.destroy()
})

const PING = '/api/v1/payment-providers/webhook/test'
const DAY_MS = 86_400_000
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

const healthy = {
  ...{ health: 'healthy', failing_since: null, exhausted_since: null, disabled_at: null },
  ...{ recovered_at: null, is_sidelined: false },
}

const answers = new Map<string, Answer>()
receiver.otherwise = ({ path }) => answers.get(path) ?? 204

/** Creates a provider with a scripted receiver, by default of created events. */
const setUp = async (id: string, answer: Answer = 204, settings = {}) => {
  const path = `/${id}`
  const respond = (next: Answer) => answers.set(path, next)
  respond(answer)
  const provider = await createProvider(service, id)
  const options = { url: receiver.url(path), events: 'transaction.created', ...settings }
  await provider.webhook('set', options)
  const arrived = () => receiver.received.filter((request) => request.path === path)
  return { provider, options, respond, arrived }
}

const shows = (provider: Provider, expected: Shown) =>
  vi.waitFor(async () => expect(await provider.webhook('show')).toMatchObject(expected), PATIENCE)

/** Creates a debit and waits for the status of its first event. */
const debit = async (provider: Provider, status: string): Promise<string> => {
  const reference = await provider.charge()
  await provider.delivery(reference, 'created', status)
  return reference
}

/** Sets the health of a webhook that has failed for some days with abandoned events. */
const failingFor = (provider: Provider, days: number) => {
  const since = daysAgo(days)
  const health = { failingSince: since, exhaustedSince: since }
  return changeHealth(providerId(provider.id), () => health)
}

describe('a webhook', () => {
  test('is failing from the first failure until the next success', async () => {
    const { provider, respond } = await setUp('fails', 503)
    expect(await provider.webhook('show')).toMatchObject(healthy)
    const reference = await debit(provider, 'failed')
    await shows(provider, { ...healthy, health: 'failing', failing_since: TIME })
    respond(204)
    await provider.attempt(reference, 0, 2)
    await shows(provider, { ...healthy, recovered_at: TIME })
  })

  test.each([
    [4.99, 'exhausted'],
    [5.01, 'disabled'],
  ])('that fails for %s days is %s', async (days, health) => {
    const { provider } = await setUp(`fails-${health}`, 400)
    await failingFor(provider, days)
    await debit(provider, 'abandoned')
    await shows(provider, { health, failing_since: TIME, exhausted_since: TIME })
  })

  test.each(['enable', 'set'])('that is disabled gets no events until webhook %s', async (verb) => {
    const { provider, options, respond, arrived } = await setUp(`renewed-by-${verb}`, 503)
    const due = await debit(provider, 'failed')
    await failingFor(provider, 5.01)
    respond(400)
    const last = await debit(provider, 'abandoned')
    await shows(provider, { health: 'disabled', disabled_at: TIME })
    respond(204)
    const sent = arrived().length
    const missed = await debit(provider, 'abandoned')
    await provider.attempt(due, 0, 2)
    const refused = { reason: { code: 4001 }, failed_at: TIME, next_attempt_at: null }
    const abandoned = (reference: string) => provider.delivery(reference, 'created', 'abandoned')
    expect(await abandoned(due)).toMatchObject({ ...refused, attempt_count: 1 })
    const without = { attempt_count: 0, response_code: null, attempts: [] }
    expect(await abandoned(missed)).toMatchObject({ ...refused, ...without })
    expect(arrived()).toHaveLength(sent)
    await provider.webhook(verb, verb === 'set' ? options : {})
    await shows(provider, { health: 'exhausted', failing_since: null, disabled_at: null })
    await debit(provider, 'delivered')
    await shows(provider, { ...healthy, recovered_at: TIME })
    for (const reference of [due, last, missed]) {
      await provider.delivery(reference, 'created', 'delivered')
    }
  })
})

describe('automatic recovery', () => {
  test('retries an event three times at most, and the others once', async () => {
    const { provider, respond } = await setUp('poisoned', 400)
    const poison = await debit(provider, 'abandoned')
    await shows(provider, { health: 'exhausted' })
    const others = receiver.otherwise
    receiver.otherwise = (received) =>
      received.body.data.transaction?.reference === poison ? 400 : others(received)
    respond(204)
    const recovers = async () =>
      expect((await provider.send('POST', PING)).body.data.delivered).toBe(true)
    for (const retry of [1, 2, 3]) {
      await recovers()
      await vi.waitFor(async () => {
        const { attempt_count } = await provider.delivery(poison, 'created', 'abandoned')
        expect(attempt_count).toBe(1 + retry)
      }, PATIENCE)
    }
    respond(400)
    const fresh = await debit(provider, 'abandoned')
    respond(204)
    await recovers()
    // The older event goes first, so the recovery has skipped it.
    const again = await provider.delivery(fresh, 'created', 'delivered')
    expect(again).toMatchObject({ attempt_count: 2, failed_at: null, reason: null })
    const left = await provider.delivery(poison, 'created', 'abandoned')
    expect(left).toMatchObject({ attempt_count: 4, max_attempts: 4 })
    receiver.otherwise = others
  })

  test('includes an attempt that was in flight when the receiver recovered and failed later', async () => {
    const { provider } = await setUp('in-flight')
    receiver.answers.push(400, hold)
    const refused = await debit(provider, 'abandoned')
    const late = await provider.charge()
    await receiver.events(late, 1)
    await provider.send('POST', PING)
    await provider.delivery(refused, 'created', 'delivered')
    held.shift()?.writeHead(400).end()
    await provider.delivery(late, 'created', 'abandoned')
    await shows(provider, { health: 'exhausted' })
    await provider.send('POST', PING)
    await provider.delivery(late, 'created', 'delivered')
  })
})

describe('delivery recover', () => {
  const recover = (provider: string, since: string) =>
    service.operate('delivery', 'recover', { provider, since })

  test.each([
    ['fails', daysAgo(14.1).toISOString(), '--since: must not be more than 14 days ago'],
    ['fails', daysAgo(-1).toISOString(), '--since: must not be in the future'],
    ['fails', 'yesterday', '--since: must be a time like 2026-11-21T10:00:00Z'],
    ['other', daysAgo(1).toISOString(), 'Webhook not configured for partner (4404)'],
  ])('for %s since %s is refused: %s', async (provider, since, error) => {
    expect(await recover(provider, since)).toEqual({ error })
  })

  test('sends every undelivered event once, page by page, and no delivered one', async () => {
    const settings = { events: 'none', 'max-attempts': '1' }
    const { provider, respond, arrived } = await setUp('recovers', 204, settings)
    const received = await provider.charge()
    await provider.delivery(received, 'failed', 'delivered')
    await receiver.events(received, 3)
    respond((response) => response.destroy())
    const missed = 3 * (await atOnce(21, () => provider.charge())).length
    expect(missed).toBeGreaterThan(RECOVERY_PAGE)
    await vi.waitFor(async () => {
      const options = { provider: provider.id, status: 'abandoned' }
      expect(await service.call('delivery', 'list', options)).toHaveLength(missed)
    }, PATIENCE)
    respond(204)
    const before = arrived().length
    const since = daysAgo(13.9).toISOString()
    const { result } = (await recover(provider.id, since)) as Shown
    expect(result).toMatchObject({ provider: provider.id, deliveries: missed })
    const recovery = () => findRecovery(providerId(provider.id), result.recovery)
    await vi.waitFor(async () => expect(await recovery()).toMatchObject({ page: 1 }), PATIENCE)
    // The second page is due ten seconds later, and the attempts are spread over the time.
    const second = { provider: provider.id, id: result.recovery, page: 1 }
    await service.runJob('recover-deliveries', { ...second, page: 0 })
    expect(await recovery()).toMatchObject({ status: 'running', page: 1 })
    await service.runJob('recover-deliveries', second, 10)
    expect(await recovery()).toMatchObject({ status: 'done', page: 2 })
    const names = ['created', 'pending', 'failed'].map((name) => `transaction.${name}`)
    for (const record of await service.call('delivery', 'list', { provider: provider.id })) {
      // Another worker makes an attempt that is due soon; delays are whole seconds.
      const isLater = Date.parse(record.next_attempt_at) > Date.now() + 2_500
      if (isLater) await provider.attempt(record.reference, names.indexOf(record.event), 2)
    }
    await vi.waitFor(() => expect(arrived()).toHaveLength(before + missed), PATIENCE)
    const ids = arrived().map(({ body }) => body.event_id)
    expect(new Set(ids.slice(before)).size).toBe(missed)
    expect(await receiver.events(received, 3)).toHaveLength(3)
  })
})

test('nine providers receive all their events while the first attempts for the tenth still hang', async () => {
  const slow = await setUp('silent', hold, { events: 'none' })
  const others = await atOnce(9, (n) => setUp(`awake-${n}`, 204, { events: 'none' }))
  held.length = 0
  const { maxConcurrency } = jobs['deliver-webhook'].from
  // Each leads to one message for created and pending and one for failed.
  await atOnce(Math.ceil(1.6 * maxConcurrency), () => slow.provider.charge())
  // Every worker of one priority would hang if the webhook were not marked as slow.
  await vi.waitFor(async () => {
    const { is_sidelined } = await slow.provider.webhook('show')
    expect(is_sidelined || held.length >= maxConcurrency).toBe(true)
  }, PATIENCE)
  const charges = others.flatMap(({ provider }) => [provider.charge(), provider.charge()])
  const references = await Promise.all(charges)
  const received = await Promise.all(references.map((one) => receiver.events(one, 3)))
  expect(received.flat()).toHaveLength(9 * 2 * 3)
  expect(held.some((response) => !response.destroyed)).toBe(true)
  await shows(slow.provider, { is_sidelined: true, health: 'healthy' })
})
