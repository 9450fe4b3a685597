import { expect, test, vi } from 'vitest'
import { isMistyped } from '../../shared/domain/token.ts'
import { table } from '../../shared/store/table.ts'
import { createProvider } from '../support/provider.ts'
import { CHARGE, chargeBody, SILENT } from '../support/requests.ts'
import { codeOf, type Shown, testInProcess, useService } from '../support/running-service.ts'

/** Operator verbs, by noun; refusals are in operator-refusals.test.ts. */

const service = useService({ timeScale: 60 })

const BANKS = '/api/v1/payment-providers/banks'
const idsOf = (listed: Shown[]): string[] => listed.map(({ id }) => id)

const charge = async (amount: string, credential?: string, bank = 'GCB'): Promise<string> => {
  const body = chargeBody({ amount, phone_number: SILENT, bank_identifier: bank })
  const sent = { credential: credential ?? 'sk_sandbox_demo', body }
  return codeOf(await service.send('POST', CHARGE, sent))
}

test('a credential is shown once, listed by its last characters and revoked by its id', async () => {
  const { token, id } = await service.call('credential', 'issue', { provider: 'demo' })
  expect(token).toMatch(/^sk_test_[0-9A-Za-z]{39}$/)
  expect(isMistyped(token)).toBe(false)
  expect((await service.get(BANKS, token)).status).toBe(200)
  const listed = await service.call('credential', 'list', { provider: 'demo' })
  expect(JSON.stringify(listed)).not.toContain(token)
  const shown = {
    ...{ id, kind: 'provider', owner: 'demo', last_characters: token.slice(-4) },
    ...{ created_at: expect.stringMatching(/^\d{4}-/), expires_on: null, revoked_at: null },
  }
  expect(listed).toContainEqual(shown)
  expect(await service.call('credential', 'show', { token })).toEqual(shown)
  expect(await service.call('credential', 'revoke', { id })).toEqual({ revoked: true })
  expect((await service.get(BANKS, token)).status).toBe(401)
  const { revoked_at } = await service.call('credential', 'show', { id })
  expect(revoked_at).toMatch(/^\d{4}-/)
})

test('a credential that is revoked again keeps its time, and its second revocation is not recorded', async () => {
  const { id } = await service.call('credential', 'issue', { provider: 'demo' })
  const revoke = (actor: string) => service.call('credential', 'revoke', { id }, actor)
  const stored = async () => [
    await service.call('credential', 'show', { id }),
    await service.changeOf(id),
  ]
  await revoke('local:kofi')
  const first = await stored()
  expect(first).toMatchObject([
    { revoked_at: expect.any(String) },
    { noun: 'credential', verb: 'revoke', by: 'local:kofi' },
  ])
  expect(await revoke('local:ama')).toEqual({ revoked: true })
  expect(await stored()).toEqual(first)
})

testInProcess(
  'a credential of a bank begins with bt_, is listed for the bank and is rejected after its expiry',
  async () => {
    const expiry = new Date(service.sandbox().control.clock.now().getTime() + 60_000)
    const options = { bank: 'ECO', 'expires-on': expiry.toISOString() }
    const { token, id } = await service.call('credential', 'issue', options)
    expect(token).toMatch(/^bt_test_[0-9A-Za-z]{39}$/)
    expect(idsOf(await service.call('credential', 'list', { bank: 'ECO' }))).toContain(id)
    const ofDemo = await service.call('credential', 'list', { provider: 'demo' })
    expect(idsOf(ofDemo)).not.toContain(id)
    const status = async () =>
      (await service.get('/api/v1/banks/debit-transactions?phone_number=%2B233241234567', token))
        .status
    expect(await status()).toBe(200)
    await service.pass(60)
    expect(await status()).toBe(401)
  },
)

testInProcess('a production credential begins with sk_live_ and cannot be chosen', async () => {
  vi.stubEnv('LIMITS', 'production')
  const { token } = await service.call('credential', 'issue', { provider: 'demo' })
  expect(token).toMatch(/^sk_live_[0-9A-Za-z]{39}$/)
  const chosen = { provider: 'demo', token: 'by_hand_1' }
  expect(await service.refusal('credential', 'issue', chosen)).toContain('for sandboxes only')
})

testInProcess('a credential with a wrong checksum gets the same 401 without a read', async () => {
  const { token } = await service.call('credential', 'issue', { provider: 'demo' })
  const mistyped = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
  const send = vi.spyOn(table, 'send')
  const request = async (credential: string) => {
    send.mockClear()
    const { status, body } = await service.get(BANKS, credential)
    const inputs = send.mock.calls.map(([{ input }]) => JSON.stringify(input))
    const reads = inputs.filter((input) => input.includes('"CREDENTIAL#')).length
    return { status, error: body.error, reads }
  }
  const unknown = await request('sk_sandbox_nobody')
  expect(unknown).toMatchObject({ status: 401, error: { code: 1401 }, reads: 1 })
  expect(await request(mistyped)).toEqual({ ...unknown, reads: 0 })
  expect(await request(token)).toMatchObject({ status: 200 })
  send.mockRestore()
})

test('a provider is listed, keeps its settings, and can call only while it is enabled', async () => {
  const provider = 'operated'
  const { credential } = await createProvider(service, provider, { 'allow-list': '127.0.0.0/8' })
  const listed = idsOf(await service.call('provider', 'list'))
  expect(listed).toEqual(expect.arrayContaining(['demo', provider]))
  expect(listed).toEqual(listed.toSorted())
  const before = await service.call('provider', 'show', { provider })
  const disabled = await service.call('provider', 'disable', { provider })
  expect(disabled).toEqual({ ...before, status: 'suspended', open: [] })
  expect(codeOf(await service.get(BANKS, credential))).toBe('403/1403')
  expect(await service.call('provider', 'enable', { provider })).toEqual(before)
  expect(codeOf(await service.get(BANKS, credential))).toBe('200')
})

test.each([
  ['limit', 'remove', {}],
  ['limit', 'set', { 'daily-limit': 'none' }],
  ['provider', 'update', { 'daily-limit': 'none' }],
])('the next daily limit counts charges after %s %s %o', async (noun, verb, options) => {
  const provider = `limit-${noun}-${verb}`
  const { credential } = await createProvider(service, provider, { 'daily-limit': '300.00' })
  const show = () => service.call('limit', 'show', { provider })
  expect(await charge('300.01', credential)).toBe('400/3005')
  expect(await charge('100.00', credential)).toBe('202')
  expect(await charge('200.01', credential)).toBe('400/3005')
  const day = new Date().toISOString().slice(0, 10)
  const used = { day, used: '100.00', left: '200.00' }
  expect(await show()).toMatchObject({ provider, daily_limit: '300.00', ...used })
  expect(await service.call('limit', 'list')).toContainEqual(
    expect.objectContaining({ provider, daily_limit: '300.00' }),
  )
  await service.call(noun, verb, { provider, ...options })
  expect(await show()).toMatchObject({ daily_limit: null, used: null, left: null })
  expect(await charge('250.00', credential)).toBe('202')
  await service.call('limit', 'set', { provider, 'daily-limit': '400.00' })
  expect(await show()).toMatchObject({ used: '350.00', left: '50.00' })
  const { invariants } = await service.call('reconciliation', 'run', { date: day })
  const { examples } = invariants.find(({ number }: Shown) => number === 20)
  expect(examples.filter((example: Shown) => example.provider === provider)).toEqual([])
})

const BANK_LIST = '/api/v1/banks/debit-transactions'
const limitOf = async (path: string, credential: string) =>
  Number((await service.get(path, credential)).headers.get('x-ratelimit-limit'))

test.each([
  ['provider', 'raised', 'list-banks', BANKS, 'sk_sandbox_raised', 'per_provider'],
  ['bank', 'ECO', 'list-debit-transactions', BANK_LIST, 'bt_sandbox_eco', 'per_token'],
])('a request limit of a %s is set, shown, listed, kept and reset', async (...row) => {
  const [owner, id, operation, path, credential, scope] = row
  if (owner === 'provider') await createProvider(service, id)
  const target = { [owner]: id }
  const before = await service.call('limit', 'show', target)
  expect(before).toMatchObject({
    overrides: {},
    requests_per_minute:
      owner === 'bank'
        ? { 'update-debit-transaction': { per_token: 10 }, 'debit-callback': { per_token: 60 } }
        : { 'get-debit-request': { per_reference: 60, per_provider: 1000 } },
  })
  const set = (limit: string) =>
    service.call('limit', 'set', { ...target, operation, 'per-minute': limit })
  const shown = await set('500')
  expect(shown).toMatchObject({
    overrides: { [operation]: 500 },
    requests_per_minute: { [operation]: { [scope]: 500 } },
  })
  await service.call(owner, 'update', { ...target, name: 'Renamed' })
  const sandbox = { ...target, connector: 'sandbox' }
  if (owner === 'bank') await service.call('connector', 'set', sandbox)
  expect(await service.call('limit', 'show', target)).toMatchObject(shown)
  expect(await service.call('limit', 'list')).toContainEqual(shown)
  expect(await limitOf(path, credential)).toBe(500)
  await set('default')
  expect(await limitOf(path, credential)).toBe(60)
  expect(await service.call('limit', 'show', target)).toEqual(before)
})

test('a disabled bank rejects charges and is listed as inactive', async () => {
  for (const [verb, status, code] of [
    ['disable', 'inactive', '402/1402'],
    ['enable', 'live', '202'],
  ] as const) {
    expect(await service.call('bank', verb, { bank: 'ZEN' })).toMatchObject({ status })
    expect(await charge('1.00', undefined, 'ZEN')).toBe(code)
  }
  const listed = await service.call('bank', 'list')
  expect(listed.map(({ identifier }: Shown) => identifier)).toContain('UMB')
  expect(await service.call('bank', 'show', { bank: 'UMB' })).toMatchObject({ connector: 'none' })
})

test('a suspended bank that is disabled stays suspended, and reports no outcome until it is enabled', async () => {
  const { uuid } = await service.chargeUntil('processing', { phone_number: SILENT })
  const report = async () => codeOf(await service.report(uuid, { status: 'processing' }))
  await service.call('bank', 'update', { bank: 'GCB', status: 'suspended' })
  const disabled = await service.call('bank', 'disable', { bank: 'GCB' })
  expect(disabled).toMatchObject({ status: 'suspended' })
  expect(await report()).toBe('403/1403')
  expect(await service.call('bank', 'enable', { bank: 'GCB' })).toMatchObject({ status: 'live' })
  expect(await report()).not.toBe('403/1403')
})

test('a connector is set, shown without its secret, moved and removed', async () => {
  const [bank, connector, url] = ['UMB', 'http', 'http://127.0.0.1:4999/bank']
  const settings = { bank, connector, 'connector-url': `${url}/` }
  const { connector_secret, ...shown } = await service.call('connector', 'set', settings)
  expect(connector_secret).toMatch(/^cs_[\w-]{43}$/)
  expect(shown).toEqual({ bank, connector, connector_url: url })
  expect(await service.call('connector', 'show', { bank })).toEqual(shown)
  expect(await service.call('connector', 'list')).toContainEqual(shown)
  const moved = { bank, 'connector-url': `${url}/2` }
  const connector_url = `${url}/2`
  expect(await service.call('connector', 'set', moved)).toEqual({ ...shown, connector_url })
  const secret = { bank, 'connector-secret': 'cs_passed_by_the_bank' }
  const updated = await service.call('bank', 'update', secret)
  expect(updated).toMatchObject({ connector, connector_url })
  expect(updated).not.toHaveProperty('connector_secret')
  const none = { bank, connector: 'none', connector_url: null }
  expect(await service.call('connector', 'remove', { bank })).toEqual(none)
  // The URL is deleted.
  const line = '--connector-url: is required for connector http'
  expect(await service.refusal('connector', 'set', { bank, connector })).toBe(line)
})

test('a record of a change names the URL and secret of a bank only as its connector gets or loses them', async () => {
  const connect = (verb: string, options: Record<string, string>) =>
    service.call(
      verb === 'set' ? 'connector' : 'bank',
      verb,
      { bank: 'UMB', ...options },
      'local:ama',
    )
  await connect('set', { connector: 'http', 'connector-url': 'http://127.0.0.1:4999/umb' })
  await connect('update', { connector: 'none' })
  await connect('update', { name: 'Universal Merchant Bank PLC' })
  await connect('set', { connector: 'http' })
  const [back, renamed, left] = await service.call('change', 'list', { bank: 'UMB', limit: '3' })
  expect(Object.keys(renamed.changed)).toEqual(['name'])
  for (const { changed } of [left, back]) {
    expect(Object.keys(changed)).toEqual(['connector', 'connector_url', 'connector_secret'])
  }
})

test('a customer account is linked, shown, listed and unlinked', async () => {
  const [phone, bank] = ['+233247654321', 'GCB']
  const link = { phone, bank, name: 'Efua Sarpong', 'account-number': '1041007777' }
  const linked = await service.call('customer', 'link', link)
  expect(await service.call('customer', 'show', { phone, bank })).toEqual(linked)
  expect(await service.call('customer', 'list', { phone })).toEqual([linked])
  expect(await service.call('customer', 'unlink', { phone, bank })).toEqual({ unlinked: true })
  expect(await service.call('customer', 'list', { phone })).toEqual([])
  for (const verb of ['show', 'unlink']) {
    expect(await service.refusal('customer', verb, { phone, bank })).toBe('no such account')
  }
})
