import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { useHttpBank } from '../support/http-bank.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { useReceiver } from '../support/receiver.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** The payout of a batch by its bank and the settlement.completed event (docs/api.md#payouts). */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank()

const [first, second, third] = [nightAfter(0), nightAfter(1), nightAfter(2)]

beforeAll(() => service.call('bank', 'create', bank.options()))

/** Creates a provider with an account at the HTTP bank, and its first batch. */
const createBatch = async (id: string): Promise<{ payee: Payee; batch: Shown }> => {
  const account = { 'settlement-bank': 'HTB', 'settlement-account': '7001007001' }
  const payee = await createPayee(service, id, account)
  await payee.webhook('set', { url: receiver.url(), events: 'settlement.completed' })
  await payee.complete('100.00', '20.50')
  return { payee, batch: (await payee.run(first)).built[0] }
}

const feedOf = async (payee: Payee, event: string): Promise<Shown[]> => {
  const { body } = await payee.send('GET', '/api/v1/payment-providers/events?per_page=100')
  return body.data.filter((item: Shown) => item.event === event)
}

/** Waits until the feed has the event of a batch. */
const eventOf = (payee: Payee, { id }: Shown): Promise<Shown> =>
  vi.waitFor(
    async () => {
      const events = await feedOf(payee, 'settlement.completed')
      const ours = events.filter(({ data }) => data.settlement.id === id)
      expect(ours).toHaveLength(1)
      return ours[0]
    },
    { timeout: 15_000, interval: 100 },
  )

describe('a payout at an HTTP bank', () => {
  test('is sent on the next day and paid once', async () => {
    const { payee, batch } = await createBatch('paid-there')
    expect(bank.requestsFor(batch.uuid)).toEqual([])
    const { paid } = await payee.run(second)
    expect(paid).toMatchObject([
      {
        id: batch.id,
        status: 'completed',
        paid: '118.69',
        bank_reference: `HTB-${batch.uuid.slice(0, 8)}`,
      },
    ])
    await expect(payee.run(second)).rejects.toThrow('5002')
    await expect(payee.batch('process', batch.id)).rejects.toThrow('5005')
    expect(bank.requestsFor(batch.uuid)).toMatchObject([
      {
        method: 'POST',
        body: {
          uuid: batch.uuid,
          batch: batch.id,
          amount: '118.69',
          currency: 'GHS',
          account_number: '7001007001',
          account_name: 'Payee Ltd',
        },
      },
    ])
    expect(bank.payments.filter((uuid) => uuid === batch.uuid)).toHaveLength(1)
    const [event] = await receiver.events(batch.id, 1)
    expect(event?.body.data.settlement).toMatchObject({ status: 'completed', paid: 118.69 })
  })

  test('in progress is queried and paid once', async () => {
    const { payee, batch } = await createBatch('in-progress')
    bank.conducts.push('take its time')
    expect((await payee.run(second)).paid).toMatchObject([{ id: batch.id, status: 'processing' }])
    expect(await payee.batch('process', batch.id)).toMatchObject({ status: 'completed' })
    expect(bank.requestsFor(batch.uuid).map(({ method }) => method)).toEqual(['POST', 'GET'])
    expect(bank.payments.filter((uuid) => uuid === batch.uuid)).toHaveLength(1)
  })

  test('whose reply is lost is queried before it is sent again, and is paid once', async () => {
    const { payee, batch } = await createBatch('answer-lost')
    bank.conducts.push('accept, then break off')
    // The run leaves the query to the job.
    expect(await payee.run(second)).toMatchObject({ paid: [], unpaid: [], in_work: [batch.id] })
    await eventOf(payee, batch)
    expect(bank.requestsFor(batch.uuid).map(({ method }) => method)).toEqual(['POST', 'GET'])
    expect(bank.payments.filter((uuid) => uuid === batch.uuid)).toHaveLength(1)
  })

  test('that the bank rejects fails with a reason and no event, and its retry has a new uuid', async () => {
    const { payee, batch } = await createBatch('rejected-there')
    bank.conducts.push('reject')
    const failed = { id: batch.id, status: 'failed', failure: 'No such account', paid: '118.69' }
    expect((await payee.run(second)).paid).toMatchObject([failed])
    await expect(payee.run(third)).rejects.toThrow('5002')
    const { status, body } = await payee.send(
      'GET',
      `/api/v1/payment-providers/settlements/${batch.id}`,
    )
    expect([status, body.data.failure, body.data.completed_at]).toEqual([
      200,
      'No such account',
      null,
    ])
    expect(bank.payments).not.toContain(batch.uuid)
    const retried = await payee.batch('retry', batch.id)
    expect(retried).toMatchObject({ status: 'completed', failure: null })
    expect(bank.payments.filter((uuid) => uuid === retried.uuid)).toHaveLength(1)
    // The feed is in order: no earlier event was published.
    const { data } = await eventOf(payee, batch)
    expect(data.settlement.uuid).toBe(retried.uuid)
    const sent = await receiver.events(batch.id, 1)
    expect(sent.map(({ body: { data: told } }) => told.settlement.status)).toEqual(['completed'])
  })
})

describe('settlement.completed', () => {
  test('is signed, has the batch with amounts as numbers, and has no name variant', async () => {
    const payee = await createPayee(service, 'subscribed')
    const { secret } = await payee.webhook('set', {
      url: receiver.url(),
      events: 'settlement.completed,transaction.completed',
      'event-names': 'debit_request',
      payload: 'reduced',
    })
    const [reference = ''] = await payee.complete('100.00')
    const [debited] = await receiver.events(reference, 1)
    expect(debited?.body.event).toBe('debit_request.completed')
    const [batch] = (await payee.run(first)).built
    await payee.run(second)
    const [sent] = await receiver.events(batch.id, 1)
    if (!sent) throw new Error('one has come')
    expect(sent.body).toEqual({
      event: 'settlement.completed',
      event_id: expect.stringMatching(/^evt_[0-9]+$/),
      timestamp: sent.body.data.settlement.completed_at,
      api_version: 'v1',
      sequence: 0,
      data: {
        settlement: {
          ...(await payee.batch('show', batch.id)),
          gross: 100,
          fee: 1.5,
          adjustments: 0,
          net: 98.5,
          paid: 98.5,
          fee_schedule: { basis_points: 150, fixed: 0, minimum: null, maximum: null },
        },
      },
    })
    expect(sent.raw).toContain('"gross":100.00,"fee":1.50,"adjustments":0.00,"net":98.50')
    expect(sent.headers).toMatchObject({
      'x-svc-event': 'settlement.completed',
      'x-svc-event-id': sent.body.event_id,
    })
    const headers = sent.headers as Record<string, string>
    expect(() => new Webhook(secret).verify(sent.raw, headers)).not.toThrow()
    expect(await eventOf(payee, batch)).toEqual(sent.body)
  })

  test('is redelivered on request with the same event id', async () => {
    const payee = await createPayee(service, 'redelivers')
    await payee.webhook('set', { url: receiver.url(), events: 'settlement.completed' })
    await payee.complete('100.00')
    const [batch] = (await payee.run(first)).built
    await payee.run(second)
    const [sent] = await receiver.events(batch.id, 1)
    const id = sent?.body.event_id.replace('evt_', '')
    await vi.waitFor(async () => {
      const options = { reference: batch.id }
      expect(await service.call('delivery', 'list', options)).toMatchObject([
        { id: Number(id), event: 'settlement.completed', status: 'delivered', attempt_count: 1 },
      ])
    }, 5_000)
    const path = `/api/v1/payment-providers/deliveries/${id}/redeliver`
    const { status, body } = await payee.send('POST', path)
    expect([status, body.data.event, body.data.reference]).toEqual([
      202,
      'settlement.completed',
      batch.id,
    ])
    const [before, again] = await receiver.events(batch.id, 2)
    expect(again?.raw).toBe(before?.raw)
    const other = await createPayee(service, 'redelivers-not')
    expect((await other.send('POST', path)).status).toBe(404)
  })

  test('is not sent without a subscription, but is in the feed', async () => {
    const payee = await createPayee(service, 'not-subscribed')
    await payee.webhook('set', { url: receiver.url() })
    const [reference = ''] = await payee.complete('100.00')
    const [batch] = (await payee.run(first)).built
    await payee.run(second)
    const { event_id } = await eventOf(payee, batch)
    const path = `/api/v1/payment-providers/deliveries/${event_id.slice(4)}/redeliver`
    const { status, body } = await payee.send('POST', path)
    expect([status, body.error.code]).toEqual([403, 4403])
    // A later event of the same priority.
    await payee.reverse(reference)
    await receiver.events(reference, 5)
    const sent = receiver.received.map(({ body: { data } }) => data.settlement?.id)
    expect(sent).not.toContain(batch.id)
  })
})
