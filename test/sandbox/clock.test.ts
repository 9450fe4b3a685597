import { beforeEach, expect, test, vi } from 'vitest'
import { startRealClock } from '../../sandbox/aws/clock.ts'
import { eventually } from '../support/eventually.ts'
import { atOnce } from '../support/examples.ts'
import { useReceiver } from '../support/receiver.ts'
import { CHARGE, chargeBody, SILENT, sign, statusPath } from '../support/requests.ts'
import { rowsOf } from '../support/rows.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** The clock of a sandbox and its reset (docs/sandbox.md#control). */

const service = useService()
const receiver = useReceiver()
const HOUR_MS = 3_600_000

const control = async (path: string, body?: unknown, method = 'POST') => {
  const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(`${service.sandbox().address}/sandbox/${path}`, init)
  return { status: response.status, body: (await response.json()) as Shown }
}
const move = async (body: unknown) => {
  const reply = await control('clock', body)
  expect(reply.body.error).toBeUndefined()
  expect(reply.body.data.ready).toBe(true)
  return new Date(reply.body.data.now)
}
const clock = async (): Promise<Shown> => (await control('clock', undefined, 'GET')).body.data
const statusOf = async (reference: string) => (await service.show(reference)).status

beforeEach(async () => void expect((await control('reset')).status).toBe(200))

test('the clock runs by the time of this machine until it is moved', async () => {
  const { now, frozen, ready } = await clock()
  expect(Math.abs(Date.parse(now) - Date.now())).toBeLessThan(5_000)
  expect({ frozen, ready }).toEqual({ frozen: false, ready: true })
})

test('a move brings a debit to its end, and its events to the receiver, before the reply', async () => {
  await service.call('webhook', 'set', { provider: 'demo', url: receiver.url() })
  const { reference } = await service.charge()
  await move({ advance: '1m' })
  expect(await statusOf(reference)).toBe('completed')
  const events = await receiver.events(reference, 4)
  expect(events.map(({ body }) => body.event)).toEqual(
    ['created', 'pending', 'processing', 'completed'].map((name) => `transaction.${name}`),
  )
  // They are signed by the time of this machine, which the receiver compares with its own.
  const listed: Shown[] = await service.call('delivery', 'list', { reference })
  const logged = listed.map(({ attempts: [{ request_headers: headers }] }) => [
    headers['X-SVC-Delivery-ID'],
    headers['X-SVC-Timestamp'],
  ])
  const sent = events.map(({ headers }) => [
    headers['x-svc-delivery-id'],
    headers['x-svc-timestamp'],
  ])
  expect(Object.fromEntries(logged)).toEqual(Object.fromEntries(sent))
})

test('a move reaches the end of five days with a failing webhook, which is then disabled', async () => {
  receiver.otherwise = () => 500
  await service.call('webhook', 'set', { provider: 'demo', url: receiver.url('/failing') })
  await service.charge()
  await move({ advance: '5d' })
  await service.charge()
  await move({ advance: '1m' })
  expect(await service.call('webhook', 'show', { provider: 'demo' })).toMatchObject({
    health: 'disabled',
  })
})

test('a move past two midnights settles and pays a day', async () => {
  const { reference } = await service.charge()
  await move({ advance: '1m' })
  await move({ advance: '50h' })
  const [batch] = await service.call('settlement', 'list', { provider: 'demo' })
  expect(batch).toMatchObject({ status: 'completed', count: 1 })
  expect(await service.show(reference)).toMatchObject({ status: 'completed' })
})

test('a clock that is stopped while it moves ends its move', async () => {
  const stopped = startRealClock()
  const act = vi.fn()
  stopped.after(1_000, stopped.stop)
  stopped.after(1_000, act)
  await stopped.moveTo(stopped.now() + 2_000, async () => {
    for (let turns = 0; stopped.runDue(); turns += 1)
      if (turns === 10) throw new Error('The clock never becomes idle')
  })
  expect(act).not.toHaveBeenCalled()
})

test('the clock stops while it is frozen, and continues from there', async () => {
  const frozen = await move({ freeze: true })
  const { reference } = await service.charge()
  expect(await clock()).toMatchObject({ now: frozen.toISOString(), frozen: true })
  const later = await move({ advance: '40s' })
  expect(later.getTime() - frozen.getTime()).toBe(40_000)
  expect(await clock()).toMatchObject({ now: later.toISOString(), frozen: true })
  expect(await statusOf(reference)).toBe('completed')
  const running = await move({ freeze: false })
  expect(running.getTime()).toBeGreaterThanOrEqual(later.getTime())
  expect(await clock()).toMatchObject({ frozen: false })
})

test('a clock that moves, but is not frozen, is neither frozen nor ready', async () => {
  let isMoving = true
  const moving = move({ advance: '1d' }).finally(() => {
    isMoving = false
  })
  const states: Shown[] = []
  while (isMoving) states.push(await clock())
  await moving
  expect(states).toContainEqual(expect.objectContaining({ ready: false }))
  expect(states.filter(({ frozen }) => frozen)).toEqual([])
})

test('a function that runs while the clock is frozen has exactly its time', async () => {
  const frozen = await move({ freeze: true })
  vi.useFakeTimers({ now: Date.now() - 1_000, toFake: ['Date'] })
  try {
    const { reference } = await service.charge()
    expect(await service.show(reference)).toMatchObject({ created_at: frozen.toISOString() })
  } finally {
    vi.useRealTimers()
  }
})

test('the clock moves to an instant, one move after the other', async () => {
  const [first, second] = [6, 3].map((hours) => new Date(Date.now() + hours * HOUR_MS))
  const replies = await Promise.all([
    control('clock', { to: first }),
    control('clock', { advance: '1h' }),
  ])
  const state = { frozen: false, ready: true }
  expect(replies.map(({ body }) => body.data)).toMatchObject([state, state])
  const now = Date.parse((await clock()).now)
  expect(now - (first as Date).getTime()).toBeGreaterThanOrEqual(HOUR_MS)
  expect((await control('clock', { to: second })).status).toBe(422)
})

test.each(
  rowsOf(`
      {"to":"2020-01-01T00:00:00Z"}      422/1007  must not be before the time of the clock
      {"to":"tomorrow"}                  422/1007  must be a time like 2026-11-21T10:00:00Z
      {"to":"2126-02-30T00:00:00Z"}      422/1007  must be a time like 2026-11-21T10:00:00Z
      {"advance":"6"}                    422/1007  must be a duration such as 30s, 6m, 2h or 5d
      {"advance":"-6m"}                  422/1007  must be a duration such as 30s, 6m, 2h or 5d
      {"advance":"367d"}                 422/1007  must be at most 366 days ahead
      {"advance":"1m","freeze":true}     422/1007  must have one of advance, to, freeze
      {}                                 422/1007  must have one of advance, to, freeze
      []                                 400/1400  body must be a JSON object
    `),
)('the clock refuses %s with %s: %s', async (body = '', code = '', reason = '') => {
  const before = Date.parse((await clock()).now)
  const reply = await control('clock', JSON.parse(body))
  expect(`${reply.status}/${reply.body.error.code}`).toBe(code)
  expect(JSON.stringify(reply.body.details)).toContain(reason)
  expect(Date.parse((await clock()).now) - before).toBeLessThan(60_000)
})

test('a reset lifts a request limit that is used up', async () => {
  const limit = { provider: 'demo', operation: 'charge', 'per-minute': '1' }
  for (let resets = 0; resets < 2; resets += 1) {
    await service.call('limit', 'set', limit)
    const replies = await atOnce(4, () =>
      service.send('POST', CHARGE, { credential: 'sk_sandbox_demo', body: chargeBody() }),
    )
    expect(replies.map(({ status }) => status)).toContain(202)
    await control('reset')
  }
})

test('the clock moves neither rate limits nor the age of signatures', async () => {
  await move({ advance: '2h' })
  const body = JSON.stringify(chargeBody())
  const headers = sign({ method: 'POST', path: CHARGE, body })
  const charged = await service.send('POST', CHARGE, {
    credential: 'sk_sandbox_signed',
    body,
    headers,
  })
  expect(charged.status).toBe(202)
  const minute = Math.floor(Date.now() / 60_000)
  const replies = await atOnce(70, () => service.send('GET', '/unknown'))
  expect(replies.some(({ status }) => status === 429)).toBe(true)
  await move({ advance: '2h' })
  const again = await service.send('GET', '/unknown')
  if (Math.floor(Date.now() / 60_000) === minute) expect(again.status).toBe(429)
})

test('a reset restores the seeds and the time of this machine', async () => {
  const { reference } = await service.charge()
  await service.call('provider', 'update', { provider: 'demo', name: 'Renamed' })
  await move({ advance: '3d' })
  expect((await control('reset')).status).toBe(200)
  expect((await service.get(statusPath(reference))).status).toBe(404)
  expect(await service.call('provider', 'show', { provider: 'demo' })).toMatchObject({
    name: 'Demo Payments',
  })
  expect(Math.abs(Date.parse((await clock()).now) - Date.now())).toBeLessThan(5_000)
  expect((await service.charge()).reference).not.toBe(reference)
})

test('a bank that is created after a reset to an earlier time can be charged', async () => {
  await move({ advance: '1h' })
  await service.charge()
  await control('reset')
  const bank = { bank: 'LATER', name: 'Later Bank', connector: 'sandbox' }
  await service.call('bank', 'create', bank)
  const { reference } = await service.charge({ bank_identifier: 'LATER' })
  expect(await service.show(reference)).toMatchObject({ bank: 'LATER' })
})

test('a reset leaves no job of the earlier state: its debits, timers and webhooks are gone', async () => {
  await service.call('webhook', 'set', { provider: 'demo', url: receiver.url('/before') })
  const { reference } = await service.charge({ phone_number: SILENT })
  await receiver.events(reference, 3)
  await control('reset')
  const count = receiver.received.length
  await move({ advance: '1d' })
  expect(receiver.received.length).toBe(count)
  expect(await service.call('debit', 'list', { provider: 'demo', status: 'failed' })).toEqual([])
})

/** Starts a scenario, and returns its reply when it runs. */
const startScenario = async () => {
  await service.call('webhook', 'set', { provider: 'demo', url: receiver.url('/before') })
  const playing = control('scenarios/slow-receiver')
  await eventually(async () => {
    const { url } = await service.call('webhook', 'show', { provider: 'demo' })
    expect(url).not.toBe(receiver.url('/before'))
  })
  return { playing }
}

test('a reset waits for the end of a scenario, which restores nothing afterwards', async () => {
  const { playing } = await startScenario()
  expect((await control('reset')).status).toBe(200)
  expect((await playing).status).toBe(200)
  expect(await service.call('webhook', 'list')).toEqual([])
})

test('a move waits for the end of a scenario, which depends on the time', async () => {
  const { playing } = await startScenario()
  const ended: string[] = []
  const moving = move({ advance: '6m' }).then(() => ended.push('move'))
  expect((await playing.finally(() => ended.push('scenario'))).status).toBe(200)
  await moving
  expect(ended).toEqual(['scenario', 'move'])
})

test('a reset is atomic for callers: a charge during a reset is accepted', async () => {
  const resetting = control('reset')
  const charges = await atOnce(5, () =>
    service.send('POST', CHARGE, { credential: 'sk_sandbox_demo', body: chargeBody() }),
  )
  expect((await resetting).status).toBe(200)
  expect(charges.map(({ status }) => status)).toEqual(Array(5).fill(202))
})

test.each(
  rowsOf(`
    DELETE  clock  405/1405
    GET  reset  405/1405
    GET  nothing  404/1404
  `),
)('the request %s /sandbox/%s gets %s', async (method = '', path = '', code = '') => {
  const reply = await control(path, undefined, method)
  expect(`${reply.status}/${reply.body.error.code}`).toBe(code)
})
