import { expect, test, vi } from 'vitest'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { providerId } from '../support/examples.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { type Answer, useReceiver } from '../support/receiver.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** The health of a webhook and its effects (docs/api.md#webhook-health). */

const service = useService()
const receiver = useReceiver()

const DAY_MS = 86_400_000
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)

const healthy = {
  health: 'healthy',
  failing_since: null,
  exhausted_since: null,
  disabled_at: null,
  recovered_at: null,
  is_sidelined: false,
}

/** Creates a provider with a scripted receiver of created events. */
const setUp = async (id: string, answer: Answer = 204) => {
  let current = answer
  const path = `/${id}`
  const others = receiver.otherwise
  receiver.otherwise = (received) => (received.path === path ? current : others(received))
  const provider = await createProvider(service, id)
  const options = { url: receiver.url(path), events: 'transaction.created' }
  await provider.webhook('set', options)
  return {
    provider,
    options,
    answers: (answer: Answer) => {
      current = answer
    },
    arrived: () => receiver.received.filter((request) => request.path === path).length,
  }
}

const shows = (provider: Provider, expected: Shown) =>
  vi.waitFor(async () => expect(await provider.webhook('show')).toMatchObject(expected), {
    timeout: 10_000,
    interval: 50,
  })

/** Creates a debit and waits for the status of its first event. */
const debit = async (provider: Provider, status: string): Promise<string> => {
  const reference = await provider.charge()
  await provider.delivery(reference, 'created', status)
  return reference
}

/** Sets the health of a webhook that has failed for some days with abandoned events. */
const failingFor = (provider: Provider, days: number) => {
  const since = new Date(Date.now() - days * DAY_MS)
  const health = { failingSince: since, exhaustedSince: since }
  return changeHealth(providerId(provider.id), () => health)
}

/** Creates a provider whose webhook was disabled by a failure. */
const disabled = async (id: string) => {
  const created = await setUp(id, 400)
  await failingFor(created.provider, 5.01)
  await debit(created.provider, 'abandoned')
  await shows(created.provider, { health: 'disabled', disabled_at: TIME })
  return created
}

test('a webhook is failing from the first failure until the next success', async () => {
  const { provider, answers } = await setUp('fails', 503)
  expect(await provider.webhook('show')).toMatchObject(healthy)
  const reference = await debit(provider, 'failed')
  await shows(provider, { ...healthy, health: 'failing', failing_since: TIME })
  answers(204)
  await provider.delivery(reference, 'created', 'delivered')
  await shows(provider, { ...healthy, recovered_at: TIME })
})

test('a webhook is exhausted from the first abandoned event until the next success', async () => {
  const { provider, answers } = await setUp('exhausts', 400)
  const abandoned = await debit(provider, 'abandoned')
  await shows(provider, { health: 'exhausted', failing_since: TIME, exhausted_since: TIME })
  answers(204)
  await debit(provider, 'delivered')
  await shows(provider, { ...healthy, recovered_at: TIME })
  await provider.delivery(abandoned, 'created', 'delivered')
})

test.each([
  [4.99, 'exhausted'],
  [5.01, 'disabled'],
])('after %s days of failures a webhook is %s', async (days, health) => {
  const { provider } = await setUp(`fails-${health}`, 400)
  await failingFor(provider, days)
  await debit(provider, 'abandoned')
  await shows(provider, { health, failing_since: TIME })
})

test('a disabled webhook gets no events: they are abandoned with 4001', async () => {
  const { provider, answers, arrived } = await disabled('disabled')
  answers(204)
  const sent = arrived()
  const reference = await debit(provider, 'abandoned')
  expect(await provider.delivery(reference, 'created', 'abandoned')).toMatchObject({
    attempt_count: 0,
    failed_at: TIME,
    next_attempt_at: null,
    response_code: null,
    reason: { code: 4001 },
    attempts: [],
  })
  expect(arrived()).toBe(sent)
})

test('an attempt that is due when the webhook is disabled is not made', async () => {
  const { provider, answers, arrived } = await setUp('disabled-meanwhile', 503)
  const reference = await debit(provider, 'failed')
  answers(204)
  await changeHealth(providerId(provider.id), (now) => ({ ...now, disabledAt: new Date() }))
  const record = await provider.delivery(reference, 'created', 'abandoned')
  expect(record).toMatchObject({ attempt_count: 1, reason: { code: 4001 } })
  expect(arrived()).toBe(1)
})

test.each(['enable', 'set'])(
  'webhook %s delivers abandoned events after the next success',
  async (verb) => {
    const { provider, options, answers } = await disabled(`renewed-by-${verb}`)
    const missed = await debit(provider, 'abandoned')
    answers(204)
    await provider.webhook(verb, verb === 'set' ? options : {})
    await shows(provider, { health: 'exhausted', failing_since: null, disabled_at: null })
    await debit(provider, 'delivered')
    await shows(provider, { ...healthy, recovered_at: TIME })
    await provider.delivery(missed, 'created', 'delivered')
  },
)

test('webhook enable requires a webhook', async () => {
  const { provider } = await setUp('removed')
  expect(await provider.webhook('enable')).toMatchObject(healthy)
  await provider.webhook('remove')
  const reply = await service.operate('webhook', 'enable', { provider: provider.id })
  expect(reply).toEqual({ error: 'this provider has no webhook' })
})
