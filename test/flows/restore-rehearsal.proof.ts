import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { APIGatewayProxyResult } from 'aws-lambda'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { handler as manageBank } from '../../functions/operator/manage-bank.ts'
import { createBucket } from '../../sandbox/bucket.ts'
import { type Fauxqs, startFauxqs } from '../../sandbox/fauxqs.ts'
import { SettlementAccount } from '../../shared/domain/providers/provider.ts'
import { real } from '../../shared/runtime.ts'
import { putCredential } from '../../shared/store/providers/credentials.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { demoProvider, NOON } from '../support/examples.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { printed, type Shown } from '../support/provider.ts'
import { chargeBody, sampleEvent } from '../support/running-service.ts'
import type { FunctionName } from '../support/world/functions.ts'
import type { Item } from '../support/world/table.ts'
import { openWorld, type World } from '../support/world/world.ts'

/**
 * A rehearsal of docs/operations.md, Restore: the table goes back to an earlier second, an hour of
 * work is lost here and not at the bank, and an operator runs the commands of the runbook.
 */

let world: World
let s3: Fauxqs
const bank = useHttpBank(() => world.now())

type Debit = { reference: string; uuid: string }

const send = async (name: FunctionName, more: object, token?: string): Promise<Shown> => {
  const sample = await sampleEvent(name)
  const Authorization = `Bearer ${token}`
  const headers = { ...(sample.headers as object), ...(token ? { Authorization } : {}) }
  const multiValueHeaders = Object.fromEntries(
    Object.entries(headers).map(([key, value]) => [key, [value]]),
  )
  const event = { ...sample, headers, multiValueHeaders, ...more }
  const reply = await world.run<APIGatewayProxyResult>(name, event)
  return { status: reply?.statusCode, body: JSON.parse(reply?.body ?? 'null') }
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
  await world.settle()
  return debit
}

const completed = async (): Promise<Debit> => {
  const debit = await processing()
  expect(await report(debit, { status: 'completed' })).toBe(200)
  await world.settle()
  return debit
}

/** Operators have the clock of this machine. */
const call = async (noun: string, verb: string, options: Record<string, string>) => {
  vi.useFakeTimers({ now: world.now(), toFake: ['Date'] })
  try {
    const name = `manage-${noun}` as FunctionName
    return (await world.run(name, { verb, options, actor: 'local:ama' })) as never
  } finally {
    vi.useRealTimers()
  }
}
const operate = async (noun: string, verb: string, options: Record<string, string> = {}) =>
  printed(await call(noun, verb, options))

const show = ({ reference }: Debit): Promise<Shown> => operate('debit', 'show', { reference })

const statusesOf = (debits: Record<string, Debit>): Promise<Record<string, string>> =>
  shown(debits, async (debit) => (await show(debit)).status)

const batchesOf = (ids: Record<string, string>): Promise<Record<string, string>> =>
  shown(ids, async (batch) => (await operate('settlement', 'show', { batch })).status)

const shown = async <T>(all: Record<string, T>, of: (one: T) => Promise<string>) =>
  Object.fromEntries(
    await Promise.all(Object.entries(all).map(async ([name, one]) => [name, await of(one)])),
  )

/** Moves the clock to a time of November 2026, and has a run of settlement begin there. */
const runAt = async (time: string): Promise<void> => {
  await passTo(time)
  world.queues.put('settlement-runs', '{}')
  await world.settle()
}

const passTo = (time: string): Promise<void> =>
  world.pass((Date.parse(`2026-11-${time}Z`) - world.now().getTime()) / 1000)

/** The newest batch. */
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
    ids: body.data.map((one: Shown) => one.event_id),
    cursor: body.meta.next_cursor,
  }
}

const writeAll = async (requests: object[]): Promise<void> => {
  for (let n = 0; n < requests.length; n += 25) {
    const RequestItems = { [tableName()]: requests.slice(n, n + 25) }
    await table.send(new BatchWriteCommand({ RequestItems }))
  }
}

/** What a restore does, but that the table keeps its name. The stream of the new one is empty. */
const putBack = async (items: readonly Item[]): Promise<void> => {
  const keyOf = ({ pk, sk }: Item) => `${pk} ${sk}`
  const kept = new Set(items.map(keyOf))
  const gone = (await world.items()).filter((item) => !kept.has(keyOf(item)))
  await writeAll(gone.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })))
  await writeAll(items.map((Item) => ({ PutRequest: { Item } })))
  await world.forget()
}

const ACCOUNT = v.parse(SettlementAccount, {
  bank: 'HTB',
  accountNumber: '1041007001',
  accountName: 'Demo Ltd',
})

/** Without an account, a payout waits. */
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
  world = await openWorld()
  const settings = { 'connector-url': bank.url(), 'connector-secret': bank.secret }
  const options = { bank: 'HTB', name: 'Test Bank', connector: 'http', ...settings }
  printed(await manageBank({ verb: 'create', options }))
  const createdAt = NOON.toISOString()
  await putCredential(
    'bt_sandbox_htb',
    { kind: 'bank', owner: 'HTB' as never, createdAt },
    [],
    real,
  )
  await payInto(ACCOUNT)
})
afterAll(async () => {
  await world.close()
  await s3.stop()
})

const MINUTES = 60_000

describe('a restore of an hour', () => {
  test('fails, pays and refunds nothing by itself, reuses no id, and ends right by the runbook', {
    timeout: 5 * MINUTES,
  }, async () => {
    // A batch whose payout the bank rejects, one whose payout it has in progress, one to be paid.
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
    const before = { rejected: 'failed', underway: 'processing', due: 'pending' }

    // A refund in progress, one that is opened later, and debits in every open state.
    await passTo('24T23:40:00')
    const refunded = await completed()
    const reversedLater = await completed()
    bank.conducts.push('take its time')
    await operate('debit', 'reverse', { reference: refunded.reference, reason: 'Returned' })
    await world.settle()
    bank.conducts.push('take its time')
    await operate('settlement', 'process', { batch: underway })
    const toComplete = await processing()
    const toFail = await processing()
    const silent = await processing()
    // Written, and not relayed yet: the bank takes it in the hour that is lost.
    const submitted = await charge()
    const open = { toComplete, toFail, silent, submitted }
    const snapshot = structuredClone(await world.items())
    expect(await batchesOf(batches)).toEqual(before)
    const statuses = await statusesOf(open)
    expect(statuses).toEqual({
      toComplete: 'processing',
      toFail: 'processing',
      silent: 'processing',
      submitted: 'pending',
    })

    // The hour that is lost.
    await world.settle()
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
    await world.pass(300)
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

    // The table goes back. Messages of the lost hour are still in their queues.
    await putBack(snapshot)
    expect(await operate('restore', 'begin', { generation: '2' })).toMatchObject({
      generation: 2,
      held: [demoProvider.id],
    })
    for (const { reference } of [submitted, lostDebit]) {
      world.queues.put('submissions', JSON.stringify({ reference }))
    }
    for (const batch of Object.values(batches)) {
      world.queues.put('payments', JSON.stringify({ batch }))
    }
    for (const { reference } of [refunded, reversedLater]) {
      world.queues.put('refunds', JSON.stringify({ reference }))
    }
    for (const { reference } of Object.values(open)) {
      world.queues.put('expiries', JSON.stringify({ reference, phase: 'processing' }))
    }
    await runAt('25T01:00:00')
    await world.pass(300)

    // Nothing is decided without an operator.
    expect(await statusesOf(open)).toEqual(statuses)
    expect(await batchesOf(batches)).toEqual(before)
    expect((await show(refunded)).refund.status).toBe('processing')
    expect(bank.payments).toEqual(paid)
    expect(bank.refunds).toEqual(refunds)
    expect(await call('settlement', 'process', { batch: due })).toEqual({
      error: expect.stringContaining('payouts are held since restore 2'),
    })
    expect(await call('settlement', 'retry', { batch: rejected })).toEqual({
      error: expect.stringContaining('payouts are held since restore 2'),
    })
    const [newBatch] = [await newestBatch()]
    expect(newBatch).not.toBe(lostBatch)
    expect(newBatch.slice(0, 12)).toBe(lostBatch.slice(0, 12))

    // An operator compares with the bank, records what it says, and releases the provider.
    const reason = 'Bank statement of 25 November'
    const asked = { 'bank-reference': 'HTB-0002', reason }
    await operate('debit', 'complete', { reference: toComplete.reference, ...asked })
    await operate('debit', 'fail', { reference: toFail.reference, ...asked })
    await operate('settlement', 'complete', { batch: due, ...asked })
    await operate('debit', 'reverse', { reference: reversedLater.reference, reason: 'Returned' })
    await world.pass(120)
    expect(bank.refunds).toEqual(refunds)
    await operate('restore', 'release', { provider: demoProvider.id })
    await world.pass(120)

    // The bank was asked for the rest, and the silent debit timed out.
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

    // Life goes on: what was completed after the restore is settled and paid, once.
    await runAt('26T00:00:01')
    await runAt('27T00:00:01')
    expect(new Set(bank.payments).size).toBe(bank.payments.length)
    expect(bank.payments.length).toBeGreaterThan(paid.length)

    // One id never names two things.
    const told = new Map<string, string>()
    for (const { headers, raw } of world.receiver.posts) {
      const id = String(headers['x-svc-event-id'])
      expect(told.get(id) ?? raw, id).toBe(raw)
      told.set(id, raw)
    }
    const attempts = world.receiver.posts.map(({ headers }) => headers['x-svc-delivery-id'])
    expect(new Set(attempts).size).toBe(attempts.length)

    // A reader with a cursor of the lost hour misses no event of the time since.
    const since = (await events(cursor)).ids
    const written = (await events()).ids.filter((id) => /(?:1\d|98)$/.test(id))
    expect(written.length).toBeGreaterThan(6)
    expect(since).toEqual(expect.arrayContaining(written))
  })
})
