import { beforeAll, describe, expect, test } from 'vitest'
import { useReceiver } from '../support/receiver.ts'
import { deliveriesPath, SILENT, statusPath } from '../support/requests.ts'
import { codeOf, type Shown, useService } from '../support/running-service.ts'

/** The scenarios of a sandbox (docs/testing.md#scenarios). */

const service = useService()
const receiver = useReceiver()

const call = async (method: string, path: string, body?: unknown) => {
  const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const { status, headers, ...response } = await fetch(
    `${service.sandbox().address}/sandbox/${path}`,
    init,
  ).then(async (reply) => ({
    status: reply.status,
    headers: reply.headers,
    body: await reply.json(),
  }))
  return { status, headers, body: response.body as Shown }
}
const play = (name: string, body?: unknown) => call('POST', `scenarios/${name}`, body)
const played = async (name: string, reference?: string): Promise<Shown> => {
  const reply = await play(name, reference === undefined ? undefined : { reference })
  expect(codeOf(reply), JSON.stringify(reply.body)).toBe('200')
  return reply.body.data
}

beforeAll(async () => {
  for (const [owner, operation] of [
    [{ provider: 'demo' }, 'charge'],
    [{ bank: 'GCB' }, 'debit-callback'],
  ] as const) {
    await service.call('limit', 'set', { ...owner, operation, 'per-minute': '100000' })
  }
})

const dataOf = async (path: string): Promise<Shown> => (await service.get(path)).body.data

/** Returns what the provider and the operators read after a scenario, by the fields of a row. */
const endOf = async (reference: string): Promise<Shown> => {
  const debit = await dataOf(statusPath(reference))
  const exceptions = (await service.exceptions(reference)).filter(
    ({ resolved_at }) => resolved_at === null,
  )
  return {
    status: debit.status,
    code: debit.error_details?.code,
    message: debit.error_message ?? undefined,
    refund: debit.refund?.status,
    exceptions: exceptions.map(({ kind }) => kind).join() || undefined,
  }
}

const failed = (code: string) => ({ status: 'failed', code })

const ends: Record<string, Shown> = {
  completed: { status: 'completed' },
  'failed-insufficient-funds': failed('insufficient_funds'),
  'failed-invalid-account': failed('invalid_account'),
  'failed-transaction-declined': failed('transaction_declined'),
  'failed-timeout': failed('timeout'),
  'failed-network-error': failed('network_error'),
  'failed-unknown-error': failed('unknown_error'),
  'silent-bank': { status: 'processing' },
  bank_outage: { status: 'processing' },
  'timeout-before-approval': { ...failed('timeout'), message: 'Transaction timeout' },
  'timeout-after-approval': { ...failed('timeout'), message: 'Bank processing timeout' },
  'late-completion': { ...failed('transaction_declined'), exceptions: 'late_completion' },
  contradiction: { status: 'completed', exceptions: 'contradiction' },
  'refused-report': { status: 'processing', exceptions: 'refused_report' },
  'reversed-and-refunded': { status: 'reversed', refund: 'completed' },
  'refund-rejected': { status: 'reversed', refund: 'failed', exceptions: 'refund' },
  'webhook-abandoned-and-recovered': { status: 'completed' },
  'slow-receiver': { status: 'completed' },
  'settled-and-paid-out': { status: 'completed' },
  'payout-rejected': { status: 'completed' },
  'negative-batch': { status: 'reversed', refund: 'completed' },
  'exception-to-resolve': { status: 'completed', exceptions: 'refused_report' },
}

test('the list has each scenario with its description', async () => {
  const { status, body } = await call('GET', 'scenarios')
  expect(status).toBe(200)
  expect(body.data.map(({ name }: Shown) => name)).toEqual(Object.keys(ends))
  for (const { description } of body.data) expect(description).toMatch(/^[A-Z].*\.$/)
})

describe.each(['a new sandbox', 'a used sandbox'])('a scenario in %s', () => {
  test.each(Object.entries(ends))('the scenario %s ends as %j', async (name, end) => {
    const { reference, status } = await played(name)
    expect(status).toBe(end.status)
    expect(await endOf(reference)).toMatchObject(end)
  })
})

const batchOf = (id: string) => dataOf(`/api/v1/payment-providers/settlements/${id}`)

test('the result of a settlement names its batch', async () => {
  const { batch } = await played('settled-and-paid-out')
  expect(await batchOf(batch.id)).toMatchObject({ status: 'completed', paid: batch.paid })
  expect(Number(batch.paid)).toBeGreaterThan(0)
  const rejected = (await played('payout-rejected')).batch
  const failure = 'The account cannot be paid'
  expect(await batchOf(rejected.id)).toMatchObject({ status: 'failed', failure })
  const retried = await service.call('settlement', 'retry', { batch: rejected.id })
  expect(retried).toMatchObject({ status: 'completed' })
})

test('the result of a reversal after the settlement names both batches', async () => {
  const { reference, settled_in, batch } = await played('negative-batch')
  const { settlement } = await dataOf(statusPath(reference))
  expect(settlement).toEqual({ batch_id: settled_in, adjusted_in: batch.id })
  expect(await batchOf(batch.id)).toMatchObject({ status: 'pending', net: '-4.92' })
})

test('a payout is rejected although a batch below zero takes the whole net of an earlier one', async () => {
  await played('negative-batch', (await played('settled-and-paid-out')).reference)
  const { batch } = await played('payout-rejected')
  expect(batch).toMatchObject({ status: 'failed' })
})

test('the result of a receiver’s failure has the attempts', async () => {
  const lost = await played('webhook-abandoned-and-recovered')
  const attempts = [{ response_code: 503 }, { response_code: 503 }, { response_code: 204 }]
  expect(lost.delivery).toMatchObject({ status: 'delivered', attempts })
  const deliveries = await dataOf(deliveriesPath(lost.reference))
  expect(deliveries.find(({ id }: Shown) => id === lost.delivery.id).attempt_count).toBe(3)
  const slow = await played('slow-receiver')
  expect(slow).toMatchObject({ is_sidelined: true, delivery: { status: 'delivered' } })
  expect(slow.delivery.attempts[0].duration_ms).toBeGreaterThan(2_000)
})

test('the result of exception-to-resolve is resolved by a note', async () => {
  const { reference } = await played('exception-to-resolve')
  await service.call('exception', 'resolve', { reference, note: 'The bank corrected it' })
  expect(await endOf(reference)).toEqual({ status: 'completed' })
})

const silent = (fields = {}) => service.charge({ phone_number: SILENT, ...fields })

test.each([
  ['completed', 'completed'],
  ['failed-network-error', 'failed'],
  ['timeout-after-approval', 'failed'],
  ['late-completion', 'failed'],
  ['refund-rejected', 'reversed'],
  ['slow-receiver', 'completed'],
  ['settled-and-paid-out', 'completed'],
])('the scenario %s ends this debit as %s', async (name, status) => {
  const { reference } = await silent({ bank_identifier: 'ECO' })
  await service.until(reference, 'processing')
  expect(await played(name, reference)).toMatchObject({ reference, status })
})

test('a scenario continues from an earlier one', async () => {
  const { reference } = await silent()
  for (const name of ['completed', 'settled-and-paid-out', 'negative-batch']) {
    expect((await played(name, reference)).reference).toBe(reference)
  }
  const end = { status: 'reversed', refund: 'completed' }
  expect(await endOf(reference)).toEqual(end)
})

test('a debit that does not fit is 422/1007, an unknown one 404/3404', async () => {
  const { reference } = await silent()
  await played('completed', reference)
  for (const name of ['completed', 'failed-timeout', 'late-completion', 'silent-bank']) {
    const reply = await play(name, { reference })
    expect(codeOf(reply), name).toBe('422/1007')
    expect(Object.keys(reply.body.details)).toEqual(['reference'])
  }
  const other = await silent({ bank_identifier: 'SBG' })
  const { body } = await play('completed', { reference: other.reference })
  const reason = 'is at SBG, which has no token bt_sandbox_sbg'
  expect(body.details).toEqual({ reference: [reason] })
  for (const unknown of ['DCS-20200101-ZZZZZZ', 'x']) {
    expect(codeOf(await play('completed', { reference: unknown }))).toBe('404/3404')
  }
})

const behaviour = async () => (await service.call('bank', 'show', { bank: 'GCB' })).behaviour
const webhook = () => service.call('webhook', 'show', { provider: 'demo' })

test('a scenario restores the behaviour of a bank, also if it fails', async () => {
  await service.call('bank', 'behave', { bank: 'ECO', as: 'silent', for: '1h' })
  const eco = async () => (await service.call('bank', 'show', { bank: 'ECO' })).behaviour
  const before = await eco()
  const fields = { bank_identifier: 'ECO', phone_number: SILENT }
  const { reference } = await service.chargeUntil('processing', fields)
  await played('refund-rejected', reference)
  const after = await eco()
  expect(after).toMatchObject({ as: 'silent', code: null })
  expect(Math.abs(Date.parse(after.until) - Date.parse(before.until))).toBeLessThan(2_000)
  await service.call('bank', 'behave', { bank: 'ECO', as: 'normal' })
  await service.call('provider', 'update', { provider: 'demo', 'settlement-account': 'none' })
  expect(codeOf(await play('payout-rejected'))).toBe('409/1409')
  expect(await behaviour()).toBeNull()
  await service.call('provider', 'update', {
    provider: 'demo',
    'settlement-bank': 'GCB',
    'settlement-account': '1041009001',
    'settlement-name': 'Demo Payments Ltd',
  })
})

test('a scenario restores the webhook, and the provider receives other events later', async () => {
  await expect(webhook()).rejects.toThrow('has no webhook')
  const settings = { events: 'transaction.completed,transaction.failed', 'max-attempts': '4' }
  await service.call('webhook', 'set', { provider: 'demo', url: receiver.url(), ...settings })
  const before = await webhook()
  const [own, { reference }] = await Promise.all([
    played('webhook-abandoned-and-recovered'),
    service.charge({ phone_number: '+233240000001' }),
  ])
  expect(await webhook()).toMatchObject({ ...before, recovered_at: expect.anything() })
  await receiver.events(reference, 1)
  await played('completed', (await service.charge({ phone_number: SILENT })).reference)
  expect(receiver.received.some(({ raw }) => raw.includes(own.reference))).toBe(false)
  await service.call('webhook', 'remove', { provider: 'demo' })
})

test('a slow receiver is slow for the undelivered events of other debits, too', async () => {
  await service.call('webhook', 'set', { provider: 'demo', url: 'http://127.0.0.1:9/closed' })
  await played('completed')
  await service.pass(3_600)
  expect(await played('slow-receiver')).toMatchObject({ is_sidelined: true })
  await service.call('webhook', 'remove', { provider: 'demo' })
})

test('a scenario plays while the clock is frozen', async () => {
  await service.sandbox().control.clock.freeze(true)
  await played('webhook-abandoned-and-recovered')
  await played('timeout-before-approval')
  await service.sandbox().control.clock.freeze(false)
})

test('a scenario passes refusals of the API on', async () => {
  const limit = { provider: 'demo', operation: 'charge', 'per-minute': '1' }
  await service.call('limit', 'set', limit)
  const reply = await play('completed')
  expect(codeOf(reply)).toBe('429/1456')
  expect(reply.body.details).toMatchObject({ limit: 1 })
  await service.call('limit', 'remove', { provider: 'demo' })
})

test.each([
  ['POST', 'scenarios/unknown', undefined, '404/1404'],
  ['POST', 'scenarios', undefined, '405/1405'],
  ['GET', 'scenarios/completed', undefined, '405/1405'],
  ['POST', 'scenarios/completed', [], '400/1400'],
  ['POST', 'scenarios/completed', { reference: 5 }, '422/1007'],
  ['POST', 'scenarios/completed', { debit: 'DCS-20261122-BGF6MD' }, '422/1007'],
])('the request %s %s with %j is refused as %s', async (method, path, body, code) => {
  expect(codeOf(await call(method, path, body))).toBe(code)
})
