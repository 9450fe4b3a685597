import { expect, test, vi } from 'vitest'
import { dayAfter, dayOf } from '../../shared/domain/time.ts'
import { eventually } from '../support/eventually.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createPayee, nightAfter, type Payee, settlementAccount } from '../support/payee.ts'
import { untilPayoutWaits } from '../support/payouts.ts'
import { useReceiver, verifies } from '../support/receiver.ts'
import { redeliverPath } from '../support/requests.ts'
import { codeOf, type Shown, testInProcess, useService } from '../support/running-service.ts'

/** Settlement runs, payouts and the settlement.completed event (docs/api.md#payouts). */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank(service)

const [first, second, third] = [nightAfter(0), nightAfter(1), nightAfter(2)]
const AT_BANK = settlementAccount('7001007001', 'HTB')

/** Creates a provider, by default with an account at the HTTP bank, and its first batch. */
const createBatch = async (id: string, account: Record<string, string> = AT_BANK) => {
  const payee = await createPayee(service, id, account)
  await payee.webhook('set', { url: receiver.url(), events: 'settlement.completed' })
  await payee.complete('100.00', '20.50')
  return { payee, batch: (await payee.run(first)).built[0] as Shown }
}

const paymentsOf = ({ uuid }: Shown) => bank.made.filter((one) => one === uuid)

/** Waits until the feed has the event of a batch. */
const eventOf = (payee: Payee, { id }: Shown): Promise<Shown> =>
  eventually(async () => {
    const { body } = await payee.get('/api/v1/payment-providers/events?per_page=100')
    const ours = body.data.filter(({ data }: Shown) => data.settlement?.id === id)
    expect(ours).toMatchObject([{ event: 'settlement.completed' }])
    return ours[0]
  })

testInProcess('a run builds nothing for an empty day, or a future one in production', async () => {
  const date = '2020-01-01'
  const nothing = { date, built: [], paid: [], unpaid: [], in_work: [] }
  expect(await service.call('settlement', 'run', { date })).toEqual(nothing)
  const run = (date: string) => service.refusal('settlement', 'run', { date, provider: 'demo' })
  expect(await run(date)).toContain('5002')
  vi.stubEnv('LIMITS', 'production')
  const today = dayOf(new Date())
  expect(await run(dayAfter(today))).toContain('--date: must not be in the future')
  expect(await run(today)).toContain('5002')
})

test('a payout is sent on the next day and paid once', async () => {
  const { payee, batch } = await createBatch('paid-there')
  expect(bank.requestsFor(batch.uuid)).toEqual([])
  const { paid } = await payee.run(second)
  const bank_reference = `HTB-${batch.uuid.slice(0, 8)}`
  const completed = { id: batch.id, status: 'completed', paid: '118.69', bank_reference }
  expect(paid).toMatchObject([completed])
  await expect(payee.run(second)).rejects.toThrow('5002')
  for (const verb of ['process', 'retry']) {
    await expect(payee.batch(verb, batch.id)).rejects.toThrow('already processed (5005)')
  }
  const amount = { uuid: batch.uuid, batch: batch.id, amount: '118.69', currency: 'GHS' }
  const account = { account_number: '7001007001', account_name: 'Payee Ltd' }
  const request = { method: 'POST', body: { ...amount, ...account } }
  expect(bank.requestsFor(batch.uuid)).toMatchObject([request])
  expect(paymentsOf(batch)).toHaveLength(1)
  const [event] = await receiver.events(batch.id, 1)
  expect(event?.body.data.settlement).toMatchObject({ status: 'completed', paid: 118.69 })
})

test('a payout that the bank rejects fails without an event, and its retry has a new uuid', async () => {
  const { payee, batch } = await createBatch('rejected-there')
  await expect(payee.batch('retry', batch.id)).rejects.toThrow('only a failed batch')
  bank.conducts.push('reject')
  const unpaid = [{ batch: batch.id, code: 5001, details: 'the payout failed: No such account' }]
  expect(await payee.run(second)).toMatchObject({ paid: [], unpaid, in_work: [] })
  await expect(payee.run(third)).rejects.toThrow('5002')
  const rejected = 'its bank rejected the payout: see settlement retry'
  await expect(payee.batch('process', batch.id)).rejects.toThrow(rejected)
  const { data } = (await payee.get(`/api/v1/payment-providers/settlements/${batch.id}`)).body
  expect(data).toMatchObject({ status: 'failed', failure: 'No such account', completed_at: null })
  expect(paymentsOf(batch)).toEqual([])
  const retried = await payee.batch('retry', batch.id)
  expect(retried).toMatchObject({ status: 'completed', failure: null, failed_at: null })
  expect(retried.uuid).not.toBe(batch.uuid)
  expect(paymentsOf(retried)).toHaveLength(1)
  // The feed is in order: no earlier event was published.
  expect((await eventOf(payee, batch)).data.settlement.uuid).toBe(retried.uuid)
})

test.each([
  ['an error of its server', { status: 500, body: '' }],
  ['another document', { status: 200, body: '{}' }],
])('a payout that its bank answers with %s is processing, and later paid once', async (...row) => {
  const [, reply] = row
  const { payee, batch } = await createBatch(`unknown-${reply.status}`)
  bank.conducts.push(reply, 'reject', reply)
  for (const verb of ['process', 'retry']) {
    expect(await payee.batch(verb, batch.id)).toMatchObject({ status: 'processing' })
    if (verb === 'process') await payee.batch(verb, batch.id)
  }
  const paid = await payee.batch('process', batch.id)
  expect(paid).toMatchObject({ status: 'completed' })
  expect(paymentsOf(paid)).toHaveLength(1)
})

test('a payout whose bank refuses the requests of the service is a fault', async () => {
  const { payee, batch } = await createBatch('refused-there')
  bank.conducts.push({ status: 401, body: '' })
  await expect(payee.batch('process', batch.id)).rejects.toThrow('HTTP 401')
  expect(await payee.batch('process', batch.id)).toMatchObject({ status: 'completed' })
})

test.each([1, 2])(
  'a batch is not paid again, but recorded, if its bank has paid it despite rejection %i of two',
  async (n) => {
    const { payee, batch } = await createBatch(`paid-after-all-${n}`)
    bank.conducts.push('reject', 'reject')
    await payee.run(second)
    const retried = await payee.batch('retry', batch.id)
    expect(retried).toMatchObject({ status: 'failed' })
    const { uuid } = [batch, retried][n - 1]
    bank.outcomes.set(uuid, { status: 'underway' })
    const underway = `HTB is processing the rejected payout ${uuid} of 118.69: retry after its outcome`
    await expect(payee.batch('retry', batch.id)).rejects.toThrow(underway)
    bank.outcomes.set(uuid, { status: 'paid', bank_reference: 'HTB-PAID' })
    const details = `HTB has paid the rejected payout ${uuid} of 118.69: settlement complete records it`
    await expect(payee.batch('retry', batch.id)).rejects.toThrow(details)
    expect(await payee.batch('show', batch.id)).toEqual(retried)
    const evidence = { 'bank-reference': 'HTB-PAID', amount: '118.69', reason: 'HTB paid it' }
    const completed = { status: 'completed', bank_reference: 'HTB-PAID' }
    expect(await payee.batch('complete', batch.id, evidence)).toMatchObject(completed)
    const posts = bank.requests.filter(
      ({ method, body }) => method === 'POST' && body.batch === batch.id,
    )
    expect(posts.map(({ body }) => body.uuid)).toEqual([batch.uuid, retried.uuid])
  },
)

test('an operator fails a payout to which its bank gives no final reply, and its retry first queries the bank', async () => {
  const { payee, batch } = await createBatch('refused-for-ever')
  const said = { reason: 'HTB says that it will never pay this' }
  const fail = () => payee.batch('fail', batch.id, said)
  await expect(fail()).rejects.toThrow('the payout has not begun')
  for (const _ of [1, 2]) {
    bank.conducts.push({ status: 400, body: '' })
    await expect(payee.batch('process', batch.id)).rejects.toThrow('HTTP 400')
  }
  const { length } = bank.requestsFor(batch.uuid)
  const failed = { status: 'failed', failure: said.reason, uuid: batch.uuid }
  await expect(fail()).rejects.toThrow('try again in a minute')
  await untilPayoutWaits(batch.id)
  expect(await fail()).toMatchObject(failed)
  expect(bank.requestsFor(batch.uuid)).toHaveLength(length)
  const change = await service.changeOf(batch.id)
  expect(change).toMatchObject({
    ...{ noun: 'settlement', verb: 'fail' },
    changed: {
      status: { from: 'processing', to: 'failed' },
      failure: { from: null, to: said.reason },
    },
  })
  await expect(fail()).rejects.toThrow('its bank rejected the payout: see settlement retry')
  expect(await service.changeOf(batch.id)).toEqual(change)
  await expect(payee.run(second)).rejects.toThrow('5002')
  const made = { uuid: batch.uuid, amount: '118.69', status: 'paid', bank_reference: 'HTB-PAID' }
  bank.outcomes.set(batch.uuid, made)
  await expect(payee.batch('retry', batch.id)).rejects.toThrow('HTB has paid the rejected payout')
  bank.outcomes.delete(batch.uuid)
  const retried = await payee.batch('retry', batch.id)
  expect(retried).toMatchObject({ status: 'completed', failure: null })
  expect([batch, retried].map((one) => paymentsOf(one).length)).toEqual([0, 1])
  await expect(fail()).rejects.toThrow('5005')
})

test('a payout waits for an account, and while its provider is disabled', async () => {
  const { payee, batch } = await createBatch('no-account')
  const update = (settings: Record<string, string>) =>
    service.call('provider', 'update', { provider: payee.id, ...settings })
  await update({ 'settlement-account': 'none' })
  const details = 'the provider has no settlement account'
  const unpaid = [{ batch: batch.id, code: 5001, details }]
  expect(await payee.run(second)).toMatchObject({ paid: [], unpaid })
  const evidence = { 'bank-reference': 'X', reason: 'Y' }
  await expect(payee.batch('complete', batch.id, evidence)).rejects.toThrow(details)
  await update(settlementAccount('2441007001', 'ECO'))
  await service.call('provider', 'disable', { provider: payee.id })
  const disabled = 'no-account is disabled: its payouts are held until operator provider enable'
  await expect(payee.batch('process', batch.id)).rejects.toThrow(disabled)
  const held = [{ batch: batch.id, code: 5001, details: disabled }]
  expect(await payee.run(second)).toMatchObject({ paid: [], unpaid: held })
  await service.call('provider', 'enable', { provider: payee.id })
  const bank_reference = expect.stringMatching(/^ECO-/)
  expect((await payee.run(third)).paid).toMatchObject([{ id: batch.id, bank_reference }])
})

test('the reversal of a settled debit is deducted by the next batch, which a later payout offsets', async () => {
  const payee = await createPayee(service, 'takes-back')
  const [reference = ''] = await payee.complete('20.00')
  await payee.run(first)
  await payee.reverse(reference)
  const [below] = (await payee.run(second)).built
  expect(below).toMatchObject({ debits: 0, adjustments: '-19.70', net: '-19.70' })
  await expect(payee.batch('process', below.id)).rejects.toThrow('the net is negative')
  await payee.complete('100.00')
  const [{ id }] = (await payee.run(third)).built
  await service.runJob('process-batch', { batch: id })
  expect(await payee.batch('show', id)).toMatchObject({ status: 'completed', paid: '78.80' })
  const offset = { status: 'completed', made_good_by: id, paid: null }
  expect(await payee.batch('show', below.id)).toMatchObject(offset)
})

test('`settlement complete` records the transfer of a provider for a batch below zero as a negative payout', async () => {
  const payee = await createPayee(service, 'transfers')
  const [reference = ''] = await payee.complete('20.00')
  await payee.run(first)
  await payee.reverse(reference)
  const [{ id }] = (await payee.run(second)).built
  const transfer = { amount: '19.70', 'bank-reference': 'T-1', reason: 'On the statement' }
  const completed = { status: 'completed', paid: '-19.70', bank_reference: 'T-1' }
  expect(await payee.batch('complete', id, transfer)).toMatchObject(completed)
  expect(await service.changeOf(id)).toMatchObject({
    changed: { paid: { from: null, to: '-19.70' }, bank_reference: { from: null, to: 'T-1' } },
  })
  const { entries } = await service.call('ledger', 'show', { date: dayOf(new Date()) })
  const { lines } = entries.find(({ type }: Shown) => type === 'provider_payment')
  expect(lines.map(({ account }: Shown) => account)).toEqual(['cash', 'provider_payable:transfers'])
})

test.each([
  ['pending', '1041007001'],
  ['failed', '1041000000'],
  ['processing', '1041009999'],
])('`settlement complete` records the payout of a %s batch, and no run pays it', async (...row) => {
  const [status, digits] = row
  const reason = 'On the statement of GCB'
  const paidByHand = { 'bank-reference': 'GCB-PAID-1', reason }
  const { payee, batch } = await createBatch(`was-${status}`, { 'settlement-account': digits })
  if (status !== 'pending') {
    expect(await payee.batch('process', batch.id)).toMatchObject({ status })
  }
  const evidence = { ...paidByHand, ...(status === 'pending' && { amount: batch.net }) }
  const other = { ...evidence, amount: '1.00' }
  const due = `1.00 was paid, but ${batch.net} is due: settle the difference of 117.69 first, then record what is due by --amount`
  if (status === 'pending') {
    const tooEarly = 'the service would pay this batch too: hold it by operator provider disable'
    await expect(payee.batch('complete', batch.id, evidence)).rejects.toThrow(tooEarly)
    await service.call('provider', 'disable', { provider: payee.id })
    // An amount that is due at the grant of the call can be another one than the bank paid.
    const needed = `${batch.net} is due: --amount states what was paid`
    await expect(payee.batch('complete', batch.id, paidByHand)).rejects.toThrow(needed)
  }
  await expect(payee.batch('complete', batch.id, other)).rejects.toThrow(due)
  const paid = { status: 'completed', paid: batch.net, failure: null }
  const completed = { ...paid, bank_reference: 'GCB-PAID-1' }
  expect(await payee.batch('complete', batch.id, evidence)).toMatchObject(completed)
  await service.call('provider', 'enable', { provider: payee.id })
  await eventOf(payee, batch)
  await expect(payee.run(second)).rejects.toThrow('5002')
  await expect(payee.batch('complete', batch.id, evidence)).rejects.toThrow('5005')
  expect(await service.changeOf(batch.id)).toMatchObject({
    ...{ noun: 'settlement', verb: 'complete' },
    changed: {
      status: { from: status, to: 'completed' },
      bank_reference: { from: null, to: 'GCB-PAID-1' },
      reason: { from: null, to: reason },
    },
  })
})

test('the event is signed, has the batch with amounts as numbers, and is redelivered with its id', async () => {
  const payee = await createPayee(service, 'subscribed')
  const { secret } = await payee.webhook('set', {
    ...{ url: receiver.url(), events: 'settlement.completed' },
    ...{ 'event-names': 'debit_request', payload: 'reduced' },
  })
  await payee.complete('100.00')
  const [batch] = (await payee.run(first)).built
  await payee.run(second)
  const [sent] = await receiver.events(batch.id, 1)
  if (!sent) throw new Error('no event')
  const sums = { gross: 100, fee: 1.5, adjustments: 0, net: 98.5, paid: 98.5 }
  const fee_schedule = { basis_points: 150, fixed: 0, minimum: null, maximum: null }
  expect(sent.body).toEqual({
    ...{ event: 'settlement.completed', event_id: expect.stringMatching(/^evt_[0-9]+$/) },
    ...{ timestamp: sent.body.data.settlement.completed_at, api_version: 'v1', sequence: 0 },
    data: { settlement: { ...(await payee.batch('show', batch.id)), ...sums, fee_schedule } },
  })
  expect(sent.raw).toContain('"gross":100.00,"fee":1.50,"adjustments":0.00,"net":98.50')
  const { event, event_id } = sent.body
  expect(sent.headers).toMatchObject({ 'x-svc-event': event, 'x-svc-event-id': event_id })
  expect(verifies(sent, secret)).toBe(true)
  expect(await eventOf(payee, batch)).toEqual(sent.body)

  const id = Number(event_id.slice(4))
  const record = { id, event, status: 'delivered', attempt_count: 1 }
  await eventually(async () => {
    for (const of of [{ reference: batch.id }, { provider: payee.id }]) {
      expect(await service.call('delivery', 'list', of)).toMatchObject([record])
    }
  })
  // A duplicate message makes no second attempt.
  const duplicate = { reference: batch.id, n: 0, attempt: 1 }
  await service.runJob('deliver-sidelined-webhook', duplicate)
  expect(await receiver.events(batch.id, 1)).toHaveLength(1)
  const { status, body } = await payee.send('POST', redeliverPath(id))
  expect([status, body.data]).toMatchObject([202, { event, reference: batch.id }])
  const [before, again] = await receiver.events(batch.id, 2)
  expect(again?.raw).toBe(before?.raw)
  // A redelivery replaces an attempt that is not recorded yet.
  await eventually(async () => {
    const twice = [{ ...record, attempt_count: 2 }]
    expect(await service.call('delivery', 'list', { reference: batch.id })).toMatchObject(twice)
  })
  const redelivered = await service.call('delivery', 'redeliver', { id: String(id) })
  expect(redelivered).toMatchObject({ event, delivered_at: expect.any(String) })
  await receiver.events(batch.id, 3)
  const other = await createPayee(service, 'redelivers-not')
  expect(codeOf(await other.send('POST', redeliverPath(id)))).toBe('404/1404')
})

test('the event is not sent without a subscription, but is in the feed', async () => {
  const { payee, batch } = await createBatch('not-subscribed')
  await payee.webhook('set', { url: receiver.url(), events: 'none' })
  const [reference = ''] = await payee.complete('1.00')
  await payee.run(second)
  const { event_id } = await eventOf(payee, batch)
  const redelivered = await payee.send('POST', redeliverPath(event_id.slice(4)))
  expect(codeOf(redelivered)).toBe('403/4403')
  // A later event of the same priority.
  await payee.reverse(reference)
  await receiver.events(reference, 5)
  const sent = receiver.received.map(({ body }) => body.data.settlement?.id)
  expect(sent).not.toContain(batch.id)
})
