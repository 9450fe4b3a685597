import { beforeAll, describe, expect, test, vi } from 'vitest'
import { useReceiver } from '../support/receiver.ts'
import { CHARGE, chargeBody, useService } from '../support/running-service.ts'

const service = useService({ timeScale: 60 })
const receiver = useReceiver()
const gone = useReceiver()

const setWebhook = (options: Record<string, string>) =>
  service.operate('webhook', 'set', { provider: 'demo', events: 'none', ...options })

const charge = async (phone_number = '+233244444444'): Promise<string> => {
  const { body } = await service.send('POST', CHARGE, {
    credential: 'sk_sandbox_demo',
    body: chargeBody({ phone_number }),
  })
  return body.data.reference
}

type Listed = Record<string, unknown> & { event: string; status: string; attempt_count: number }

const deliveries = async (reference: string): Promise<Listed[]> => {
  const reply = await service.operate('delivery', 'list', { reference })
  return (reply as { result: Listed[] }).result
}

const deliveryOf = (reference: string, event: string, status: string): Promise<Listed> =>
  vi.waitFor(
    async () => {
      const found = (await deliveries(reference)).find((one) => one.event === event)
      if (found?.status !== status) throw new Error(`${event} is ${found?.status}`)
      return found
    },
    { timeout: 15_000, interval: 50 },
  )

describe('a receiver that fails', () => {
  beforeAll(() => setWebhook({ url: receiver.url(), events: 'transaction.created' }))

  test('503, then 204: the same event again after two seconds, under another delivery id', async () => {
    receiver.answers.push(503)
    const reference = await charge()
    const [first, second] = await receiver.events(reference, 2)
    expect(second?.raw).toBe(first?.raw)
    expect(second?.headers['x-svc-event-id']).toBe(first?.headers['x-svc-event-id'])
    expect(second?.headers['x-svc-delivery-id']).not.toBe(first?.headers['x-svc-delivery-id'])
    expect(Number(second?.at) - Number(first?.at)).toBeGreaterThanOrEqual(2_000)
    const delivered = await deliveryOf(reference, 'transaction.created', 'delivered')
    expect(delivered).toMatchObject({
      attempt_count: 2,
      max_attempts: 3,
      response_code: 204,
      next_attempt_at: null,
      failed_at: null,
    })
  })

  test.each([400, 410, 302, 501])('%i ends the delivery at once: abandoned', async (code) => {
    receiver.answers.push(code)
    const reference = await charge()
    const abandoned = await deliveryOf(reference, 'transaction.created', 'abandoned')
    expect(abandoned).toMatchObject({
      attempt_count: 1,
      response_code: code,
      failed_at: expect.any(String),
      delivered_at: null,
    })
    expect(await receiver.events(reference, 1)).toHaveLength(1)
  })

  test('only the events a provider asked for are sent', async () => {
    const reference = await charge('+233240000001')
    await receiver.events(reference, 1)
    await vi.waitFor(async () => {
      const reply = await service.operate('debit', 'show', { reference })
      expect((reply as { result: { status: string } }).result.status).toBe('failed')
    })
    await deliveryOf(reference, 'transaction.created', 'delivered')
    expect((await deliveries(reference)).map(({ event }) => event)).toEqual(['transaction.created'])
  })
})

describe('a receiver that is down', () => {
  test('loses nothing: the attempt is on record with the next one, until the last: abandoned', async () => {
    await setWebhook({ url: gone.url(), 'max-attempts': '2' })
    await gone.close()
    const reference = await charge('+233240000001')
    const waiting = await deliveryOf(reference, 'transaction.failed', 'failed')
    expect(waiting).toMatchObject({
      attempt_count: 1,
      max_attempts: 2,
      response_code: null,
      reason: { code: 4001 },
      attempts: [{ attempt: 1, error_class: 'connect', cause: 'refused' }],
      next_attempt_at: expect.any(String),
    })
    const abandoned = await Promise.all(
      ['transaction.created', 'transaction.pending', 'transaction.failed'].map((event) =>
        deliveryOf(reference, event, 'abandoned'),
      ),
    )
    for (const delivery of abandoned) {
      expect(delivery).toMatchObject({ attempt_count: 2, failed_at: expect.any(String) })
    }
  })
})

test('a message that comes twice, or late, makes no second attempt', async () => {
  await setWebhook({ url: receiver.url(), 'max-attempts': 'none' })
  const reference = await charge()
  await receiver.events(reference, 3)
  await deliveryOf(reference, 'transaction.processing', 'delivered')
  const message = (n: number, attempt: number) => ({
    messageId: `m-${n}-${attempt}`,
    body: JSON.stringify({ reference, n, attempt }),
    attributes: { ApproximateReceiveCount: '2' },
  })
  const records = [message(0, 1), message(1, 1), message(2, 1), message(2, 2), message(0, 7)]
  expect(await service.invoke('deliver-webhook', { Records: records })).toEqual({
    batchItemFailures: [],
  })
  expect(await receiver.events(reference, 3)).toHaveLength(3)
})
