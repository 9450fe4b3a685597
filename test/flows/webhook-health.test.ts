import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { manageDelivery } from '../../functions/operator/manage-delivery.ts'
import { jobs } from '../../infra/definitions/jobs.ts'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { findRecovery } from '../../shared/store/webhooks/recoveries.ts'
import { eventually } from '../support/eventually.ts'
import { atOnce, NOON, providerId, still } from '../support/examples.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import type { Answer, Received } from '../support/receiver.ts'
import { redeliverPath } from '../support/requests.ts'
import { codeOf, type Shown, textOf, useService } from '../support/running-service.ts'
import { CREATED, ONCE, type Subscriber, useSubscribers } from '../support/subscriber.ts'

/** Redeliveries, the health of a webhook and the recovery of its events (docs/api.md#webhook-health). */

const service = useService()
const { receiver, subscribe } = useSubscribers(service)

const held: ServerResponse[] = []
const hold: Answer = (response) => held.push(response)
afterAll(() => {
  for (const response of held) response.destroy()
})

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)

const shows = (provider: Provider, expected: Shown) =>
  eventually(async () => expect(await provider.webhook('show')).toMatchObject(expected))

const idsOf = (arrived: readonly Received[]): string[] =>
  arrived.map(({ headers }) => String(headers['x-svc-delivery-id'])).sort()
const idsOnRecord = ({ attempts }: Shown): string[] =>
  attempts.map(({ request_headers }: Shown) => request_headers['X-SVC-Delivery-ID']).sort()

describe('redeliver-event', () => {
  let own: Subscriber
  beforeAll(async () => {
    own = await subscribe('redelivers', ONCE)
  })

  test('a redelivery replaces the attempt that is due, so that each attempt number is used once', async () => {
    const { provider, script, debit, redeliver } = await subscribe('replaced', CREATED)
    script(503, 503)
    const { reference, record } = await debit('failed')
    const { body } = await redeliver(record.id)
    expect(body.data).toMatchObject({ id: record.id, status: 'pending', attempt_count: 1 })
    expect(body.data.next_attempt_at < record.next_attempt_at).toBe(true)
    await receiver.events(reference, 2)
    await provider.delivery(reference, 'created', 'failed')
    // The automatic second attempt and then the third.
    await provider.attempt(reference, 0, 2)
    await provider.attempt(reference, 0, 3)
    const after = await provider.delivery(reference, 'created', 'delivered')
    expect(idsOnRecord(after)).toEqual(idsOf(await receiver.events(reference, 3)))
    expect(after).toMatchObject({ attempt_count: 3, max_attempts: 3 })
  })

  test('a redelivery makes the first attempt at an event that was never sent', async () => {
    const { reference, record } = await own.debit('delivered')
    await own.set({ events: 'none' })
    const next = record.id + 1
    const requested = await service.call('delivery', 'redeliver', { id: String(next) })
    expect(requested).toMatchObject({ event: 'transaction.pending' })
    const pending = await own.provider.delivery(reference, 'pending', 'delivered')
    expect(pending).toMatchObject({ id: next, attempt_count: 1 })
  })

  test('a redelivery that cannot be sent is rejected with 4403, 1409 or 4404', async () => {
    const { provider, debit, redeliver, set } = await subscribe('unsendable', ONCE)
    const { id } = (await debit('delivered')).record
    const code = async () => codeOf(await redeliver(id))
    await set({ events: 'transaction.completed' })
    expect(await code()).toBe('403/4403')
    await set({ events: 'none' })
    await changeHealth(providerId(provider.id), () => ({ disabledAt: NOON }))
    expect(await code()).toBe('409/1409')
    await provider.webhook('remove')
    expect(await code()).toBe('404/4404')
  })

  test('a redelivery of foreign, unknown and malformed ids gets the same bytes with 404/1404', async () => {
    await own.set(CREATED)
    const { reference, record } = await own.debit('delivered')
    const other = await createProvider(service, 'redelivers-other')
    const foreign = await other.send('POST', redeliverPath(record.id))
    expect(codeOf(foreign)).toBe('404/1404')
    expect(foreign.body.error.category).toBe('webhooks')
    const malformed = [1, 0, -1, '1e9', '007', 'x', '%00', '9'.repeat(16), reference]
    for (const one of [record.id + 60, record.id - 100, ...malformed]) {
      expect(textOf(await own.redeliver(one)), String(one)).toBe(textOf(foreign))
    }
    const line = 'no such delivery'
    expect(await service.refusal('delivery', 'redeliver', { id: '1' })).toBe(line)
  })
})

test('a webhook whose answers of an hour are all 410 is disabled', async () => {
  const { provider, respond, debit } = await subscribe('gone', CREATED)
  respond(410)
  await debit('abandoned')
  await shows(provider, { health: 'exhausted', disabled_at: null })
  const goneSince = daysAgo(1 / 24)
  await changeHealth(providerId(provider.id), (health) => ({ ...health, goneSince }))
  await debit('abandoned')
  await shows(provider, { health: 'disabled', disabled_at: TIME })
})

test('the events that a webhook did not get after failed redeliveries had disabled it are recovered', async () => {
  const { provider, respond, debit, redeliver } = await subscribe('regained', CREATED)
  const { id } = (await debit('delivered')).record
  respond(410)
  await redeliver(id)
  await shows(provider, { health: 'failing', exhausted_since: null })
  const goneSince = daysAgo(1 / 24)
  await changeHealth(providerId(provider.id), (health) => ({ ...health, goneSince }))
  await redeliver(id)
  await shows(provider, { health: 'disabled' })
  const { reference } = await debit('abandoned')
  respond(204)
  await provider.webhook('ping')
  await provider.delivery(reference, 'created', 'delivered')
})

test.each(['enable', 'set'])('a disabled webhook gets nothing until `webhook %s`', async (verb) => {
  const own = await subscribe(`renewed-by-${verb}`, CREATED)
  const { provider, respond, debit } = own
  respond(503)
  const due = (await debit('failed')).reference
  await shows(provider, { health: 'failing', failing_since: TIME, exhausted_since: null })
  const since = daysAgo(5.01)
  const health = { failingSince: since, exhaustedSince: since }
  await changeHealth(providerId(provider.id), () => health)
  respond(400)
  const last = (await debit('abandoned')).reference
  await shows(provider, { health: 'disabled', disabled_at: TIME })
  respond(204)
  const sent = own.arrived().length
  const missed = await debit('abandoned')
  await provider.attempt(due, 0, 2)
  const refused = { reason: { code: 4001 }, failed_at: TIME, next_attempt_at: null }
  const without = { attempt_count: 0, response_code: null, attempts: [] }
  expect(missed.record).toMatchObject({ ...refused, ...without })
  const abandoned = await provider.delivery(due, 'created', 'abandoned')
  expect(abandoned).toMatchObject({ ...refused, attempt_count: 1 })
  expect(own.arrived()).toHaveLength(sent)
  await (verb === 'set' ? own.set(CREATED) : provider.webhook(verb))
  const changed = { health: { from: 'disabled', to: 'exhausted' } }
  expect(await service.changeOf(provider.id)).toMatchObject({ noun: 'webhook', verb, changed })
  await shows(provider, { health: 'exhausted', failing_since: null, disabled_at: null })
  await debit('delivered')
  const open = { failing_since: null, exhausted_since: null, disabled_at: null }
  await shows(provider, { ...open, health: 'healthy', recovered_at: TIME, is_sidelined: false })
  for (const reference of [due, last, missed.reference]) {
    await provider.delivery(reference, 'created', 'delivered')
  }
})

const UNCONFIGURED = 'Webhook not configured for partner (4404)'

test.each([
  ['yesterday', '--since: must be a time like 2026-11-21T10:00:00Z'],
  ['2026-11-07T11:59:59.999Z', '--since: must not be more than 14 days ago'],
  ['2026-11-07T12:00:00Z', UNCONFIGURED],
  ['2026-11-21T12:00:00Z', UNCONFIGURED],
  ['2026-11-21T12:00:00.001Z', '--since: must not be in the future'],
])('a recovery since %s without a webhook is refused at noon: %s', async (since, error) => {
  const recover = manageDelivery(still())
  const options = { provider: 'other', since }
  expect(await recover({ verb: 'recover', options, actor: 'local:ama' })).toEqual({ error })
})

// Pages: test/queues/relay.test.ts and test/webhooks/recover-deliveries.test.ts.
test('a recovery sends every undelivered event once, and no delivered one', async () => {
  const own = await subscribe('recovers', { 'max-attempts': '1' })
  const { id: provider, charge, delivery, attempt } = own.provider
  const received = await charge()
  await delivery(received, 'failed', 'delivered')
  own.respond((response) => response.destroy())
  const missed = await atOnce(3, () => charge())
  for (const event of ['created', 'pending', 'failed']) {
    for (const reference of missed) await delivery(reference, event, 'abandoned')
  }
  own.respond(204)
  const before = own.arrived().length
  const since = daysAgo(13.9).toISOString()
  const started = await service.call('delivery', 'recover', { provider, since })
  expect(started).toMatchObject({ provider, deliveries: 9, is_at_least: false })
  const recovery = () => findRecovery(providerId(provider), started.recovery)
  await eventually(async () => expect(await recovery()).toMatchObject({ status: 'done' }))
  const names = ['created', 'pending', 'failed'].map((name) => `transaction.${name}`)
  for (const record of await service.call('delivery', 'list', { provider })) {
    // Another worker makes an attempt that is due soon; delays are whole seconds.
    const isLater = Date.parse(record.next_attempt_at) > Date.now() + 2_500
    if (isLater) await attempt(record.reference, names.indexOf(record.event), 2)
  }
  await eventually(() => expect(own.arrived()).toHaveLength(before + 9))
  const ids = own.arrived().map(({ body }) => body.event_id)
  expect(new Set(ids.slice(before)).size).toBe(9)
  expect(await receiver.events(received, 3)).toHaveLength(3)
})

test('all of nine providers receive their events while the first attempts for the tenth still hang', async () => {
  const slow = await subscribe('silent')
  slow.respond(hold)
  const others = await atOnce(9, (n) => subscribe(`awake-${n}`))
  held.length = 0
  const { maxConcurrency } = jobs['deliver-webhook'].from
  // Each leads to one message for created and pending and one for failed.
  const count = Math.ceil(1.6 * maxConcurrency)
  await atOnce(count, () => slow.provider.charge())
  // Every worker of one priority would hang if the webhook were not marked as slow.
  await eventually(async () => {
    const { is_sidelined } = await slow.provider.webhook('show')
    expect(is_sidelined || held.length >= maxConcurrency).toBe(true)
  })
  const charges = others.flatMap(({ provider }) => [provider.charge(), provider.charge()])
  const references = await Promise.all(charges)
  const received = await Promise.all(references.map((one) => receiver.events(one, 3)))
  expect(received.flat()).toHaveLength(9 * 2 * 3)
  expect(held.some((response) => !response.destroyed)).toBe(true)
  await shows(slow.provider, { is_sidelined: true, health: 'healthy' })
  await eventually(() => expect(held.length).toBeGreaterThan(20))
})
