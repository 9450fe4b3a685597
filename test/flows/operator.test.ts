import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, test, vi } from 'vitest'
import { isMistyped } from '../../shared/domain/token.ts'
import { table } from '../../shared/store/table.ts'
import { createProvider } from '../support/provider.ts'
import { CHARGE, chargeBody, type Shown, useService } from '../support/running-service.ts'

/** Operator verbs, by noun. */

const service = useService({ timeScale: 60 })

const BANKS = '/api/v1/payment-providers/banks'
/** Waits until the caches of warm functions expire. */
const soon = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 10_000, interval: 100 })

const untilStatus = (credential: string, status: number) =>
  soon(async () => expect((await service.send('GET', BANKS, { credential })).status).toBe(status))

describe('credential', () => {
  test('is shown once, listed by its last characters and revoked by its id', async () => {
    const { token, id } = await service.call('credential', 'issue', { provider: 'demo' })
    expect(token).toMatch(/^sk_test_[0-9A-Za-z]{39}$/)
    expect(isMistyped(token)).toBe(false)
    await untilStatus(token, 200)
    const listed = await vi.waitFor(async () => {
      const all = await service.call('credential', 'list', { provider: 'demo' })
      expect(all.map((one: Shown) => one.id)).toContain(id)
      return all
    })
    expect(JSON.stringify(listed)).not.toContain(token)
    const shown = {
      id,
      kind: 'provider',
      owner: 'demo',
      last_characters: token.slice(-4),
      created_at: expect.stringMatching(/^\d{4}-/),
      expires_on: null,
      revoked_at: null,
    }
    expect(listed).toContainEqual(shown)
    expect(await service.call('credential', 'show', { token })).toEqual(shown)
    expect(await service.call('credential', 'revoke', { id })).toEqual({ revoked: true })
    await untilStatus(token, 401)
    expect((await service.call('credential', 'show', { id })).revoked_at).toMatch(/^\d{4}-/)
  })

  test('of a bank begins with bt_ and is listed for the bank', async () => {
    const { token, id } = await service.call('credential', 'issue', { bank: 'ECO' })
    expect(token).toMatch(/^bt_test_[0-9A-Za-z]{39}$/)
    const ids = async (options: Record<string, string>) =>
      (await service.call('credential', 'list', options)).map((one: Shown) => one.id)
    await vi.waitFor(async () => expect(await ids({ bank: 'ECO' })).toContain(id))
    expect(await ids({ provider: 'demo' })).not.toContain(id)
  })

  test('in production begins with sk_live_ and cannot be chosen', async () => {
    process.env.STAGE = 'production'
    try {
      const { token } = await service.call('credential', 'issue', { provider: 'demo' })
      expect(token).toMatch(/^sk_live_[0-9A-Za-z]{39}$/)
      expect(
        await service.refusal('credential', 'issue', { provider: 'demo', token: 'by_hand_1' }),
      ).toContain('for sandboxes only')
    } finally {
      process.env.STAGE = 'sandbox'
    }
  })

  test('chosen in the sandbox must not look like an issued one', async () => {
    const line = await service.refusal('credential', 'issue', {
      provider: 'demo',
      token: 'sk_live_mine',
    })
    expect(line).toBe('--token: must not begin like a generated token')
  })

  test('with a wrong checksum gets the usual 401 without a read', async () => {
    const { token } = await service.call('credential', 'issue', { provider: 'demo' })
    const mistyped = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    const send = vi.spyOn(table, 'send')
    const request = async (credential: string) => {
      send.mockClear()
      const { status, body } = await service.send('GET', BANKS, { credential })
      const reads = send.mock.calls
        .map(([command]) => command as unknown)
        .filter((command) => command instanceof GetCommand)
        .filter(({ input }) => String(input.Key?.pk).startsWith('CREDENTIAL#'))
      return { status, error: body.error, reads: reads.length }
    }
    const unknown = await request('sk_sandbox_nobody')
    expect(unknown).toMatchObject({ status: 401, error: { code: 1401 }, reads: 1 })
    expect(await request(mistyped)).toEqual({ ...unknown, reads: 0 })
    expect(await request(token)).toMatchObject({ status: 200 })
    send.mockRestore()
  })

  test.each([
    ['show', {}, 'either --id or --token is required'],
    ['revoke', { id: 'x'.repeat(43), token: 'y' }, 'either --id or --token is required'],
    ['revoke', { id: 'x'.repeat(43) }, 'no such credential'],
    ['revoke', { id: 'x' }, '--id: must be an id of 43 characters'],
    ['list', {}, 'either --provider or --bank is required'],
    ['list', { provider: 'nobody' }, 'no such provider'],
  ] as [string, Record<string, string>, string][])(
    'credential %s %o is refused',
    async (verb, options, line) =>
      expect(await service.refusal('credential', verb, options)).toBe(line),
  )
})

describe('provider', () => {
  test('is listed, and can call only while it is enabled', async () => {
    const { credential } = await createProvider(service, 'operated')
    await vi.waitFor(async () => {
      const ids = (await service.call('provider', 'list')).map(({ id }: Shown) => id)
      expect(ids).toEqual(expect.arrayContaining(['demo', 'fenced', 'operated']))
    })
    expect(await service.call('provider', 'disable', { provider: 'operated' })).toMatchObject({
      status: 'suspended',
    })
    await untilStatus(credential, 403)
    expect(await service.call('provider', 'enable', { provider: 'operated' })).toMatchObject({
      status: 'active',
    })
    await untilStatus(credential, 200)
    expect(await service.refusal('provider', 'disable', { provider: 'nobody' })).toBe(
      'no such provider',
    )
  })

  test('keeps its settings when it is disabled and enabled', async () => {
    const before = await service.call('provider', 'show', { provider: 'fenced' })
    await service.call('provider', 'disable', { provider: 'fenced' })
    expect(await service.call('provider', 'enable', { provider: 'fenced' })).toEqual(before)
  })
})

describe('limit', () => {
  test('is set, shown with its use, kept by updates, listed and removed', async () => {
    const provider = 'limited'
    const { credential } = await createProvider(service, provider)
    expect(await service.call('limit', 'show', { provider })).toMatchObject({
      daily_limit: null,
      used: null,
      left: null,
    })
    await service.call('limit', 'set', { provider, 'daily-limit': '250.00' })
    const charge = (amount: string) =>
      service.send('POST', CHARGE, {
        credential,
        body: chargeBody({ amount, phone_number: '+233244444444' }),
      })
    await soon(async () => expect((await charge('300.00')).body.error?.code).toBe(3005))
    expect((await charge('100.00')).status).toBe(202)
    expect((await charge('200.00')).body.error.code).toBe(3005)
    const day = new Date().toISOString().slice(0, 10)
    expect(await service.call('limit', 'show', { provider })).toMatchObject({
      provider,
      daily_limit: '250.00',
      day,
      used: '100.00',
      left: '150.00',
    })
    await vi.waitFor(async () =>
      expect(await service.call('limit', 'list')).toContainEqual(
        expect.objectContaining({ provider, daily_limit: '250.00' }),
      ),
    )
    expect(await service.call('limit', 'remove', { provider })).toMatchObject({
      provider,
      daily_limit: null,
    })
    await soon(async () => expect((await charge('200.00')).status).toBe(202))
    expect(
      await service.refusal('limit', 'set', { provider: 'nobody', 'daily-limit': 'none' }),
    ).toBe('no such provider')
  })

  const limitSeen = async (method: string, path: string, credential: string) =>
    Number((await service.send(method, path, { credential })).headers.get('x-ratelimit-limit'))

  test('of requests per minute of a provider is set, shown, kept by updates and reset', async () => {
    const provider = 'raised'
    const { credential } = await createProvider(service, provider)
    const before = await service.call('limit', 'show', { provider })
    expect(before).toMatchObject({
      overrides: {},
      requests_per_minute: {
        charge: { per_provider: 100 },
        'get-debit-request': { per_reference: 60, per_provider: 1000 },
      },
    })
    const override = { provider, operation: 'list-banks' }
    expect(await service.call('limit', 'set', { ...override, 'per-minute': '500' })).toMatchObject({
      provider,
      overrides: { 'list-banks': 500 },
      requests_per_minute: {
        'list-banks': { per_provider: 500 },
        'get-bank': { per_provider: 60 },
      },
    })
    await service.call('provider', 'update', { provider, name: 'Renamed' })
    await service.call('limit', 'set', { provider, 'daily-limit': '9.00' })
    await soon(async () => expect(await limitSeen('GET', BANKS, credential)).toBe(500))
    await service.call('limit', 'set', { ...override, 'per-minute': 'default' })
    await service.call('limit', 'remove', { provider })
    await soon(async () => expect(await limitSeen('GET', BANKS, credential)).toBe(60))
    expect(await service.call('limit', 'show', { provider })).toEqual(before)
  })

  test('of requests per minute of a bank is set, shown, listed, kept by updates and reset', async () => {
    const override = { bank: 'ECO', operation: 'list-debit-transactions' }
    const set = await service.call('limit', 'set', { ...override, 'per-minute': '600' })
    expect(set).toEqual({
      bank: 'ECO',
      overrides: { 'list-debit-transactions': 600 },
      requests_per_minute: {
        'update-debit-transaction': { per_token: 10 },
        'list-debit-transactions': { per_token: 600 },
        'debit-callback': { per_token: 60 },
      },
    })
    await service.call('bank', 'update', { bank: 'ECO', 'ussd-code': '*771#' })
    await service.call('connector', 'set', { bank: 'ECO', connector: 'sandbox' })
    expect(await service.call('limit', 'show', { bank: 'ECO' })).toEqual(set)
    expect(await service.call('limit', 'list')).toContainEqual(set)
    const seen = () => limitSeen('GET', '/api/v1/banks/debit-transactions', 'bt_sandbox_eco')
    await soon(async () => expect(await seen()).toBe(600))
    await service.call('limit', 'set', { ...override, 'per-minute': 'default' })
    await soon(async () => expect(await seen()).toBe(60))
  })

  test.each([
    ['set', {}, 'either --provider or --bank is required'],
    ['set', { provider: 'demo', bank: 'GCB' }, 'either --provider or --bank is required'],
    ['set', { provider: 'demo' }, 'name --daily-limit, or --operation and --per-minute'],
    ['set', { bank: 'GCB', 'daily-limit': '1.00' }, '--daily-limit: applies to providers only'],
    [
      'set',
      { provider: 'demo', operation: 'charge' },
      '--per-minute: is required with --operation',
    ],
    ['set', { bank: 'GCB', 'per-minute': '5' }, '--operation: is required with --per-minute'],
    [
      'set',
      { bank: 'GCB', operation: 'charge', 'per-minute': '5' },
      '--operation: must be one of update-debit-transaction, list-debit-transactions, debit-callback',
    ],
    [
      'set',
      { provider: 'demo', operation: 'charge', 'per-minute': '0' },
      '--per-minute: must be a whole number from 1 to 1000000',
    ],
    ['set', { bank: 'XXX', operation: 'debit-callback', 'per-minute': '5' }, 'no such bank'],
    ['show', {}, 'either --provider or --bank is required'],
    ['show', { bank: 'XXX' }, 'no such bank'],
    ['show', { provider: 'nobody' }, 'no such provider'],
  ] as [string, Record<string, string>, string][])(
    '%s %o is refused',
    async (verb, options, line) => expect(await service.refusal('limit', verb, options)).toBe(line),
  )
})

describe('bank and connector', () => {
  test('a disabled bank rejects charges and is listed as inactive', async () => {
    const body = () => chargeBody({ bank_identifier: 'ZEN', amount: '1.00' })
    const charge = () =>
      service.send('POST', CHARGE, { credential: 'sk_sandbox_demo', body: body() })
    expect(await service.call('bank', 'disable', { bank: 'ZEN' })).toMatchObject({
      status: 'inactive',
    })
    await soon(async () => expect((await charge()).body.error?.code).toBe(1402))
    expect(await service.call('bank', 'enable', { bank: 'ZEN' })).toMatchObject({ status: 'live' })
    await soon(async () => expect((await charge()).status).toBe(202))
    const listed = await service.call('bank', 'list')
    expect(listed.map(({ identifier }: Shown) => identifier)).toContain('UMB')
    expect(await service.call('bank', 'show', { bank: 'UMB' })).toMatchObject({ connector: 'none' })
    expect(await service.refusal('bank', 'show', { bank: 'XXX' })).toBe('no such bank')
  })

  test('a connector is set, shown without its secret and removed', async () => {
    const url = 'http://127.0.0.1:4999/bank'
    const set = await service.call('connector', 'set', {
      bank: 'UMB',
      connector: 'http',
      'connector-url': url,
    })
    expect(set).toMatchObject({ connector: 'http', connector_url: url })
    expect(set.connector_secret).toMatch(/^cs_/)
    const shown = { bank: 'UMB', connector: 'http', connector_url: url }
    expect(await service.call('connector', 'show', { bank: 'UMB' })).toEqual(shown)
    expect(await service.call('connector', 'list')).toContainEqual(shown)
    const moved = { bank: 'UMB', 'connector-url': `${url}/2` }
    expect(await service.call('connector', 'set', moved)).toEqual({
      ...shown,
      connector_url: `${url}/2`,
    })
    const none = { bank: 'UMB', connector: 'none', connector_url: null }
    expect(await service.call('connector', 'remove', { bank: 'UMB' })).toEqual(none)
    // The URL is deleted.
    expect(await service.refusal('connector', 'set', { bank: 'UMB', connector: 'http' })).toBe(
      '--connector-url: is required for connector http',
    )
  })
})

describe('customer', () => {
  test('an account is linked, shown, listed and unlinked', async () => {
    const phone = '+233247654321'
    const link = { phone, bank: 'GCB', name: 'Efua Sarpong', 'account-number': '1041007777' }
    const linked = await service.call('customer', 'link', link)
    expect(await service.call('customer', 'show', { phone, bank: 'GCB' })).toEqual(linked)
    expect(await service.call('customer', 'list', { phone })).toEqual([linked])
    expect(await service.call('customer', 'unlink', { phone, bank: 'GCB' })).toEqual({
      unlinked: true,
    })
    expect(await service.call('customer', 'list', { phone })).toEqual([])
    for (const verb of ['show', 'unlink']) {
      expect(await service.refusal('customer', verb, { phone, bank: 'GCB' })).toBe(
        'no such account',
      )
    }
  })
})

describe('webhook', () => {
  test('is listed for every provider without its secret', async () => {
    const { webhook } = await createProvider(service, 'told')
    const { secret } = await webhook('set', { url: 'http://127.0.0.1:4242/told' })
    const listed = await vi.waitFor(async () => {
      const all = await service.call('webhook', 'list')
      expect(all).toContainEqual(
        expect.objectContaining({ provider: 'told', health: 'healthy', events: null }),
      )
      return all
    }, 10_000)
    expect(JSON.stringify(listed)).not.toContain(secret)
  })
})

describe('debit and exception', () => {
  test('reversals are the debits of a provider in the status reversed', async () => {
    const { credential } = await createProvider(service, 'reverser')
    const { body } = await service.send('POST', CHARGE, { credential, body: chargeBody() })
    const { reference } = body.data
    await vi.waitFor(
      async () =>
        expect(await service.call('debit', 'show', { reference })).toMatchObject({
          status: 'completed',
        }),
      { timeout: 15_000 },
    )
    await service.call('debit', 'reverse', { reference, reason: 'Disputed' })
    const status = 'reversed'
    const listed = await vi.waitFor(async () => {
      const found = await service.call('debit', 'list', { provider: 'reverser', status })
      expect(found).toHaveLength(1)
      return found
    })
    expect(listed[0]).toMatchObject({ reference, status })
    expect(listed[0].phone_number).not.toContain('241234567')
    expect(await service.refusal('debit', 'list', { provider: 'nobody', status })).toBe(
      'no such provider',
    )
  })

  test('an exception is open until it is resolved, and keeps its first note', async () => {
    const { charge } = await createProvider(service, 'excepted')
    const reference = await charge()
    const shown = await vi.waitFor(
      async () => {
        const debit = await service.call('debit', 'show', { reference })
        expect(debit.status).toBe('failed')
        return debit
      },
      { timeout: 15_000 },
    )
    expect(await service.refusal('exception', 'show', { reference })).toBe('no such exception')
    await service.send('POST', `/api/v1/banks/debit-transactions/${shown.uuid}/update`, {
      credential: 'bt_sandbox_gcb',
      body: { status: 'completed', bank_reference: 'LATE-1' },
    })
    const [open] = await service.call('exception', 'show', { reference })
    expect(open).toMatchObject({ reference, resolved_at: null, note: null })
    await service.call('exception', 'resolve', { reference, note: 'Sent back by hand' })
    await service.call('exception', 'resolve', { reference, note: 'Once more' })
    const references = async (status: string) =>
      (await service.call('exception', 'list', { status })).map((late: Shown) => late.reference)
    await vi.waitFor(async () => expect(await references('resolved')).toContain(reference))
    expect(await references('open')).not.toContain(reference)
    expect(await service.call('exception', 'show', { reference })).toMatchObject([
      { note: 'Sent back by hand' },
    ])
  })
})
