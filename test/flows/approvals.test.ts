import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { permissionsOf } from '../../infra/definitions/function-permissions.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import type { Verb } from '../../shared/operator/verbs.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'
import { table, tableName } from '../../shared/store/table.ts'
import {
  account,
  ama,
  errorOf,
  esi,
  kofi,
  MADE,
  type Options,
  operatorsOf,
  SECOND,
} from '../support/operators.ts'
import { createPayee, nightAfter } from '../support/payee.ts'
import { FAILS_AT_ONCE, SILENT, useService } from '../support/running-service.ts'

/** Verbs that a second operator must approve (docs/api.md#approvals). */

const service = useService({ approvals: true })
afterEach(() => vi.unstubAllEnvs())
const { call, operate, request, grant, granted, show, changeAccount, changesOf } =
  operatorsOf(service)
const TIME = expect.stringMatching(/Z$/)

const debit = async (status: string, phone_number: string): Promise<string> => {
  const { reference, uuid } = await service.chargeUntil(status, { phone_number })
  if (status === 'failed') {
    await service.report(uuid, { status: 'completed', bank_reference: 'GCB-0001' })
  }
  return reference
}

const batch = async (id: string, digits: string): Promise<string> => {
  const payee = await createPayee(service, id, { 'settlement-account': digits })
  await payee.complete('100.00')
  const [built] = (await payee.run(nightAfter(0))).built
  if (id === 'rejected') await payee.run(nightAfter(1))
  return built.id
}

const evidence = { 'bank-reference': 'GCB-7', reason: 'By telephone' }
const connector = { connector: 'http', 'connector-url': 'https://bank.test/debits' }

const reversible = async (): Promise<Options> => {
  const [reference = ''] = await (await createPayee(service, 'reversed')).complete('5.00')
  return { reference, reason: 'Dispute' }
}
const open = async () => ({ reference: await debit('processing', SILENT), ...evidence })

/** The options of a call of each verb that needs an approval. */
const optionsOf: Record<string, () => Options | Promise<Options>> = {
  'bank create': () => ({ bank: 'NEW', name: 'New Bank', connector: 'sandbox' }),
  'bank update': () => ({ bank: 'ADB', connector: 'none' }),
  'connector set': () => ({ bank: 'SBG', ...connector }),
  'connector remove': () => ({ bank: 'SCB' }),
  'debit reverse': reversible,
  'debit complete': open,
  'debit fail': open,
  'exception refund': async () => ({ reference: await debit('failed', FAILS_AT_ONCE) }),
  'provider update': () => ({ provider: 'other', ...account('1041008002') }),
  'settlement complete': async () => ({ batch: await batch('built', '1041007001'), ...evidence }),
  'settlement retry': async () => ({ batch: await batch('rejected', '1041000000') }),
}

const approvable = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  Object.entries(verbs as Record<string, Verb>)
    .filter(([, { approval }]) => approval)
    .map(([verb]) => `${noun} ${verb}`),
)

describe('every verb that needs an approval', () => {
  test('has a row in this test, and manage-approval may invoke its function', () => {
    expect(Object.keys(optionsOf).sort()).toEqual(approvable.sort())
    const functions = new Set(approvable.map((words) => `manage-${words.split(' ')[0]}`))
    const { invokes = [] } = permissionsOf('manage-approval')
    expect([...invokes].sort()).toEqual([...functions].sort())
  })

  test.each(approvable)('%s waits for a second operator, who executes it once', async (words) => {
    const [noun = '', verb = ''] = words.split(' ')
    const options = (await optionsOf[words]?.()) ?? {}
    const [[key = '', target = ''] = []] = Object.entries(options)
    const state = () => call(ama, noun, 'show', { [key]: target })
    const previous = await state()
    const { approval } = await operate(ama, noun, verb, options)
    const { id } = approval
    expect(approval).toMatchObject({ status: 'pending', noun, verb, target, requested_by: ama })
    expect(Date.parse(approval.expires_at) - Date.parse(approval.requested_at)).toBe(86_400_000)
    expect(await errorOf(grant(ama, id))).toBe(SECOND)
    expect(await state()).toEqual(previous)
    expect(await granted(id)).not.toHaveProperty('approval')
    expect(await state()).not.toEqual(previous)
    const decided = { status: 'granted', decided_by: kofi, done_at: TIME, refusal: null }
    expect(await show(id)).toMatchObject(decided)
    const changes = await changesOf(target)
    expect(changes[0]).toMatchObject({ by: ama, approved_by: kofi, noun, verb })
    const changed = { request: { from: null, to: `${noun} ${verb} ${target}` } }
    expect(await changesOf(id)).toMatchObject([
      { by: kofi, noun: 'approval', verb: 'grant' },
      { by: ama, noun: 'approval', verb: 'request', changed },
    ])
    expect(await errorOf(grant(kofi, id))).toContain(MADE)
    expect(await errorOf(grant(esi, id))).toBe(`the request was already granted by ${kofi}`)
    expect(await changesOf(target)).toEqual(changes)
  })
})

test('a secret of a request is neither shown nor stored in plain text, and reaches the connector', async () => {
  const secret = 'cs_a_secret_of_this_test'
  const id = await request('bank', 'update', {
    bank: 'FBL',
    ...connector,
    'connector-secret': secret,
  })
  expect((await show(id)).options).toMatchObject({ 'connector-secret': '-' })
  const { Items } = await table.send(new ScanCommand({ TableName: tableName() }))
  expect(JSON.stringify(Items)).toContain(id)
  const approvals = await operate(kofi, 'approval', 'list')
  const changes = await operate(kofi, 'change', 'list', { limit: '1000' })
  const visible = [Items, approvals, changes, await grant(kofi, id), service.lines]
  expect(JSON.stringify(visible)).not.toContain(secret)
  expect((await findConnectorSettings('FBL' as never))?.secret).toBe(secret)
})

test('a changed settlement account holds payouts for 24 hours, a first account does not', async () => {
  const payee = await createPayee(service, 'held')
  await payee.complete('100.00')
  const [{ id }] = (await payee.run(nightAfter(0))).built
  const before = await operate(ama, 'provider', 'show', { provider: 'held' })
  expect(before.payouts_held_until).toBeNull()
  const { payouts_held_until: until } = await granted(await changeAccount('held'))
  const hours = (Date.parse(until) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(23.9)
  expect(hours).toBeLessThanOrEqual(24)
  const held = `the settlement account changed: payouts are held until ${until}`
  expect(await errorOf(call(ama, 'settlement', 'process', { batch: id }))).toBe(held)
  const [unpaid] = (await payee.run(nightAfter(1))).unpaid
  const details = expect.stringContaining(until)
  expect(unpaid).toMatchObject({ batch: id, code: 5001, details })
})

describe('a call that needs no approval', () => {
  test('runs immediately, also with a verb that needs an approval for other options', async () => {
    const named = await operate(ama, 'provider', 'update', { provider: 'demo', name: 'Demo 2' })
    expect(named).toMatchObject({ id: 'demo', name: 'Demo 2' })
    const limited = await operate(ama, 'bank', 'update', { bank: 'CAL', maximum: '400.00' })
    expect(limited).toMatchObject({ maximum: '400.00' })
    const provider = { provider: 'new-one', name: 'New', ...account('1041008009') }
    const settlement_account = { account_number: '1041008009' }
    const created = await operate(ama, 'provider', 'create', provider)
    expect(created).toMatchObject({ settlement_account, payouts_held_until: null })
    expect((await changesOf('new-one'))[0]).not.toHaveProperty('approved_by')
  })

  test.each(['false', undefined])('is every call of a stage with APPROVALS=%s', async (value) => {
    vi.stubEnv('APPROVALS', value)
    const options = { provider: 'signed', ...account('1041008010') }
    const settlement_account = { account_number: '1041008010' }
    const updated = await operate(ama, 'provider', 'update', options)
    expect(updated).toMatchObject({ settlement_account, payouts_held_until: null })
    const removed = await service.call('connector', 'remove', { bank: 'ZEN' })
    expect(removed).toMatchObject({ bank: 'ZEN', connector: 'none' })
  })
})
