import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import type { Context } from 'aws-lambda'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { deliverSidelinedWebhook } from '../../functions/jobs/deliver-sidelined-webhook.ts'
import { deliverWebhook } from '../../functions/jobs/deliver-webhook.ts'
import { bytesOf } from '../../sandbox/aws/table/units.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { newDelivery, recordAttempt, redeliver } from '../../shared/domain/webhooks/delivery.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { queueUrlVariable, real } from '../../shared/runtime.ts'
import { keys } from '../../shared/store/keys.ts'
import { read } from '../../shared/store/table.ts'
import { listDeliveries, replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { changeHealth, findHealth } from '../../shared/store/webhooks/health.ts'
import { debitEvent } from '../../shared/views/webhook-payload.ts'
import { attemptDelivery, saveAttempts } from '../../shared/webhooks/attempt.ts'
import { closeConnections } from '../../shared/webhooks/http/connection.ts'
import { pingWebhook } from '../../shared/webhooks/ping.ts'
import { requestRedelivery } from '../../shared/webhooks/redeliver.ts'
import { eventually } from '../support/eventually.ts'
import {
  atOnce,
  bankMove,
  inSeconds,
  NOON,
  pendingDebit,
  providerId,
  webhook,
} from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { useServer } from '../support/servers.ts'
import { storeDebit, storeWebhook } from '../support/settings.ts'
import { sqsEvent } from '../support/sqs-event.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useTable } from '../support/tables.ts'

process.env.SEALING_KEY = 'test'
process.env.LOCAL_PEERS = '127.0.0.1'
process.env[queueUrlVariable('webhooks-sidelined')] = 'https://sqs.test/webhooks-sidelined'

const held: ServerResponse[] = []
const arrived: { path: string; event: string; id: string; signature: string }[] = []
let answer = (_path: string, response: ServerResponse): unknown => response.writeHead(204).end()

const server = createServer(async (request, response) => {
  const { url: path = '', headers } = request
  const { event } = JSON.parse(await text(request))
  const [id, signature] = [headers['x-svc-delivery-id'], headers['x-svc-signature']].map(String)
  arrived.push({ path, event, id: id ?? '', signature: signature ?? '' })
  answer(path, response)
})
const receiverUrl = useServer(server)
afterAll(async () => {
  for (const response of held) response.destroy()
  await closeConnections()
})

let units = { read: 0, write: 0 }
/** The numbers of messages in the calls to SQS. */
let sends: number[] = []

beforeEach(() => {
  const onConsumed = ({ kind, units: count }: { kind: 'read' | 'write'; units: number }) => {
    units[kind] += count
  }
  useTable({ onConsumed }, async (command, input) => {
    if (command !== SendMessageBatchCommand.name) return {}
    sends.push((input as { Entries: unknown[] }).Entries.length)
    return {}
  })
  units = { read: 0, write: 0 }
  sends = []
  arrived.length = 0
  answer = (_path, response) => response.writeHead(204).end()
})

/** Stores a debit and the webhook of its provider. */
const storeWithWebhook = async (
  id: string,
  statuses: readonly ('processing' | 'completed')[] = [],
  settings: Partial<Webhook> = {},
) => {
  const provider = providerId(id)
  const url = `${receiverUrl()}/${id}`
  await storeWebhook(provider, { ...webhook, url, timeoutSeconds: 1, ...settings })
  let debit: Debit = pendingDebit({ provider })
  for (const status of statuses) debit = granted(bankMove(status)(debit))
  await storeDebit(debit)
  return debit
}

const charged = ({ facts }: Debit) => ({ reference: facts.reference, n: 0, through: 1, attempt: 1 })

type Consumer = ReturnType<typeof deliverWebhook>

/** Invokes a consumer with one batch. */
const invoke = (bodies: readonly unknown[], job: Consumer = deliverWebhook(real)) =>
  job(sqsEvent('webhooks-low', bodies), {} as Context)

const DONE = { batchItemFailures: [] }

/** Returns the status of each event of a debit, with the count of its attempts. */
const recordsOf = async ({ facts }: Debit) =>
  (await listDeliveries(facts.reference)).map(
    ({ n, status, attemptCount }) => `${n} ${status} ${attemptCount}`,
  )

test.each([
  ['deliver-webhook', deliverWebhook],
  ['deliver-sidelined-webhook', deliverSidelinedWebhook],
])('the job %s delivers nine messages while the receiver of the tenth hangs', async (_, job) => {
  answer = (path, response) => (path === '/hangs' ? held.push(response) : response.end())
  const hanging = await storeWithWebhook('hangs', [], { timeoutSeconds: 30 })
  const others = await atOnce(9, (n) => storeWithWebhook(`quick-${n}`, [], { timeoutSeconds: 20 }))
  // No attempt counts as slow.
  const pause = () => new Promise<never>(() => undefined)
  let hasEnded = false
  const run = invoke([hanging, ...others].map(charged), job({ ...real, pause })).then(
    (response) => {
      hasEnded = true
      return response
    },
  )
  await eventually(async () => {
    for (const debit of others) {
      expect(await recordsOf(debit)).toEqual(['0 delivered 1', '1 delivered 1'])
    }
  })
  expect([hasEnded, await recordsOf(hanging)]).toEqual([false, []])
  answer = (_path, response) => response.writeHead(503).end()
  for (const response of held.splice(0)) response.writeHead(503).end()
  expect(await run).toEqual(DONE)
  expect(await recordsOf(hanging)).toEqual(['0 failed 1', '1 failed 1'])
})

test('the ten messages of one provider read its webhook once, and their debits once each', async () => {
  const debits = await atOnce(10, () => storeWithWebhook('shared'))
  units = { read: 0, write: 0 }
  expect(await invoke(debits.map(charged))).toEqual(DONE)
  expect(units).toEqual({ read: 11.5, write: 10 })
  expect(arrived).toHaveLength(20)
})

test('three messages of a debit with four events write three items', async () => {
  const debit = await storeWithWebhook('completes', ['processing', 'completed'])
  const { reference } = debit.facts
  units = { read: 0, write: 0 }
  await invoke([charged(debit), { reference, n: 2, attempt: 1 }, { reference, n: 3, attempt: 1 }])
  expect(units).toEqual({ read: 4.5, write: 3 })
  expect(await recordsOf(debit)).toEqual([0, 1, 2, 3].map((n) => `${n} delivered 1`))
  const receipt = await read<object>(keys.receipt(reference))
  expect(bytesOf(receipt as never)).toBeLessThan(700)
})

test('the message of an invocation that failed before its write is attempted and recorded again', async () => {
  const debit = await storeWithWebhook('repeats')
  const restore = aroundTableCalls(async (name, next) => {
    if (name === 'Put') throw new Error('unavailable')
    return next()
  })
  const failed = await invoke([charged(debit)])
  restore()
  expect(failed).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-1' }] })
  expect(await recordsOf(debit)).toEqual([])
  expect(await invoke([charged(debit)])).toEqual(DONE)
  expect(arrived).toHaveLength(4)
  expect(await recordsOf(debit)).toEqual(['0 delivered 1', '1 delivered 1'])
  expect(await invoke([charged(debit)])).toEqual(DONE)
  expect(arrived).toHaveLength(4)
})

test('an event from before the subscription is not attempted, and stays without a record', async () => {
  const later = new Date(NOON.getTime() + 1)
  const debits = await Promise.all([
    storeWithWebhook('began', [], { since: later }),
    storeWithWebhook('added', [], { subscribedAt: { 'transaction.created': later.toISOString() } }),
  ])
  expect(await invoke(debits.map(charged))).toEqual(DONE)
  expect(arrived.map(({ event }) => event)).toEqual(['transaction.pending'])
  expect(await Promise.all(debits.map(recordsOf))).toEqual([[], ['1 delivered 1']])
})

test('a malformed message fails alone', async () => {
  const debit = await storeWithWebhook('alone')
  const response = await invoke([{ reference: 'x' }, charged(debit)])
  expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-1' }] })
  expect(arrived).toHaveLength(2)
})

test('each event whose first attempt fails has a record of its own', async () => {
  const debit = await storeWithWebhook('fails')
  const codes = [204, 503]
  answer = (_, response) => response.writeHead(codes.shift() ?? 204).end()
  await invoke([charged(debit)])
  expect(await recordsOf(debit)).toEqual(['0 delivered 1', '1 failed 1'])
  await invoke([{ reference: debit.facts.reference, n: 1, attempt: 2 }])
  expect(await recordsOf(debit)).toEqual(['0 delivered 1', '1 delivered 2'])
})

test('a redelivery of an event in the receipt leaves the other event unchanged', async () => {
  for (const n of [0, 1]) {
    const debit = await storeWithWebhook(`redelivers-${n}`)
    await invoke([charged(debit)])
    const [first, second] = await listDeliveries(debit.facts.reference)
    await requestRedelivery(debitEvent(debit, n), real)
    await invoke([{ reference: debit.facts.reference, n, attempt: 2 }])
    const after = await listDeliveries(debit.facts.reference)
    expect(after[1 - n]).toEqual([second, first][n])
    expect(after[n]).toMatchObject({ n, status: 'delivered', attemptCount: 2 })
  }
})

test('each attempt is recorded once if two workers receive one message', async () => {
  for (const code of [204, 503]) {
    const debit = await storeWithWebhook(`twice-${code}`)
    arrived.length = 0
    answer = (_, response) => response.writeHead(code).end()
    await Promise.all([invoke([charged(debit)]), invoke([charged(debit)])])
    const ended = arrived.filter(({ event }) => event === 'transaction.created')
    const [created] = await listDeliveries(debit.facts.reference)
    expect(created).toMatchObject({ attemptCount: ended.length })
  }
})

test('a failed attempt whose record is written again after a lost response counts once', async () => {
  const debit = await storeWithWebhook('lost-reply')
  answer = (_, response) => response.writeHead(503).end()
  aroundTableCalls(async (name, next) => {
    if (name === 'Put') await next()
    return next()
  })
  expect(await invoke([charged(debit)])).toEqual(DONE)
  expect(await recordsOf(debit)).toEqual(['0 failed 1', '1 failed 1'])
})

test('two redeliveries that are requested at once make one attempt due', async () => {
  const debit = await storeWithWebhook('asks-twice')
  await invoke([charged(debit)])
  const [first, second] = await atOnce(2, (n) =>
    requestRedelivery(debitEvent(debit, 0), { now: () => inSeconds(n) }),
  )
  // Either can be first.
  expect(first).toMatchObject({ status: 'pending' })
  expect(second).toEqual(first)
})

test('a redelivery that is requested before the receipt is written keeps its record', async () => {
  const debit = await storeWithWebhook('overtakes')
  answer = async (_, response) => {
    if (arrived.length === 2) await requestRedelivery(debitEvent(debit, 1), real)
    response.writeHead(204).end()
  }
  await invoke([charged(debit)])
  const deliveries = await listDeliveries(debit.facts.reference)
  expect(deliveries.map(({ last }) => last?.id)).toEqual(arrived.map(({ id }) => id))
  expect(await read(keys.delivery(debit.facts.reference, 1))).toMatchObject({ attemptCount: 1 })
})

test('the next invocation uses a changed webhook', async () => {
  const debits = await Promise.all([storeWithWebhook('changes'), storeWithWebhook('changes')])
  const [first, second] = debits.map(charged)
  const job = deliverWebhook(real)
  await invoke([first], job)
  await storeWebhook(providerId('changes'), {
    ...webhook,
    url: `${receiverUrl()}/changed`,
    signaturePrefix: 'sha256',
  })
  await invoke([second], job)
  expect(arrived.map(({ path }) => path)).toEqual(['/changes', '/changes', '/changed', '/changed'])
  expect(arrived.at(-1)?.signature).toMatch(/^sha256=/)
})

test('one of ten messages at a receiver that hangs keeps waiting, and nine are aborted', async () => {
  answer = (_, response) => held.push(response)
  const debits = await atOnce(10, () => storeWithWebhook('silent', [], { timeoutSeconds: 3 }))
  // Two seconds take 0.1 s, five 0.25 s.
  const pause: typeof real.pause = (milliseconds, signal) => real.pause(milliseconds / 20, signal)
  expect(await invoke(debits.map(charged), deliverWebhook({ ...real, pause }))).toEqual(DONE)
  const deliveries = await Promise.all(debits.map(({ facts }) => listDeliveries(facts.reference)))
  // An aborted attempt raises the maximum of three.
  const maxima = deliveries.flat().map(({ attemptsMax }) => attemptsMax)
  expect(maxima.sort()).toEqual([3, ...Array.from({ length: 9 }, () => 4)])
  expect(sends.reduce((sum, count) => sum + count, 0)).toBe(10)
})

test('an aborted attempt does not count, and the next one has all its time in the sidelined queue', async () => {
  answer = (_, response) => held.push(response)
  const provider = providerId('hangs-again')
  const event = debitEvent(await storeWithWebhook(provider), 0)
  const settings = { ...webhook, url: receiverUrl(), timeoutSeconds: 3 }
  const unavailable = { kind: 'answered', code: 503, body: '' } as const
  const timing = { id: 'dlv_1', at: NOON, milliseconds: 5, address: '127.0.0.1', sentAs: 'x' }
  const abandoned = [1, 2, 3, 4].reduce(
    (record) => recordAttempt(record, unavailable, timing, 0),
    newDelivery(event, { attemptsMax: 4 }),
  )
  const previous = redeliver(abandoned, NOON)
  await replaceDelivery(undefined, previous)
  await changeHealth(provider, () => ({ slowSince: NOON }))
  const pause: typeof real.pause = (milliseconds, signal) => real.pause(milliseconds / 20, signal)
  const attempt = await attemptDelivery(
    { event, previous, number: 5, webhook: settings, health: {}, skipsSlowReceivers: true },
    { ...real, pause },
  )
  await saveAttempts(attempt ? [attempt] : [], real)
  const statuses = async () =>
    (await listDeliveries(event.reference)).map(
      ({ status, attemptCount, attemptsMax }) => `${status} ${attemptCount}/${attemptsMax}`,
    )
  expect(await statuses()).toEqual(['failed 5/6'])
  await changeHealth(provider, () => ({}))
  answer = (_, response) => response.end()
  const message = { reference: event.reference, n: 0, attempt: 6 }
  await invoke([message])
  expect([arrived.length, sends]).toEqual([1, [1]])
  await invoke([message], deliverSidelinedWebhook(real))
  expect(await statuses()).toEqual(['delivered 6/6'])
})

test('a receiver that responds at once and sends its body slowly is not slow', async () => {
  answer = (_, response) => response.writeHead(200).write('thanks')
  const debits = await atOnce(2, () => storeWithWebhook('drips', [], { timeoutSeconds: 3 }))
  // Two seconds take 0.67 s, and the body 1 s.
  const pause: typeof real.pause = (milliseconds, signal) => real.pause(milliseconds / 3, signal)
  expect(await invoke(debits.map(charged), deliverWebhook({ ...real, pause }))).toEqual(DONE)
  const deliveries = await Promise.all(debits.map(({ facts }) => listDeliveries(facts.reference)))
  const ends = deliveries.flat().map(({ status, attemptsMax }) => `${status} ${attemptsMax}`)
  expect(ends).toEqual(Array(4).fill('delivered 3'))
  expect([await findHealth(providerId('drips')), sends]).toEqual([{}, []])
})

test('an attempt whose slow mark cannot be written continues', async () => {
  const debit = await storeWithWebhook('unmarked')
  const { promise: refused, resolve: refuse } = Promise.withResolvers<void>()
  const restore = aroundTableCalls((_, next, command) => {
    if (!command().includes('"entity":"webhook-health"')) return next()
    restore()
    refuse()
    return Promise.reject(new Error('throttled'))
  })
  answer = (_, response) => refused.then(() => response.end())
  const pause = async () => undefined
  const message = { reference: debit.facts.reference, n: 0, attempt: 1 }
  expect(await invoke([message], deliverWebhook({ ...real, pause }))).toEqual(DONE)
  expect(await recordsOf(debit)).toEqual(['0 delivered 1'])
})

test('the ten messages of a slow receiver move to the sidelined queue in at most two calls', async () => {
  const debits = await atOnce(10, () => storeWithWebhook('slow'))
  await changeHealth(providerId('slow'), () => ({ slowSince: NOON }))
  expect(await invoke(debits.map(charged))).toEqual(DONE)
  expect(sends.reduce((sum, count) => sum + count, 0)).toBe(10)
  expect(sends.length).toBeLessThanOrEqual(2)
  expect(arrived).toEqual([])
})

test('a message about an event that a restore has lost is handled without a request', async () => {
  expect(await invoke([charged(pendingDebit())])).toEqual(DONE)
  expect([arrived, sends]).toEqual([[], []])
})

test.each([
  [1_999, false],
  [2_000, true],
])('a slow webhook whose ping takes %d ms stays slow: %s', async (milliseconds, isSlow) => {
  const provider = providerId('pinged')
  await storeWebhook(provider, { ...webhook, url: `${receiverUrl()}/pinged` })
  await changeHealth(provider, () => ({ slowSince: NOON }))
  const times = [0, milliseconds].map((time) => new Date(time))
  await pingWebhook(provider, { ...real, wallTime: () => times.shift() ?? NOON })
  expect((await findHealth(provider)).slowSince !== undefined).toBe(isSlow)
})
