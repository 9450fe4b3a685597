import { createServer } from 'node:http'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { listenAt } from '../../sandbox/local-server.ts'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { requestHmac } from '../../shared/request-hmac.ts'
import { real } from '../../shared/runtime.ts'
import { changeBankHealth } from '../../shared/store/banks/health.ts'
import { putFoundAccount } from '../../shared/store/banks/unknown-numbers.ts'
import { listDailyUse } from '../../shared/store/providers/daily-use.ts'
import { CHARGE, chargeBody } from '../support/requests.ts'
import { codeOf, type Reply, testInProcess, useService } from '../support/running-service.ts'

/** Numbers that are unknown here are asked at their bank during the charge (docs/api.md#charge). */

const service = useService()
const { call } = service
const SECRET = 'cs_a_secret_of_this_test'

let identifier = 0
type Answer = { status: number; body?: object } | 'silence'

/** Opens a bank that answers for accounts, and connects it. */
const bankAnswering = async (answer: () => Answer) => {
  identifier += 1
  const bank = `LK${identifier}`
  const requests: string[] = []
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request
    if (!path.startsWith('/accounts/')) return void response.writeHead(404).end()
    const timestamp = String(headers['x-timestamp'])
    const isSigned =
      headers['x-signature'] === requestHmac(SECRET, { method, path, timestamp, body: '' })
    requests.push(`${method} ${path} ${isSigned ? 'signed' : 'unsigned'}`)
    const reply = answer()
    if (reply === 'silence') return
    response.writeHead(reply.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(reply.body ?? {}))
  })
  const port = await listenAt(server, 0)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await call('bank', 'create', {
    ...{ bank, name: 'Bank', connector: 'http', 'connector-url': `http://127.0.0.1:${port}` },
    ...{ 'connector-secret': SECRET, 'account-lookup': 'on' },
  })
  return { bank, requests }
}

const charge = (bank_identifier: string, phone_number: string, fields = {}): Promise<Reply> => {
  const body = chargeBody({ bank_identifier, phone_number, ...fields })
  return service.send('POST', CHARGE, { credential: 'sk_sandbox_demo', body })
}
const accountAt = (bank: string, phone: string) =>
  service.operate('customer', 'show', { phone, bank })
const EFUA = { account_number: '1041007001', name: 'Efua Owusu', active: true }

beforeAll(async () => {
  await call('limit', 'set', { provider: 'demo', operation: 'charge', 'per-minute': '1000' })
})

test('the account of an unknown number is asked once, stored and used', async () => {
  const { bank, requests } = await bankAnswering(() => ({ status: 200, body: EFUA }))
  const phone = '+233207000001'
  expect(codeOf(await charge(bank, phone))).toBe('202')
  expect(codeOf(await charge(bank, phone))).toBe('202')
  expect(requests).toEqual([`GET /accounts/${phone} signed`])
  expect(await accountAt(bank, phone)).toMatchObject({
    result: { customer: 'Efua Owusu', account_number: '1041007001', status: 'active' },
  })
})

testInProcess('an account that an operator links while the bank is asked stays', async () => {
  const phone = '+233207000009' as PhoneNumber
  const account = { name: 'Ama Mensah', 'account-number': '1041001001' }
  await call('customer', 'link', { phone, bank: 'GCB', ...account })
  const found = {
    customerName: 'Efua Owusu',
    accountNumber: '1041007001',
    status: 'active',
  } as const
  await putFoundAccount(phone, 'GCB' as BankIdentifier, found, new Date(), real)
  const linked = { customer: 'Ama Mensah', account_number: '1041001001' }
  expect(await accountAt('GCB', phone)).toMatchObject({ result: linked })
})

test('an inactive account is stored as inactive', async () => {
  const { bank } = await bankAnswering(() => ({ status: 200, body: { ...EFUA, active: false } }))
  expect(codeOf(await charge(bank, '+233207000002'))).toBe('202')
  expect(await accountAt(bank, '+233207000002')).toMatchObject({ result: { status: 'inactive' } })
})

testInProcess(
  'a number without an account is refused, asked again after ten minutes, and counted',
  async () => {
    const { bank, requests } = await bankAnswering(() => ({ status: 404 }))
    const phone = '+233207000003'
    const { clock } = service.sandbox().control
    onTestFinished(() => clock.freeze(false))
    await clock.freeze(true)
    // Misses expire at whole seconds.
    await clock.advance(1_000 - clock.now().getMilliseconds())
    const first = dayOf(clock.now())
    for (const _ of [1, 2]) {
      const reply = await charge(bank, phone)
      expect(codeOf(reply)).toBe('404/1404')
      expect(reply.body.error).toMatchObject({ message: 'Account not found', category: 'accounts' })
    }
    await clock.advance(599_999)
    expect(codeOf(await charge(bank, phone))).toBe('404/1404')
    expect(requests.length).toBe(1)
    // Ten minutes after the reply of the bank, not after the last charge.
    await clock.advance(1)
    expect(codeOf(await charge(bank, phone))).toBe('404/1404')
    expect(requests.length).toBe(2)
    const days = [...new Set([first, dayOf(clock.now())])]
    const uses = await Promise.all(days.map((day) => listDailyUse('demo' as ProviderId, day)))
    const counts = uses
      .flatMap((use) => [...use.values()])
      .map(({ unknownNumbers = 0 }) => unknownNumbers)
    expect(counts.reduce((sum, count) => sum + count)).toBe(4)
  },
)

testInProcess('a bank that is down is not asked, and the charge is refused at once', async () => {
  const { bank, requests } = await bankAnswering(() => ({ status: 200, body: EFUA }))
  const now = service.sandbox().control.clock.now()
  const down = { state: 'down', since: now, failures: 5 } as const
  await changeBankHealth(bank as BankIdentifier, () => down, now)
  // Functions cache the health of banks for half a minute.
  await service.sandbox().control.clock.advance(31_000)
  expect(codeOf(await charge(bank, '+233207000008'))).toBe('503/2003')
  expect(requests).toEqual([])
  await service.sandbox().control.clock.advance(61_000)
  expect(codeOf(await charge(bank, '+233207000008'))).toBe('202')
})

testInProcess(
  'a bank that did not answer in time is asked again half a minute later, and refuses charges at once until then',
  async () => {
    const answers: Answer[] = ['silence', { status: 404 }]
    const { bank, requests } = await bankAnswering(
      () => answers.shift() ?? { status: 200, body: EFUA },
    )
    expect(codeOf(await charge(bank, '+233207000010'))).toBe('503/2003')
    expect(codeOf(await charge(bank, '+233207000011'))).toBe('404/1404')
    answers.push('silence')
    // As in production; a sandbox has no caches.
    vi.stubEnv('CACHE_SECONDS', '30')
    expect(codeOf(await charge(bank, '+233207000012'))).toBe('503/2003')
    const refused = await charge(bank, '+233207000013')
    expect([codeOf(refused), refused.headers.get('retry-after')]).toEqual(['503/2003', '30'])
    // Known without a question.
    expect(codeOf(await charge(bank, '+233207000011'))).toBe('404/1404')
    expect(requests.length).toBe(3)
    vi.unstubAllEnvs()
    await service.sandbox().control.clock.advance(31_000)
    expect(codeOf(await charge(bank, '+233207000013'))).toBe('202')
  },
)

test('a bank that is silent, fails or sends something else refuses the charge, and replays stay', async () => {
  const answers: Answer[] = [
    { status: 200, body: EFUA },
    { status: 500 },
    { status: 200, body: { name: 'x' } },
    'silence',
  ]
  const { bank } = await bankAnswering(() => answers.shift() ?? 'silence')
  const order = { partner_reference: 'looked-up-1' }
  expect(codeOf(await charge(bank, '+233207000004', order))).toBe('202')
  const from = performance.now()
  for (const phone of ['+233207000005', '+233207000006', '+233207000007']) {
    const reply = await charge(bank, phone)
    expect(codeOf(reply)).toBe('503/2003')
    expect(reply.headers.get('retry-after')).toBe('30')
  }
  expect(performance.now() - from).toBeGreaterThan(1_900)
  await call('customer', 'unlink', { phone: '+233207000004', bank })
  const replay = await charge(bank, '+233207000004', order)
  expect([codeOf(replay), replay.headers.get('idempotent-replayed')]).toEqual(['202', 'true'])
})

test('the sandbox bank has an account for each number, except some ends', async () => {
  await call('bank', 'update', { bank: 'ADB', 'account-lookup': 'on' })
  expect(codeOf(await charge('ADB', '+233207001234'))).toBe('202')
  expect(await accountAt('ADB', '+233207001234')).toMatchObject({
    result: { account_number: '1047001234' },
  })
  expect(codeOf(await charge('ADB', '+233207000000'))).toBe('404/1404')
  await call('bank', 'behave', { bank: 'ADB', as: 'down' })
  expect(codeOf(await charge('ADB', '+233207005678'))).toBe('503/2003')
  await call('bank', 'update', { bank: 'ADB', 'account-lookup': 'off' })
  expect(codeOf(await charge('ADB', '+233207005678'))).toBe('202')
})
