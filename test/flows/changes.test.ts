import { expect, test } from 'vitest'
import { settlementAccount } from '../support/payee.ts'
import { createProvider } from '../support/provider.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** Settings of providers, and the change records of operators with old and new values. */

const service = useService()
const actor = 'arn:aws:iam::123456789012:user/ama'

const operate = (noun: string, verb: string, options: Record<string, string>) =>
  service.call(noun, verb, options, actor)

const changes = (options: Record<string, string> = {}): Promise<Shown[]> =>
  operate('change', 'list', options)

const GCB = settlementAccount('6666666666')

const create = async (provider: string, options = {}) => {
  await service.call('provider', 'create', { provider, name: 'Payer', ...options })
  return {
    show: () => service.call('provider', 'show', { provider }),
    update: (more: Record<string, string>) =>
      service.call('provider', 'update', { provider, ...more }),
  }
}

test('an update sets and removes each part of a fee schedule, and removes it without any part', async () => {
  const fees = { 'fee-basis-points': '150', 'fee-fixed': '0.10' }
  const { show, update } = await create('payer-fees', fees)
  const schedule = async () => (await show()).fee_schedule
  expect((await show()).settlement_account).toBeNull()
  await update({ 'fee-minimum': '0.50', 'fee-maximum': '25.00' })
  const whole = { basis_points: 150, fixed: '0.10', minimum: '0.50', maximum: '25.00' }
  await update({ name: 'Renamed' })
  expect(await schedule()).toEqual(whole)
  await update({ 'fee-minimum': 'none', 'fee-fixed': 'none' })
  expect(await schedule()).toEqual({ ...whole, fixed: '0.00', minimum: null })
  await update({ 'fee-basis-points': 'none', 'fee-maximum': 'none', 'fee-fixed': '1.00' })
  expect(await schedule()).toMatchObject({ basis_points: 0, fixed: '1.00' })
  const parts = ['basis-points', 'fixed', 'minimum', 'maximum']
  await update(Object.fromEntries(parts.map((part) => [`fee-${part}`, 'none'])))
  expect(await schedule()).toBeNull()
})

test('an update keeps, replaces and removes a settlement account as a whole', async () => {
  const { show, update } = await create('payer-account', GCB)
  const account = async () => (await show()).settlement_account
  await update({ name: 'Renamed' })
  const shown = { bank: 'GCB', account_number: '6666666666', account_name: 'Payee Ltd' }
  expect(await account()).toEqual(shown)
  await update(settlementAccount('2441009009', 'ECO'))
  expect(await account()).toEqual({ ...shown, bank: 'ECO', account_number: '2441009009' })
  await update({ 'settlement-account': 'none' })
  expect(await account()).toBeNull()
})

test('the list shows the old and the new value of each changed field alone', async () => {
  await createProvider(service, 'changed', { 'fee-basis-points': '150' })
  const update = { provider: 'changed', name: 'Changed Payments', 'fee-basis-points': '200' }
  await operate('provider', 'update', { ...update, duplicates: 'return' })
  const parts = { fixed: '0.00', minimum: null, maximum: null }
  expect(await service.changeOf('changed')).toEqual({
    ...{ at: expect.stringMatching(/Z$/), by: actor, noun: 'provider', verb: 'update' },
    target: 'changed',
    changed: {
      name: { from: 'changed', to: 'Changed Payments' },
      fee_schedule: { from: { basis_points: 150, ...parts }, to: { basis_points: 200, ...parts } },
    },
  })
  const before = (await changes()).length
  await operate('provider', 'update', { provider: 'changed', duplicates: 'return' })
  expect(await changes()).toHaveLength(before)
})

test('the list shows the last digits of a settlement account and only the fact that a secret changed', async () => {
  await createProvider(service, 'paid')
  const secret = { 'request-secret': 'rs_a_secret_of_this_test' }
  await operate('provider', 'update', { provider: 'paid', ...GCB, ...secret })
  const to = { bank: 'GCB', account_number: '*********6666', account_name: 'Payee Ltd' }
  expect((await service.changeOf('paid')).changed).toMatchObject({
    settlement_account: { from: null, to },
    request_secret: { from: null, to: 'changed' },
  })
  expect(JSON.stringify(await changes())).not.toMatch(/rs_a_secret|6666666666/)
})

test('a settlement account with the same last digits as the one before has a record', async () => {
  await createProvider(service, 'repaid')
  await operate('provider', 'update', { provider: 'repaid', ...GCB })
  const other = { ...GCB, 'settlement-account': '7776666' }
  await operate('provider', 'update', { provider: 'repaid', ...other })
  expect((await service.changeOf('repaid')).changed).toMatchObject({
    settlement_account: {
      from: { account_number: '*********6666' },
      to: { account_number: '*********6666 (another number)' },
    },
  })
})

test('the list filters by provider or bank, newest first, up to a limit', async () => {
  await createProvider(service, 'owner')
  await operate('limit', 'set', { provider: 'owner', 'daily-limit': '100.00' })
  await operate('webhook', 'set', { provider: 'owner', url: 'http://127.0.0.1:9/hooks' })
  await operate('bank', 'update', { bank: 'ADB', maximum: '300.00' })
  const own = await changes({ provider: 'owner' })
  const verbs = own.map(({ noun, verb }) => `${noun} ${verb}`)
  expect(verbs.slice(0, 2)).toEqual(['webhook set', 'limit set'])
  expect(verbs.slice(2).sort()).toEqual(['credential issue', 'provider create'])
  expect(own[1].changed).toEqual({ daily_limit: { from: null, to: '100.00' } })
  const changed = { maximum: { from: null, to: '300.00' } }
  expect(await changes({ bank: 'ADB', limit: '1' })).toMatchObject([{ changed }])
})

test('the list has the changes of every noun under the operator, or under unknown', async () => {
  const { credential, id: provider } = await createProvider(service, 'nouns')
  const account = { phone: '+233245550001', bank: 'GCB' }
  const holder = { name: 'Efua Sarpong', 'account-number': '1041005551' }
  const url = 'http://127.0.0.1:9/hooks'
  const connector = { connector: 'http', 'connector-url': 'https://bank.test/debits' }
  const { id } = await operate('credential', 'issue', { provider })
  const { reference } = await service.chargeCompleted({}, credential)
  const late = await service.chargeCompletedLate({}, credential)
  const verbs: [string, string, Record<string, string>][] = [
    ['customer', 'link', { ...account, ...holder }],
    ['customer', 'unlink', account],
    ['credential', 'revoke', { id }],
    ['connector', 'set', { bank: 'SBG', ...connector }],
    ['connector', 'remove', { bank: 'SBG' }],
    ['limit', 'set', { bank: 'SBG', operation: 'debit-callback', 'per-minute': '500' }],
    ['webhook', 'set', { provider, url }],
    ['webhook', 'rotate-secret', { provider }],
    ['webhook', 'remove', { provider }],
    ['settlement', 'run', { date: '2026-01-01' }],
    ['debit', 'repair', { provider, date: '2026-01-01' }],
    ['exception', 'resolve', { reference: late.reference, note: 'The bank gave it back' }],
    ['debit', 'reverse', { reference, reason: 'Disputed' }],
  ]
  for (const words of verbs) await operate(...words)
  const own = (await changes()).filter(({ by }) => by === actor)
  const recorded = own.map(({ noun, verb }) => `${noun} ${verb}`)
  const expected = verbs.map(([noun, verb]) => `${noun} ${verb}`).reverse()
  expect(recorded.slice(0, verbs.length)).toEqual(expected)
  expect(JSON.stringify(own)).not.toMatch(/whsec_|cs_[\w-]{20}|1041005551|\+233245550001/)
  expect((await service.show(reference)).history.at(-1).by).toBe(`operator:${actor}`)
  expect(await service.exceptions(late.reference)).toMatchObject([{ resolved_by: actor }])
  for (const given of [undefined, '{"by":"admin"}\n']) {
    const options = { bank: 'ZEN', maximum: given ? '200.00' : '100.00' }
    await service.invoke('manage-bank', { verb: 'update', options, actor: given })
    expect(await service.changeOf('ZEN')).toMatchObject({ by: 'unknown', verb: 'update' })
  }
})

test('the records name a customer by keyed hashes alone, and the list finds them by the phone number', async () => {
  const account = { phone: '+233245550002', bank: 'GCB' }
  const holder = { name: 'Kojo Antwi', 'account-number': '1041005552' }
  expect(await changes({ phone: '+233245550009' })).toEqual([])
  await operate('customer', 'link', { ...account, ...holder })
  await operate('customer', 'link', { ...account, ...holder, 'account-number': '1041005553' })
  await operate('customer', 'unlink', account)
  await operate('customer', 'link', { ...account, ...holder, phone: '+233245550003' })
  const own = await changes({ phone: account.phone })
  expect(own.map(({ verb }) => verb)).toEqual(['unlink', 'link', 'link'])
  const hash = expect.stringMatching(/^[\w-]{22}$/)
  expect(own[1].changed).toEqual({ account_number: { from: hash, to: hash } })
  expect(own[0]).toMatchObject({
    target: own[1].target,
    changed: { name: { from: hash, to: null } },
  })
  expect(own[0].target).toMatch(/^[\w-]{22} GCB$/)
  expect(await changes({ phone: account.phone, limit: '1' })).toEqual(own.slice(0, 1))
  const [other] = await changes({ phone: '+233245550003' })
  expect(other?.target).not.toBe(own[0].target)
  expect(other?.changed.name.to).toBe(own[0].changed.name.from)
  const records = JSON.stringify(await changes({ limit: '1000' }))
  expect(records).not.toMatch(/24555000|Antwi|104100555/)
})
