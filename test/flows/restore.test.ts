import { isDeepStrictEqual } from 'node:util'
import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, test } from 'vitest'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { reversalRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { SETTLED } from '../../shared/domain/webhooks/event.ts'
import { readGeneration, writeGeneration } from '../../shared/settlement/report/bucket.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { refundCreation } from '../../shared/store/debits/refunds.ts'
import { keys } from '../../shared/store/keys.ts'
import { remove, table, tableName } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { bankMove, pendingDebit, providerId } from '../support/examples.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { listNewest } from '../support/newest-events.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { granted } from '../support/refused.ts'
import { deliveriesPath, redeliverPath, SILENT } from '../support/requests.ts'
import { type Shown, testInProcess, useService } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

/** The restore record: generations and held payouts. */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank(service)

const begin = (generation: string): Promise<Shown> =>
  service.call('restore', 'begin', { generation })
const refusal = (generation: string) => service.refusal('restore', 'begin', { generation })
const release = (options = {}): Promise<Shown> => service.call('restore', 'release', options)

/** Deletes the record, as a restore to an earlier second does. */
const deleteRecord = () => remove(keys.restore)

let provider: Provider
let payee: Payee
let earlier: Shown
let batch: Shown
let silent: string
let held: string
beforeAll(async () => {
  provider = await createProvider(service, 'restored')
  await provider.webhook('set', { url: receiver.url() })
  payee = await createPayee(service, 'held')
  silent = (await service.chargeUntil('processing', { phone_number: SILENT })).reference
  earlier = await provider.delivery(await provider.charge(), 'failed', 'delivered')
  await payee.complete('100.00')
  batch = (await payee.run(nightAfter(0))).built[0]
})

test('the generation before any restore is 1, and no provider is held', async () => {
  expect(await service.call('restore', 'show')).toEqual({
    ...{ generation: 1, highest_generation: 1, begun_at: null, by: null },
    ...{ released_at: null, released: [], held: [] },
  })
  expect(await service.refusal('restore', 'release')).toBe('no restore has begun')
  for (const generation of ['1', '10', '-2', '2.5', 'next']) {
    expect(await refusal(generation)).toBe('--generation: must be a whole number from 2 to 9')
  }
})

const NEXT = '--generation: must be 3: the highest so far is 2'
const NEXT_AFTER_4 = '--generation: must be 5: the highest so far is 4'

test('a restore holds every provider, is recorded as a change, and its repetition changes nothing', async () => {
  const begun = await begin('2')
  expect(begun).toMatchObject({ generation: 2, released_at: null, released: [] })
  expect(begun.held).toEqual(expect.arrayContaining(['demo', 'restored', 'held']))
  const changed = { generation: { from: null, to: 2 } }
  const change = { noun: 'restore', verb: 'begin', changed }
  expect(await service.changeOf('generation 2')).toMatchObject(change)
  expect(await begin('2')).toEqual(begun)
  for (const generation of ['4', '9']) expect(await refusal(generation)).toBe(NEXT)
})

test('a restore gives events ids of their generation, which no other generation finds', async () => {
  const reference = await provider.charge()
  const record = await provider.delivery(reference, 'failed', 'delivered')
  const { headers, body } = (await receiver.events(reference, 3))[2] ?? {}
  expect([body.event_id, record.event_id]).toEqual(Array(2).fill(`evt_${record.id}`))
  expect(headers?.['x-svc-delivery-id']).toMatch(new RegExp(`^dlv_${record.id}_`))
  expect([record.id % 100, earlier.id % 100]).toEqual([12, 2])
  const redeliver = async (id: number) => (await provider.send('POST', redeliverPath(id))).status
  expect([await redeliver(record.id), await redeliver(earlier.id)]).toEqual([202, 202])
  for (const id of [record.id - 10, record.id + 10, earlier.id + 10]) {
    expect(await redeliver(id)).toBe(404)
    const line = await service.refusal('delivery', 'redeliver', { id: String(id) })
    expect(line).toBe('no such delivery')
  }
  const { data } = (await provider.get(deliveriesPath(reference))).body
  expect(data.map(({ id }: Shown) => id % 100)).toEqual([10, 11, 12])
})

test('the feed skips an event that a restore has lost, and has the later event with its number', async () => {
  const fields = { phone_number: SILENT }
  const { reference, uuid } = await service.chargeUntil('processing', fields, provider.credential)
  const lost = [
    { reference: 'DCS-20261121-AAAAAA' as Reference, n: 0 },
    { reference: reference as Reference, n: 3 },
    { reference: batch.id as Reference, n: SETTLED },
  ]
  await service.runJob('append-feed', { provider: provider.id, events: lost })
  const feed = await listNewest(providerId(provider.id), 100)
  expect(lost.filter((event) => feed.some((one) => isDeepStrictEqual(one, event)))).toEqual([])
  const read = async (query: string): Promise<Shown> =>
    (await provider.get(`/api/v1/payment-providers/events?per_page=100${query}`)).body
  const { next_cursor } = (await read('')).meta
  const report = { status: 'completed', bank_reference: 'B-1', approval_method: 'ussd' }
  expect(await service.report(uuid, report)).toMatchObject({ status: 200 })
  await eventually(async () => {
    const { data } = await read(`&cursor=${next_cursor}`)
    const own = data.filter((one: Shown) => one.data.transaction.reference === reference)
    expect(own.map((one: Shown) => one.event)).toContain('transaction.completed')
  })
})

test('a report of a bank and a reversal by an operator after a restore are events of its generation', async () => {
  const { reference } = await service.chargeCompleted({}, provider.credential)
  await service.call('debit', 'reverse', { reference, reason: 'Returned' })
  await eventually(async () => {
    const { data } = (await provider.get(deliveriesPath(reference))).body
    expect(data.map(({ id }: Shown) => id % 100)).toEqual([10, 11, 12, 13, 14])
  })
})

test('a restore stops timeouts and payouts, and the batch waits', async () => {
  const expiry = { reference: silent, phase: 'processing' }
  await service.runJob('expire-debit', expiry, 700)
  await service.runJob('report-sandbox-outcome', { reference: silent, outcome: 'timeout' })
  expect((await service.show(silent)).status).toBe('processing')
  const held = 'payouts are held since restore 2'
  await expect(payee.batch('process', batch.id)).rejects.toThrow(held)
  const { unpaid, paid } = await payee.run(nightAfter(1))
  expect([paid, unpaid]).toMatchObject([[], [{ batch: batch.id, code: 5001 }]])
  expect((await payee.batch('show', batch.id)).status).toBe('pending')
})

test('a restore holds the refunds of a provider until its release', async () => {
  const fields = { phone_number: SILENT, bank_identifier: 'HTB' }
  const { reference, uuid } = await service.chargeUntil('processing', fields, provider.credential)
  await service.report(uuid, { status: 'completed', bank_reference: 'B-2' }, 'bt_sandbox_htb')
  held = (await service.call('debit', 'reverse', { reference, reason: 'Returned' })).reference
  await service.runJob('refund-customer', { reference })
  expect(bank.made).not.toContain((await service.show(reference)).refund.uuid)
})

testInProcess(
  'a debit of an earlier generation may have been submitted, so that its bank is queried first',
  async () => {
    const submit = async (debit: Debit): Promise<(string | undefined)[]> => {
      const { reference, uuid } = debit.facts
      // The relay skips the entity, as after a restore.
      const Item = { ...toDebitItem(debit), entity: 'restored' }
      await table.send(new PutCommand({ TableName: tableName(), Item }))
      await service.runJob('submit-to-bank', { reference })
      return bank.requestsFor(uuid).map(({ method }) => method)
    }
    const pending = () =>
      pendingDebit({ bank: { identifier: 'HTB' as never, name: 'Test Bank' } }, new Date())
    const { history, ...own } = pending()
    const restored = history.map((entry) => ({ ...entry, generation: 2 }))
    expect(await submit(pending())).toEqual(['GET', 'POST'])
    expect(await submit({ ...own, history: restored })).toEqual(['POST'])
  },
)

test('a restore needs a later generation when the table has lost the record of this one', async () => {
  await deleteRecord()
  expect(await refusal('2')).toBe(NEXT)
  const lost = { generation: 1, highest_generation: 2 }
  expect(await service.call('restore', 'show')).toMatchObject(lost)
  expect(await begin('3')).toMatchObject({ generation: 3 })
})

testInProcess('a restore that ends between the bucket and the table is begun again', async () => {
  const restoreCalls = aroundTableCalls((name, next) =>
    name === 'TransactWrite' ? Promise.reject(new Error('interrupted')) : next(),
  )
  await expect(begin('4')).rejects.toThrow()
  restoreCalls()
  expect(await readGeneration()).toEqual({ generation: 4, isInTable: false })
  expect(await begin('4')).toMatchObject({ generation: 4 })
})

test('a restore can be retried when a step failed, and repairs the number in the bucket', async () => {
  // Before the write to the table, and after it.
  for (const _ of [1, 2]) {
    await writeGeneration({ generation: 4, isInTable: false })
    expect(await begin('4')).toMatchObject({ generation: 4 })
  }
  expect(await readGeneration()).toEqual({ generation: 4, isInTable: true })
  await writeGeneration({ generation: 1, isInTable: true })
  expect(await service.call('restore', 'show')).toMatchObject({ highest_generation: 4 })
  expect(await refusal('3')).toBe(NEXT_AFTER_4)
  await begin('4')
  expect(await readGeneration()).toEqual({ generation: 4, isInTable: true })
})

test('the verb `restore release` releases one provider, whose batch is then paid, or all', async () => {
  const released = await release({ provider: payee.id })
  expect(released.released).toEqual([payee.id])
  expect(released.held).not.toContain(payee.id)
  expect(released.held).toContain(provider.id)
  expect(await refusal('4')).toBe(NEXT_AFTER_4)
  expect(await release({ provider: payee.id })).toEqual(released)
  const second = await release({ provider: provider.id })
  expect(second.released).toEqual([payee.id, provider.id])
  await service.runJob('refund-customer', { reference: held })
  const { uuid } = await service.untilRefund(held, 'completed')
  expect(bank.made).toContain(uuid)
  expect(await payee.batch('process', batch.id)).toMatchObject({ status: 'completed' })
  await eventually(async () => {
    const { data } = (await payee.get('/api/v1/payment-providers/events?per_page=100')).body
    const settled = data.find((one: Shown) => one.data.settlement?.id === batch.id)
    // 99 in generation 1.
    expect(settled?.event_id).toMatch(/96$/)
  })
  const unknown = { provider: 'nobody' }
  expect(await service.refusal('restore', 'release', unknown)).toBe('no such provider')
  const all = await release()
  expect(all).toMatchObject({ held: [], released_at: expect.stringMatching(/Z$/) })
  expect(await release()).toEqual(all)
  const changed = { released_at: { from: null } }
  expect(await service.changeOf('generation 4')).toMatchObject({ verb: 'release', changed })
})

test('a released restore cannot be begun again, also where the bucket knows an earlier generation only', async () => {
  for (const generation of [1, 3, 4]) {
    await writeGeneration({ generation, isInTable: true })
    expect(await refusal('4')).toBe(NEXT_AFTER_4)
  }
})

testInProcess.each([
  ['after a restore', 4, false, []],
  ['before it', 1, false, ['GET']],
  // The restore has lost the record of the refund.
  ['before it, unless the bank has made the refund', 1, true, ['GET', 'GET']],
])(
  'a contradiction fails a refund that no bank can have seen, of a debit charged %s',
  async (_, generation, isMade, methods) => {
    const at = new Date()
    const htb = { identifier: 'HTB' as never, name: 'Test Bank' }
    const charged = pendingDebit({ bank: htb, provider: providerId(provider.id) }, at)
    const history = charged.history.map((entry) => ({ ...entry, generation }))
    const completed = granted(bankMove('completed', { at, generation: 4 })({ ...charged, history }))
    const reversed = granted(bankMove('reversed', { at, generation: 4 })(completed))
    const { reference, amount, uuid } = reversed.facts
    // The relay skips the entities, so that the refund waits for its job.
    const refund = { ...refundCreation(reversalRefund(reversed)).Put.Item, entity: 'restored' }
    for (const Item of [{ ...toDebitItem(reversed), entity: 'restored' }, refund]) {
      await table.send(new PutCommand({ TableName: tableName(), Item }))
    }
    const of = { reference, provider: provider.id as never, bank: 'HTB' as never }
    await putException({
      ...{ ...of, kind: 'contradiction', at },
      ...{ amount, by: 'bank:HTB', requestId: 'r-1', report: '{"status":"failed"}' },
    })
    const { uuid: own } = reversalRefund(reversed)
    if (isMade)
      bank.outcomes.set(own, { status: 'paid', uuid: own, amount: '100.00', bank_reference: 'M' })
    await service.runJob('refund-customer', { reference })
    const requests = bank.requests.filter(
      ({ path, body }) => body?.debit_uuid === uuid || path.endsWith(own),
    )
    expect(requests.map(({ method }) => method)).toEqual(methods)
    const { status } = (await service.show(reference)).refund
    expect(status).toBe(isMade ? 'completed' : 'failed')
  },
)

test('a later restore holds all providers again, and the ninth generation is the last one', async () => {
  for (const generation of [5, 6, 7, 8, 9]) {
    expect(await begin(String(generation))).toMatchObject({ generation, released: [] })
  }
  await deleteRecord()
  expect(await refusal('9')).toBe('--generation: all generations up to 9 are used')
})
