import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, test, vi } from 'vitest'
import { isMistyped } from '../../shared/domain/token.ts'
import { table } from '../../shared/store/table.ts'
import { createProvider, printed, type Shown } from '../support/provider.ts'
import { CHARGE, chargeBody, useService } from '../support/running-service.ts'

/** What the operator can make, see and take away, noun by noun. */

const service = useService({ timeScale: 60 })

const operate = async (noun: string, verb: string, options: Record<string, string> = {}) =>
  printed(await service.operate(noun, verb, options))

const refused = async (noun: string, verb: string, options: Record<string, string> = {}) =>
  ((await service.operate(noun, verb, options)) as { error: string }).error

const BANKS = '/api/v1/payment-providers/banks'
/** A warm function trusts for a moment what it read last. */
const soon = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 10_000, interval: 100 })

const untilAsked = (credential: string, status: number) =>
  soon(async () => expect((await service.send('GET', BANKS, { credential })).status).toBe(status))

describe('credential', () => {
  test('is shown once; listed by its last characters; revoked by its id', async () => {
    const { token, id } = await operate('credential', 'issue', { provider: 'demo' })
    expect(token).toMatch(/^sk_test_[0-9A-Za-z]{39}$/)
    expect(isMistyped(token)).toBe(false)
    await untilAsked(token, 200)
    const listed = await vi.waitFor(async () => {
      const all = await operate('credential', 'list', { provider: 'demo' })
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
    expect(await operate('credential', 'show', { token })).toEqual(shown)
    expect(await operate('credential', 'revoke', { id })).toEqual({ revoked: true })
    await untilAsked(token, 401)
    expect((await operate('credential', 'show', { id })).revoked_at).toMatch(/^\d{4}-/)
  })

  test('of a bank begins with bt_, and is listed with the bank’s', async () => {
    const { token, id } = await operate('credential', 'issue', { bank: 'ECO' })
    expect(token).toMatch(/^bt_test_[0-9A-Za-z]{39}$/)
    const ids = async (options: Record<string, string>) =>
      (await operate('credential', 'list', options)).map((one: Shown) => one.id)
    await vi.waitFor(async () => expect(await ids({ bank: 'ECO' })).toContain(id))
    expect(await ids({ provider: 'demo' })).not.toContain(id)
  })

  test('in production begins with sk_live_, and none is given by hand', async () => {
    process.env.STAGE = 'production'
    try {
      const { token } = await operate('credential', 'issue', { provider: 'demo' })
      expect(token).toMatch(/^sk_live_[0-9A-Za-z]{39}$/)
      expect(
        await refused('credential', 'issue', { provider: 'demo', token: 'by_hand_1' }),
      ).toContain('for sandboxes only')
    } finally {
      process.env.STAGE = 'sandbox'
    }
  })

  test('given by hand in the sandbox does not look like an issued one', async () => {
    const line = await refused('credential', 'issue', { provider: 'demo', token: 'sk_live_mine' })
    expect(line).toBe('--token: must not begin like a generated token')
  })

  test('that was mistyped gets the 401 of any other bad one, and is not looked for', async () => {
    const { token } = await operate('credential', 'issue', { provider: 'demo' })
    const mistyped = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
    const send = vi.spyOn(table, 'send')
    const ask = async (credential: string) => {
      send.mockClear()
      const { status, body } = await service.send('GET', BANKS, { credential })
      const reads = send.mock.calls
        .map(([command]) => command as unknown)
        .filter((command) => command instanceof GetCommand)
        .filter(({ input }) => String(input.Key?.pk).startsWith('CREDENTIAL#'))
      return { status, error: body.error, reads: reads.length }
    }
    const unknown = await ask('sk_sandbox_nobody')
    expect(unknown).toMatchObject({ status: 401, error: { code: 1401 }, reads: 1 })
    expect(await ask(mistyped)).toEqual({ ...unknown, reads: 0 })
    expect(await ask(token)).toMatchObject({ status: 200 })
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
    '%s %o is refused',
    async (verb, options, line) => expect(await refused('credential', verb, options)).toBe(line),
  )
})

describe('provider', () => {
  test('is listed; disabled, it may not call; enabled, it may again', async () => {
    const { credential } = await createProvider(service, 'operated')
    await vi.waitFor(async () => {
      const ids = (await operate('provider', 'list')).map(({ id }: Shown) => id)
      expect(ids).toEqual(expect.arrayContaining(['demo', 'fenced', 'operated']))
    })
    expect(await operate('provider', 'disable', { provider: 'operated' })).toMatchObject({
      status: 'suspended',
    })
    await untilAsked(credential, 403)
    expect(await operate('provider', 'enable', { provider: 'operated' })).toMatchObject({
      status: 'active',
    })
    await untilAsked(credential, 200)
    expect(await refused('provider', 'disable', { provider: 'nobody' })).toBe('no such provider')
  })

  test('keeps everything else when it is disabled and enabled', async () => {
    const before = await operate('provider', 'show', { provider: 'fenced' })
    await operate('provider', 'disable', { provider: 'fenced' })
    expect(await operate('provider', 'enable', { provider: 'fenced' })).toEqual(before)
  })
})

describe('limit', () => {
  test('is set, shown with what is used of it, kept, listed and taken away', async () => {
    const provider = 'limited'
    const { credential } = await createProvider(service, provider)
    expect(await operate('limit', 'show', { provider })).toMatchObject({
      daily_limit: null,
      used: null,
      left: null,
    })
    await operate('limit', 'set', { provider, 'daily-limit': '250.00' })
    const charge = (amount: string) =>
      service.send('POST', CHARGE, {
        credential,
        body: chargeBody({ amount, phone_number: '+233244444444' }),
      })
    await soon(async () => expect((await charge('300.00')).body.error?.code).toBe(3005))
    expect((await charge('100.00')).status).toBe(202)
    expect((await charge('200.00')).body.error.code).toBe(3005)
    const day = new Date().toISOString().slice(0, 10)
    expect(await operate('limit', 'show', { provider })).toMatchObject({
      provider,
      daily_limit: '250.00',
      day,
      used: '100.00',
      left: '150.00',
    })
    await vi.waitFor(async () =>
      expect(await operate('limit', 'list')).toContainEqual(
        expect.objectContaining({ provider, daily_limit: '250.00' }),
      ),
    )
    expect(await operate('limit', 'remove', { provider })).toMatchObject({
      provider,
      daily_limit: null,
    })
    await soon(async () => expect((await charge('200.00')).status).toBe(202))
    expect(await refused('limit', 'set', { provider: 'nobody', 'daily-limit': 'none' })).toBe(
      'no such provider',
    )
  })

  const limitSeen = async (method: string, path: string, credential: string) =>
    Number((await service.send(method, path, { credential })).headers.get('x-ratelimit-limit'))

  test('requests per minute of a provider are set, shown, kept by updates and reset', async () => {
    const provider = 'raised'
    const { credential } = await createProvider(service, provider)
    const before = await operate('limit', 'show', { provider })
    expect(before).toMatchObject({
      overrides: {},
      requests_per_minute: {
        charge: { per_provider: 100 },
        'get-debit-request': { per_reference: 60, per_provider: 1000 },
      },
    })
    const override = { provider, operation: 'list-banks' }
    expect(await operate('limit', 'set', { ...override, 'per-minute': '500' })).toMatchObject({
      provider,
      overrides: { 'list-banks': 500 },
      requests_per_minute: {
        'list-banks': { per_provider: 500 },
        'get-bank': { per_provider: 60 },
      },
    })
    await operate('provider', 'update', { provider, name: 'Renamed' })
    await operate('limit', 'set', { provider, 'daily-limit': '9.00' })
    await soon(async () => expect(await limitSeen('GET', BANKS, credential)).toBe(500))
    await operate('limit', 'set', { ...override, 'per-minute': 'default' })
    await operate('limit', 'remove', { provider })
    await soon(async () => expect(await limitSeen('GET', BANKS, credential)).toBe(60))
    expect(await operate('limit', 'show', { provider })).toEqual(before)
  })

  test('requests per minute of a bank are set, shown, listed, kept by updates and reset', async () => {
    const override = { bank: 'ECO', operation: 'list-debit-transactions' }
    const set = await operate('limit', 'set', { ...override, 'per-minute': '600' })
    expect(set).toEqual({
      bank: 'ECO',
      overrides: { 'list-debit-transactions': 600 },
      requests_per_minute: {
        'update-debit-transaction': { per_token: 10 },
        'list-debit-transactions': { per_token: 600 },
        'debit-callback': { per_token: 60 },
      },
    })
    await operate('bank', 'update', { bank: 'ECO', 'ussd-code': '*771#' })
    await operate('connector', 'set', { bank: 'ECO', connector: 'sandbox' })
    expect(await operate('limit', 'show', { bank: 'ECO' })).toEqual(set)
    expect(await operate('limit', 'list')).toContainEqual(set)
    const seen = () => limitSeen('GET', '/api/v1/banks/debit-transactions', 'bt_sandbox_eco')
    await soon(async () => expect(await seen()).toBe(600))
    await operate('limit', 'set', { ...override, 'per-minute': 'default' })
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
    async (verb, options, line) => expect(await refused('limit', verb, options)).toBe(line),
  )
})

describe('bank and connector', () => {
  test('a disabled bank takes no charges, and says so in the list', async () => {
    const body = () => chargeBody({ bank_identifier: 'ZEN', amount: '1.00' })
    const charge = () =>
      service.send('POST', CHARGE, { credential: 'sk_sandbox_demo', body: body() })
    expect(await operate('bank', 'disable', { bank: 'ZEN' })).toMatchObject({ status: 'inactive' })
    await soon(async () => expect((await charge()).body.error?.code).toBe(1402))
    expect(await operate('bank', 'enable', { bank: 'ZEN' })).toMatchObject({ status: 'live' })
    await soon(async () => expect((await charge()).status).toBe(202))
    const listed = await operate('bank', 'list')
    expect(listed.map(({ identifier }: Shown) => identifier)).toContain('UMB')
    expect(await operate('bank', 'show', { bank: 'UMB' })).toMatchObject({ connector: 'none' })
    expect(await refused('bank', 'show', { bank: 'XXX' })).toBe('no such bank')
  })

  test('a connector is set with its secret shown once, shown without it, and removed', async () => {
    const url = 'http://127.0.0.1:4999/bank'
    const set = await operate('connector', 'set', {
      bank: 'UMB',
      connector: 'http',
      'connector-url': url,
    })
    expect(set).toMatchObject({ connector: 'http', connector_url: url })
    expect(set.connector_secret).toMatch(/^cs_/)
    const shown = { bank: 'UMB', connector: 'http', connector_url: url }
    expect(await operate('connector', 'show', { bank: 'UMB' })).toEqual(shown)
    expect(await operate('connector', 'list')).toContainEqual(shown)
    const moved = { bank: 'UMB', 'connector-url': `${url}/2` }
    expect(await operate('connector', 'set', moved)).toEqual({
      ...shown,
      connector_url: `${url}/2`,
    })
    const none = { bank: 'UMB', connector: 'none', connector_url: null }
    expect(await operate('connector', 'remove', { bank: 'UMB' })).toEqual(none)
    // Forgotten: there is no URL to go back to.
    expect(await refused('connector', 'set', { bank: 'UMB', connector: 'http' })).toBe(
      '--connector-url: is required for connector http',
    )
  })
})

describe('customer', () => {
  test('an account is linked, shown, listed and unlinked', async () => {
    const phone = '+233247654321'
    const link = { phone, bank: 'GCB', name: 'Efua Sarpong', 'account-number': '1041007777' }
    const linked = await operate('customer', 'link', link)
    expect(await operate('customer', 'show', { phone, bank: 'GCB' })).toEqual(linked)
    expect(await operate('customer', 'list', { phone })).toEqual([linked])
    expect(await operate('customer', 'unlink', { phone, bank: 'GCB' })).toEqual({ unlinked: true })
    expect(await operate('customer', 'list', { phone })).toEqual([])
    for (const verb of ['show', 'unlink']) {
      expect(await refused('customer', verb, { phone, bank: 'GCB' })).toBe('no such account')
    }
  })
})

describe('webhook', () => {
  test('every provider’s is listed, without its secret', async () => {
    const { webhook } = await createProvider(service, 'told')
    const { secret } = await webhook('set', { url: 'http://127.0.0.1:4242/told' })
    const listed = await vi.waitFor(async () => {
      const all = await operate('webhook', 'list')
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
        expect(await operate('debit', 'show', { reference })).toMatchObject({
          status: 'completed',
        }),
      { timeout: 15_000 },
    )
    await operate('debit', 'reverse', { reference, reason: 'Disputed' })
    const status = 'reversed'
    const listed = await vi.waitFor(async () => {
      const found = await operate('debit', 'list', { provider: 'reverser', status })
      expect(found).toHaveLength(1)
      return found
    })
    expect(listed[0]).toMatchObject({ reference, status })
    expect(listed[0].phone_number).not.toContain('241234567')
    expect(await refused('debit', 'list', { provider: 'nobody', status })).toBe('no such provider')
  })

  test('an exception is open until it is resolved, and keeps its first note', async () => {
    const { charge } = await createProvider(service, 'excepted')
    const reference = await charge()
    const shown = await vi.waitFor(
      async () => {
        const debit = await operate('debit', 'show', { reference })
        expect(debit.status).toBe('failed')
        return debit
      },
      { timeout: 15_000 },
    )
    expect(await refused('exception', 'show', { reference })).toBe('no such exception')
    await service.send('POST', `/api/v1/banks/debit-transactions/${shown.uuid}/update`, {
      credential: 'bt_sandbox_gcb',
      body: { status: 'completed', bank_reference: 'LATE-1' },
    })
    const [open] = await operate('exception', 'show', { reference })
    expect(open).toMatchObject({ reference, resolved_at: null, note: null })
    await operate('exception', 'resolve', { reference, note: 'Sent back by hand' })
    await operate('exception', 'resolve', { reference, note: 'Once more' })
    const references = async (status: string) =>
      (await operate('exception', 'list', { status })).map((late: Shown) => late.reference)
    await vi.waitFor(async () => expect(await references('resolved')).toContain(reference))
    expect(await references('open')).not.toContain(reference)
    expect(await operate('exception', 'show', { reference })).toMatchObject([
      { note: 'Sent back by hand' },
    ])
  })
})
