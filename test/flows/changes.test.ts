import { describe, expect, test, vi } from 'vitest'
import { createProvider } from '../support/provider.ts'
import {
  CHARGE,
  chargeBody,
  printed,
  type Shown,
  updatePath,
  useService,
} from '../support/running-service.ts'

/** Change records of operators: actor, time, verb, and the old and new value of each field. */

const service = useService({ timeScale: 60 })
const actor = 'arn:aws:iam::123456789012:user/ama'

const operate = async (
  noun: string,
  verb: string,
  options: Record<string, string>,
): Promise<Shown> =>
  printed((await service.invoke(`manage-${noun}`, { verb, options, actor })) as never)

const changes = (options: Record<string, string> = {}): Promise<Shown[]> =>
  operate('change', 'list', options)

const changeOf = async (target: string): Promise<Shown> =>
  (await changes()).find((change) => change.target === target)

describe('change list', () => {
  test('shows the old and the new value of each changed field alone', async () => {
    await createProvider(service, 'changed', { 'fee-basis-points': '150' })
    await operate('provider', 'update', {
      provider: 'changed',
      name: 'Changed Payments',
      'fee-basis-points': '200',
      duplicates: 'return',
    })
    expect(await changeOf('changed')).toEqual({
      at: expect.stringMatching(/Z$/),
      by: actor,
      noun: 'provider',
      verb: 'update',
      target: 'changed',
      changed: {
        name: { from: 'changed', to: 'Changed Payments' },
        fee_schedule: {
          from: { basis_points: 150, fixed: '0.00', minimum: null, maximum: null },
          to: { basis_points: 200, fixed: '0.00', minimum: null, maximum: null },
        },
      },
    })
  })

  test('shows no record of an update without an effect', async () => {
    await createProvider(service, 'unchanged')
    const before = (await changes()).length
    await operate('provider', 'update', { provider: 'unchanged', duplicates: 'return' })
    expect(await changes()).toHaveLength(before)
  })

  test('shows the last digits of a settlement account and only the fact that a secret changed', async () => {
    await createProvider(service, 'paid')
    await operate('provider', 'update', {
      provider: 'paid',
      'settlement-bank': 'GCB',
      'settlement-account': '6666666666',
      'settlement-name': 'Paid Ltd',
      'request-secret': 'rs_a_secret_of_this_test',
    })
    const record = await changeOf('paid')
    expect(record.changed).toMatchObject({
      settlement_account: {
        from: null,
        to: { bank: 'GCB', account_number: '*****6666', account_name: 'Paid Ltd' },
      },
      request_secret: { from: null, to: 'changed' },
    })
    expect(JSON.stringify(await changes())).not.toMatch(/rs_a_secret|6666666666/)
  })

  test('filters by provider or bank, newest first, up to a limit', async () => {
    await createProvider(service, 'owner')
    await operate('limit', 'set', { provider: 'owner', 'daily-limit': '100.00' })
    await operate('webhook', 'set', { provider: 'owner', url: 'http://127.0.0.1:9/hooks' })
    await operate('bank', 'update', { bank: 'ADB', maximum: '300.00' })
    await vi.waitFor(async () => {
      const own = await changes({ provider: 'owner' })
      expect(own.map(({ noun, verb }) => `${noun} ${verb}`)).toEqual([
        'webhook set',
        'limit set',
        'credential issue',
        'provider create',
      ])
      expect(own[1].changed).toEqual({ daily_limit: { from: null, to: '100.00' } })
    })
    await vi.waitFor(async () => {
      const [newest] = await changes({ bank: 'ADB', limit: '1' })
      expect(newest.changed).toEqual({ maximum: { from: null, to: '300.00' } })
    })
    const both = await service.invoke('manage-change', {
      verb: 'list',
      options: { provider: 'owner', bank: 'ADB' },
    })
    expect(both).toEqual({ error: 'name --provider or --bank, not both' })
  })
})

test('every noun records its changes under the operator', async () => {
  const { credential, charge } = await createProvider(service, 'nouns')
  const phone = '+233245550001'
  const account = { name: 'Efua Sarpong', 'account-number': '1041005551' }
  await operate('customer', 'link', { phone, bank: 'GCB', ...account })
  await operate('customer', 'unlink', { phone, bank: 'GCB' })
  const { id } = await operate('credential', 'issue', { provider: 'nouns' })
  await operate('credential', 'revoke', { id })
  await operate('connector', 'set', {
    bank: 'SBG',
    connector: 'http',
    'connector-url': 'https://bank.test/debits',
  })
  await operate('connector', 'remove', { bank: 'SBG' })
  await operate('limit', 'set', { bank: 'SBG', operation: 'debit-callback', 'per-minute': '500' })
  const url = 'http://127.0.0.1:9/hooks'
  await operate('webhook', 'set', { provider: 'nouns', url })
  await operate('webhook', 'rotate-secret', { provider: 'nouns' })
  await operate('webhook', 'remove', { provider: 'nouns' })
  await operate('settlement', 'run', { date: '2026-01-01' })
  await operate('debit', 'repair', { provider: 'nouns', date: '2026-01-01' })
  const reference = await charge()
  await vi.waitFor(
    async () => expect((await operate('debit', 'show', { reference })).status).toBe('failed'),
    30_000,
  )
  const { uuid } = await operate('debit', 'show', { reference })
  const late = { status: 'completed', bank_reference: 'LATE-1' }
  await service.send('POST', updatePath(uuid), { credential: 'bt_sandbox_gcb', body: late })
  await operate('exception', 'resolve', { reference, note: 'The bank gave it back' })
  const charged = await service.send('POST', CHARGE, { credential, body: chargeBody() })
  const completed = charged.body.data.reference
  await vi.waitFor(
    async () =>
      expect((await operate('debit', 'show', { reference: completed })).status).toBe('completed'),
    { timeout: 15_000 },
  )
  await operate('debit', 'reverse', { reference: completed, reason: 'Disputed' })

  const own = (await changes()).filter(({ by }) => by === actor)
  const recorded = new Set(own.map(({ noun, verb }) => `${noun} ${verb}`))
  expect([...recorded]).toEqual(
    expect.arrayContaining([
      'customer link',
      'customer unlink',
      'credential issue',
      'credential revoke',
      'connector set',
      'connector remove',
      'limit set',
      'webhook set',
      'webhook rotate-secret',
      'webhook remove',
      'settlement run',
      'debit repair',
      'exception resolve',
      'debit reverse',
    ]),
  )
  expect(JSON.stringify(own)).not.toMatch(/whsec_|cs_[\w-]{20}|1041005551|\+233245550001/)
  const { history } = await operate('debit', 'show', { reference: completed })
  expect(history.at(-1).by).toBe(`operator:${actor}`)
  const [exception] = await operate('exception', 'show', { reference })
  expect(exception.resolved_by).toBe(actor)
})

test('a call without a valid actor is recorded as unknown', async () => {
  for (const given of [undefined, '{"by":"admin"}\n']) {
    const options = { bank: 'ZEN', maximum: given ? '200.00' : '100.00' }
    await service.invoke('manage-bank', { verb: 'update', options, actor: given })
    expect(await changeOf('ZEN')).toMatchObject({ by: 'unknown', verb: 'update' })
  }
})
