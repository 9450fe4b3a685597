import { beforeAll, describe, expect, test, vi } from 'vitest'
import { useReceiver } from '../support/receiver.ts'
import { FAILS_AT_ONCE, type Shown, SILENT, useService } from '../support/running-service.ts'

const service = useService({ timeScale: 60 })
const receiver = useReceiver()
const gone = useReceiver()

const setWebhook = (options: Record<string, string>) =>
  service.operate('webhook', 'set', { provider: 'demo', events: 'none', ...options })

const charge = async (phone_number = SILENT): Promise<string> =>
  (await service.charge({ phone_number })).reference

const deliveries = (reference: string): Promise<Shown[]> =>
  service.call('delivery', 'list', { reference })

const deliveryOf = (reference: string, event: string, status: string): Promise<Shown> =>
  vi.waitFor(
    async () => {
      const record = (await deliveries(reference)).find((delivery) => delivery.event === event)
      if (record?.status !== status) throw new Error(`${event} is ${record?.status}`)
      return record
    },
    { timeout: 15_000, interval: 50 },
  )

describe('a receiver that fails', () => {
  beforeAll(() => setWebhook({ url: receiver.url(), events: 'transaction.created' }))

  test('gets the same event after two seconds with a new delivery id', async () => {
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

  test.each([400, 410, 302, 501])('with %i ends the delivery as abandoned', async (code) => {
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

  test('gets only subscribed events', async () => {
    const reference = await charge(FAILS_AT_ONCE)
    await receiver.events(reference, 1)
    await vi.waitFor(async () => {
      expect((await service.call('debit', 'show', { reference })).status).toBe('failed')
    })
    await deliveryOf(reference, 'transaction.created', 'delivered')
    expect((await deliveries(reference)).map(({ event }) => event)).toEqual(['transaction.created'])
  })
})

describe('a receiver that is down', () => {
  test('has each attempt recorded with the time of the next, until the last is abandoned', async () => {
    await setWebhook({ url: gone.url(), 'max-attempts': '2' })
    await gone.close()
    const reference = await charge(FAILS_AT_ONCE)
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

test('a duplicate or late message makes no second attempt', async () => {
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
