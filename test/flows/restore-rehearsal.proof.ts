import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyResult } from 'aws-lambda'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { handler as manageBank } from '../../functions/operator/manage-bank.ts'
import { createBucket } from '../../sandbox/emulator/bucket.ts'
import { SettlementAccount } from '../../shared/domain/providers/provider.ts'
import { real } from '../../shared/runtime.ts'
import { putCredential } from '../../shared/store/providers/credentials.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { type Fauxqs, startFauxqs } from '../emulators/fauxqs.ts'
import { demoProvider, NOON } from '../support/examples.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { useReceiver } from '../support/receiver.ts'
import { chargeBody, printed, type Shown, sampleEvent } from '../support/running-service.ts'
import {
  type FunctionName,
  openSteppedService,
  type SteppedService,
} from '../support/stepped-service/stepped-service.ts'
import type { Item } from '../support/stepped-service/table.ts'

/**
 * A rehearsal of docs/operations.md, Restore: the table returns to an earlier second, the bank keeps the
 * hour that is lost here, and an operator runs the commands of the runbook.
 */

let service: SteppedService
const receiver = useReceiver()
let s3: Fauxqs
const bank = useHttpBank(() => service.now())

type Debit = { reference: string; uuid: string }

const send = async (name: FunctionName, more: object, token?: string): Promise<Shown> => {
  const sample = await sampleEvent(name)
  const Authorization = `Bearer ${token}`
  const headers = { ...(sample.headers as object), ...(token ? { Authorization } : {}) }
  const multiValueHeaders = Object.fromEntries(
    Object.entries(headers).map(([key, value]) => [key, [value]]),
  )
  const event = { ...sample, headers, multiValueHeaders, ...more }
  const { statusCode, body } = await service.run<APIGatewayProxyResult>(name, event)
  return { status: statusCode, body: JSON.parse(body) }
}

const charge = async (): Promise<Debit> => {
  const body = JSON.stringify(chargeBody({ bank_identifier: 'HTB' }))
  const { reference, response } = (await send('charge', { body })).body.data
  return { reference, uuid: response.uuid }
}

const report = async ({ uuid }: Debit, members: object): Promise<number> => {
  const body = JSON.stringify({ bank_reference: 'HTB-0001', ...members })
  const reply = await send('debit-callback', { pathParameters: { uuid }, body }, 'bt_sandbox_htb')
  return reply.status
}

const processing = async (): Promise<Debit> => {
  const debit = await charge()
  await service.settle()
  return debit
}

const completed = async (): Promise<Debit> => {
  const debit = await processing()
  expect(await report(debit, { status: 'completed' })).toBe(200)
  await service.settle()
  return debit
}

const call = async (noun: string, verb: string, options: Record<string, string>) => {
  vi.useFakeTimers({ now: service.now(), toFake: ['Date'] })
  try {
    const name = `manage-${noun}` as FunctionName
    return (await service.run(name, { verb, options, actor: 'local:ama' })) as never
  } finally {
    vi.useRealTimers()
  }
}
const operate = async (noun: string, verb: string, options: Record<string, string> = {}) =>
  printed(await call(noun, verb, options))

const show = ({ reference }: Debit): Promise<Shown> => operate('debit', 'show', { reference })

const statusesOf = (debits: Record<string, Debit>): Promise<Record<string, string>> =>
  mapValues(debits, async (debit) => (await show(debit)).status)

const batchesOf = (ids: Record<string, string>): Promise<Record<string, string>> =>
  mapValues(ids, async (batch) => (await operate('settlement', 'show', { batch })).status)

const mapValues = async <T>(record: Record<string, T>, map: (value: T) => Promise<string>) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(record).map(async ([name, value]) => [name, await map(value)]),
    ),
  )

/** Moves the clock to a time in November 2026 and starts a settlement run. */
const runAt = async (time: string): Promise<void> => {
  await passTo(time)
  service.queues.put('settlement-runs', '{}')
  await service.settle()
}

const passTo = (time: string): Promise<void> =>
  service.pass((Date.parse(`2026-11-${time}Z`) - service.now().getTime()) / 1000)

const newestBatch = async (): Promise<string> =>
  (await operate('settlement', 'list', { provider: demoProvider.id, limit: '1' }))[0].id

const events = async (cursor?: string): Promise<{ ids: string[]; cursor: string }> => {
  const query = { per_page: '100', ...(cursor ? { cursor } : {}) }
  const lists = Object.fromEntries(Object.entries(query).map(([key, value]) => [key, [value]]))
  const { body } = await send('list-events', {
    queryStringParameters: query,
    multiValueQueryStringParameters: lists,
  })
  expect(body.meta.has_more).toBe(false)
  return {
    ids: body.data.map(({ event_id }: Shown) => event_id),
    cursor: body.meta.next_cursor,
  }
}

const writeAll = async (requests: object[]): Promise<void> => {
  for (let start = 0; start < requests.length; start += 25) {
    const RequestItems = { [tableName()]: requests.slice(start, start + 25) }
    await table.send(new BatchWriteCommand({ RequestItems }))
  }
}

/** Restores the items under the same table name, with an empty stream. */
const restore = async (items: readonly Item[]): Promise<void> => {
  const keyOf = ({ pk, sk }: Item) => `${pk} ${sk}`
  const restored = new Set(items.map(keyOf))
  const deleted = (await service.items()).filter((item) => !restored.has(keyOf(item)))
  await writeAll(deleted.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })))
  await writeAll(items.map((Item) => ({ PutRequest: { Item } })))
  await service.dropStream()
}

const ACCOUNT = v.parse(SettlementAccount, {
  bank: 'HTB',
  accountNumber: '1041007001',
  accountName: 'Demo Ltd',
})

/** Sets or removes the settlement account; without one, payouts wait. */
const payInto = (settlementAccount: SettlementAccount | undefined) =>
  changeProvider(
    demoProvider.id,
    () => ({
      ...demoProvider,
      ...(settlementAccount ? { settlementAccount } : {}),
    }),
    noWrites,
    real,
  )

beforeAll(async () => {
  s3 = await startFauxqs('eu-west-1')
  await createBucket(s3.endpoint, 'eu-west-1', 'reports')
  Object.assign(process.env, { AWS_ENDPOINT_URL_S3: s3.endpoint, REPORTS_BUCKET: 'reports' })
  service = await openSteppedService({ url: receiver.url() })
  printed(await manageBank({ verb: 'create', options: bank.options() }))
  const createdAt = NOON.toISOString()
  await putCredential(
    'bt_sandbox_htb',
    { kind: 'bank', owner: 'HTB' as never, createdAt },
    [],
    real,
  )
  await payInto(ACCOUNT)
})
afterAll(() => s3.stop())

const MINUTES = 60_000

describe('a restore of an hour', () => {
  test('fails, pays and refunds nothing automatically, reuses no id and is completed by the runbook', {
    timeout: 5 * MINUTES,
  }, async () => {
    // Three batches: the bank rejects the first payout, has the second in progress, the third is due.
    await completed()
    await runAt('22T00:00:01')
    const rejected = await newestBatch()
    await completed()
    bank.conducts.push('reject')
    await runAt('23T00:00:01')
    const underway = await newestBatch()
    await completed()
    await payInto(undefined)
    await runAt('24T00:00:01')
    await payInto(ACCOUNT)
    const due = await newestBatch()
    const batches = { rejected, underway, due }
    const statusesBefore = { rejected: 'failed', underway: 'processing', due: 'pending' }

    // A refund in progress, a later refund, and debits in every open state.
    await passTo('24T23:40:00')
    const refunded = await completed()
    const reversedLater = await completed()
    bank.conducts.push('take its time')
    await operate('debit', 'reverse', { reference: refunded.reference, reason: 'Returned' })
    await service.settle()
    bank.conducts.push('take its time')
    await operate('settlement', 'process', { batch: underway })
    const toComplete = await processing()
    const toFail = await processing()
    const silent = await processing()
    // Not relayed yet: the bank accepts it in the lost hour.
    const submitted = await charge()
    const open = { toComplete, toFail, silent, submitted }
    const snapshot = structuredClone(await service.items())
    expect(await batchesOf(batches)).toEqual(statusesBefore)
    const statuses = await statusesOf(open)
    expect(statuses).toEqual({
      toComplete: 'processing',
      toFail: 'processing',
      silent: 'processing',
      submitted: 'pending',
    })

    // The lost hour.
    await service.settle()
    expect(await report(toComplete, { status: 'completed' })).toBe(200)
    expect(await report(toFail, { status: 'failed', error_message: 'Insufficient funds' })).toBe(
      200,
    )
    expect(await report(submitted, { status: 'completed' })).toBe(200)
    bank.outcomes.set(submitted.uuid, { status: 'completed', bank_reference: 'HTB-0009' })
    const lostDebit = await completed()
    await operate('debit', 'reverse', { reference: reversedLater.reference, reason: 'Returned' })
    await runAt('25T00:00:01')
    const lostBatch = await newestBatch()
    await operate('settlement', 'retry', { batch: rejected })
    await service.pass(300)
    expect(await batchesOf(batches)).toEqual({
      rejected: 'completed',
      underway: 'completed',
      due: 'completed',
    })
    expect(await statusesOf(open)).toMatchObject({ toComplete: 'completed', silent: 'failed' })
    expect((await show(refunded)).refund.status).toBe('completed')
    expect((await show(reversedLater)).refund.status).toBe('completed')
    const { cursor } = await events()
    const paid = [...bank.payments]
    const refunds = [...bank.refunds]
    expect([paid.length, refunds.length, new Set(bank.debits).size]).toEqual([3, 2, 10])
    await passTo('25T00:57:00')

    // The restore. Messages of the lost hour are still in their queues.
    await restore(snapshot)
    expect(await operate('restore', 'begin', { generation: '2' })).toMatchObject({
      generation: 2,
      held: [demoProvider.id],
    })
    for (const { reference } of [submitted, lostDebit]) {
      service.queues.put('submissions', JSON.stringify({ reference }))
    }
    for (const batch of Object.values(batches)) {
      service.queues.put('payments', JSON.stringify({ batch }))
    }
    for (const { reference } of [refunded, reversedLater]) {
      service.queues.put('refunds', JSON.stringify({ reference }))
    }
    for (const { reference } of Object.values(open)) {
      service.queues.put('expiries', JSON.stringify({ reference, phase: 'processing' }))
    }
    await runAt('25T01:00:00')
    await service.pass(300)

    // The service decides nothing without an operator.
    expect(await statusesOf(open)).toEqual(statuses)
    expect(await batchesOf(batches)).toEqual(statusesBefore)
    expect((await show(refunded)).refund.status).toBe('processing')
    expect(bank.payments).toEqual(paid)
    expect(bank.refunds).toEqual(refunds)
    expect(await call('settlement', 'process', { batch: due })).toEqual({
      error: expect.stringContaining('payouts are held since restore 2'),
    })
    expect(await call('settlement', 'retry', { batch: rejected })).toEqual({
      error: expect.stringContaining('payouts are held since restore 2'),
    })
    const newBatch = await newestBatch()
    expect(newBatch).not.toBe(lostBatch)
    expect(newBatch.slice(0, 12)).toBe(lostBatch.slice(0, 12))

    // An operator records the outcomes at the bank and releases the provider.
    const reason = 'Bank statement of 25 November'
    const evidence = { 'bank-reference': 'HTB-0002', reason }
    await operate('debit', 'complete', { reference: toComplete.reference, ...evidence })
    await operate('debit', 'fail', { reference: toFail.reference, ...evidence })
    await operate('settlement', 'complete', { batch: due, ...evidence })
    await operate('debit', 'reverse', { reference: reversedLater.reference, reason: 'Returned' })
    await service.pass(120)
    expect(bank.refunds).toEqual(refunds)
    await operate('restore', 'release', { provider: demoProvider.id })
    await service.pass(120)

    // The bank was queried for the other debits, and the silent one timed out.
    expect(await statusesOf(open)).toEqual({
      toComplete: 'completed',
      toFail: 'failed',
      silent: 'failed',
      submitted: 'completed',
    })
    await operate('settlement', 'retry', { batch: rejected })
    expect(await batchesOf(batches)).toEqual({
      rejected: 'completed',
      underway: 'completed',
      due: 'completed',
    })
    expect((await show(refunded)).refund.status).toBe('completed')
    expect((await show(reversedLater)).refund.status).toBe('completed')
    expect(bank.payments).toEqual(paid)
    expect(bank.refunds).toEqual(refunds)
    expect(new Set(bank.debits).size).toBe(bank.debits.length)

    // Debits that completed after the restore are settled and paid once.
    await runAt('26T00:00:01')
    await runAt('27T00:00:01')
    expect(new Set(bank.payments).size).toBe(bank.payments.length)
    expect(bank.payments.length).toBeGreaterThan(paid.length)

    // Ids are unique.
    const bodies = new Map<string, string>()
    for (const { headers, raw } of receiver.received) {
      const id = String(headers['x-svc-event-id'])
      expect(bodies.get(id) ?? raw, id).toBe(raw)
      bodies.set(id, raw)
    }
    const attempts = receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])
    expect(new Set(attempts).size).toBe(attempts.length)

    // A reader with a cursor of the lost hour misses no later event.
    const since = (await events(cursor)).ids
    const written = (await events()).ids.filter((id) => /(?:1\d|98)$/.test(id))
    expect(written.length).toBeGreaterThan(6)
    expect(since).toEqual(expect.arrayContaining(written))
  })
})
