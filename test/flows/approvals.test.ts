import { setTimeout as pause } from 'node:timers/promises'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { manageApproval } from '../../functions/operator/manage-approval.ts'
import { permissionsOf } from '../../infra/definitions/function-permissions.ts'
import type { ApprovalId } from '../../shared/domain/operator/approval.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import type { OperatorReply, Verb } from '../../shared/operator/verbs.ts'
import { real } from '../../shared/runtime.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'
import { claimApproval, decideApproval } from '../../shared/store/operator/approvals.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { createPayee, nightAfter } from '../support/payee.ts'
import { createProvider } from '../support/provider.ts'
import { rowsOf } from '../support/rows.ts'
import {
  FAILS_AT_ONCE,
  printed,
  type Shown,
  SILENT,
  useService,
} from '../support/running-service.ts'

/** Calls that a second operator must approve (docs/api.md#approvals). */

const service = useService({ approvals: true })
afterEach(() => vi.unstubAllEnvs())

const [ama, kofi, esi] = ['ama', 'kofi', 'esi'].map(
  (name) => `arn:aws:iam::123456789012:user/${name}`,
) as [string, string, string]
const SECOND = 'the requester cannot grant: a second operator is required'
const MADE = 'the call was already made at'
const TIME = expect.stringMatching(/Z$/)

type Options = Record<string, string>
type Call = [actor: string | undefined, noun: string, verb: string, options?: Options]

const call = async (...[actor, noun, verb, options = {}]: Call) => {
  const event = { verb, options, ...(actor ? { actor } : {}) }
  // Change records of one millisecond have no order.
  await pause(2)
  return (await service.invoke(`manage-${noun}`, event)) as OperatorReply
}
const operate = async (...words: Call) => printed(await call(...words))

const errorOf = async (reply: Promise<OperatorReply>): Promise<string> => {
  const { error } = (await reply) as { error?: string }
  if (error === undefined) throw new Error('not refused')
  return error
}

/** Requests an approval as ama and returns its id. */
const request = async (noun: string, verb: string, options: Options): Promise<ApprovalId> =>
  (await operate(ama, noun, verb, options)).approval.id

const grant = (actor: string | undefined, id: string) => call(actor, 'approval', 'grant', { id })
const granted = async (id: string): Promise<Shown> => printed(await grant(kofi, id))
const show = (id: string): Promise<Shown> => operate(ama, 'approval', 'show', { id })

const changesOf = async (target: string): Promise<Shown[]> =>
  (await operate(ama, 'change', 'list', { limit: '1000' })).filter(
    (change: Shown) => change.target === target,
  )

const account = (digits: string): Options => ({
  'settlement-bank': 'GCB',
  'settlement-account': digits,
  'settlement-name': 'Other Ltd',
})
const changeAccount = (provider: string, digits = '1041008001') =>
  request('provider', 'update', { provider, ...account(digits) })

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

/** A call of each verb that needs an approval. */
const rows: [noun: string, verb: string, options: () => Options | Promise<Options>][] = [
  ['bank', 'create', () => ({ bank: 'NEW', name: 'New Bank', connector: 'sandbox' })],
  ['bank', 'update', () => ({ bank: 'ADB', connector: 'none' })],
  ['connector', 'set', () => ({ bank: 'SBG', ...connector })],
  ['connector', 'remove', () => ({ bank: 'SCB' })],
  [
    'debit',
    'reverse',
    async () => {
      const [reference = ''] = await (await createPayee(service, 'reversed')).complete('5.00')
      return { reference, reason: 'Dispute' }
    },
  ],
  [
    'debit',
    'complete',
    async () => ({ reference: await debit('processing', SILENT), ...evidence }),
  ],
  ['debit', 'fail', async () => ({ reference: await debit('processing', SILENT), ...evidence })],
  ['exception', 'refund', async () => ({ reference: await debit('failed', FAILS_AT_ONCE) })],
  ['provider', 'update', () => ({ provider: 'other', ...account('1041008002') })],
  [
    'settlement',
    'complete',
    async () => ({ batch: await batch('built', '1041007001'), ...evidence }),
  ],
  ['settlement', 'retry', async () => ({ batch: await batch('rejected', '1041000000') })],
]

const approvable = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  Object.entries(verbs as Record<string, Verb>)
    .filter(([, { approval }]) => approval)
    .map(([verb]) => `${noun} ${verb}`),
)

describe('every verb that needs an approval', () => {
  test('has a row in this test, and manage-approval may invoke its function', () => {
    expect(rows.map(([noun, verb]) => `${noun} ${verb}`).sort()).toEqual(approvable.sort())
    const functions = new Set(approvable.map((words) => `manage-${words.split(' ')[0]}`))
    const { invokes = [] } = permissionsOf('manage-approval')
    expect([...invokes].sort()).toEqual([...functions].sort())
  })

  test.each(rows)(
    '%s %s waits for a second operator, who executes it with one call',
    async (noun, verb, prepare) => {
      const options = await prepare()
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
    },
  )
})

describe('a request', () => {
  beforeAll(async () => void (await createProvider(service, 'requested')))

  test('is listed by its status, newest first', async () => {
    const [older, newer] = [await changeAccount('requested'), await changeAccount('requested')]
    await operate(kofi, 'approval', 'deny', { id: older })
    const ids = async (options: Options) =>
      (await operate(ama, 'approval', 'list', options)).map(({ id }: Shown) => id)
    expect((await ids({})).slice(0, 2)).toEqual([newer, older])
    expect(await ids({ limit: '1' })).toEqual([newer])
    expect(await ids({ status: 'pending' })).toContain(newer)
    expect(await ids({ status: 'pending' })).not.toContain(older)
    expect(await ids({ status: 'denied' })).toContain(older)
    expect(await ids({ status: 'expired' })).toEqual([])
  })

  test.each([kofi, ama])('that %s denies is never executed', async (actor) => {
    const id = await changeAccount('requested')
    const reason = 'Not agreed'
    const denied = await operate(actor, 'approval', 'deny', { id, reason })
    expect(denied).toMatchObject({ status: 'denied', decided_by: actor, reason })
    const refusal = `the request was already denied by ${actor}`
    expect(await errorOf(grant(kofi, id))).toBe(refusal)
    expect(await errorOf(call(esi, 'approval', 'deny', { id }))).toBe(refusal)
    const changed = { status: { from: 'pending', to: 'denied' }, reason: { to: reason } }
    expect((await changesOf(id))[0]).toMatchObject({ by: actor, verb: 'deny', changed })
  })

  test('expires after 24 hours and can then be neither granted nor denied', async () => {
    const id = await changeAccount('requested')
    const later = (ms: number) => manageApproval({ ...real, now: () => new Date(Date.now() + ms) })
    const decide = (verb: string, handler = later(86_400_000)) =>
      handler({ verb, options: { id }, actor: kofi }) as Promise<OperatorReply>
    const expired = 'the request expired at'
    for (const verb of ['grant', 'deny']) expect(await errorOf(decide(verb))).toContain(expired)
    const event = { verb: 'list', options: { status: 'expired' }, actor: kofi }
    const listed = printed(await later(86_400_000)(event))
    expect(listed.map((one: Shown) => one.id)).toContain(id)
    expect(printed(await decide('show', later(86_340_000)))).toMatchObject({ status: 'pending' })
    // A grant that was recorded in time but not executed expires as well.
    const decision = { decision: 'granted', by: kofi, at: new Date() } as const
    expect(await decideApproval(id, decision, [], real)).toBe(true)
    expect(await errorOf(decide('grant'))).toContain(expired)
    expect(printed(await decide('show'))).toMatchObject({ status: 'expired', done_at: null })
  })

  test('needs an operator with a name', async () => {
    const refusal = 'an approval needs an operator with a known name'
    const options = { provider: 'requested', ...account('1041008003') }
    for (const actor of [undefined, 'unknown', 'two words']) {
      expect(await errorOf(call(actor, 'provider', 'update', options))).toBe(refusal)
    }
    const id = await changeAccount('requested')
    expect(await errorOf(grant(undefined, id))).toBe(refusal)
    expect(await errorOf(call(undefined, 'approval', 'deny', { id }))).toBe(refusal)
  })

  test('is refused when its object does not exist or its options are invalid', async () => {
    const payee = 'settlement-account=1041008004 settlement-name=Other'
    const refused = rowsOf(`
      provider update provider=nobody settlement-bank=GCB ${payee}  no such provider
      provider update provider=demo settlement-bank=XXX ${payee}  no such bank
      provider update provider=demo settlement-account=x  --settlement-account
      provider update provider=demo settlement-bank=GCB  is required
      bank update bank=XXX connector=none  no such bank
      bank update bank=GCB connector=http  --connector-url: is required
      bank create bank=GCB name=Again connector=none  already exists
      debit reverse reference=DCS-20261121-ABC123 reason=x  no such debit
      settlement retry batch=STL-20261122-ABC123  Settlement batch not found
      connector set bank=XXX connector=none  no such bank
      connector set bank=GCB connector-url=https://x.test/  applies to connector
      connector remove bank=XXX  no such bank
    `)
    const count = async () => (await operate(ama, 'approval', 'list')).length
    const before = await count()
    for (const [text = '', line] of refused) {
      const [noun = '', verb = '', ...words] = text.split(' ')
      const options = Object.fromEntries(words.map((word) => word.split('=')))
      expect(await errorOf(call(ama, noun, verb, options)), text).toContain(line)
    }
    expect(await count()).toBe(before)
    const id = '20261122T044107123Z-3f2a9c1e'
    for (const verb of ['show', 'grant', 'deny']) {
      expect(await errorOf(call(kofi, 'approval', verb, { id }))).toBe('no such approval')
    }
  })

  test('is done and shows the reason when its call is refused', async () => {
    const create = () => request('bank', 'create', { bank: 'TWO', name: 'Two', connector: 'none' })
    const [first, second] = [await create(), await create()]
    await granted(first)
    const refusal = 'this bank already exists'
    expect(await errorOf(grant(kofi, second))).toBe(refusal)
    expect(await show(second)).toMatchObject({ status: 'granted', refusal })
    expect(await errorOf(grant(kofi, second))).toContain(MADE)
  })

  test('is executed by its own function only after the grant', async () => {
    const approval = await changeAccount('requested')
    const invoke = (noun: string, actor: string) => {
      const event = { verb: 'update', options: {}, actor, approval }
      return errorOf(service.invoke(`manage-${noun}`, event) as never)
    }
    expect(await invoke('provider', kofi)).toBe('the request is not granted')
    expect(await invoke('provider', ama)).toBe(SECOND)
    expect(await invoke('bank', kofi)).toBe('no such approval')
  })
})

describe('a grant', () => {
  beforeAll(async () => void (await createProvider(service, 'granted')))
  const numberOf = ({ settlement_account }: Shown) => settlement_account.account_number

  test('executes the call once when several grants arrive at the same time', async () => {
    const id = await changeAccount('granted', '1041008005')
    const before = (await changesOf('granted')).length
    const replies = await Promise.all([kofi, kofi, esi, esi, kofi].map((actor) => grant(actor, id)))
    expect(replies.filter((reply) => 'result' in reply)).toHaveLength(1)
    expect(await changesOf('granted')).toHaveLength(before + 1)
    expect((await changesOf(id)).map(({ verb }) => verb)).toEqual(['grant', 'request'])
  })

  test('that was recorded before a crash is retried by the same operator, after its lease', async () => {
    const id = await changeAccount('granted', '1041008006')
    const at = new Date()
    await decideApproval(id, { decision: 'granted', by: kofi, at }, [], real)
    expect(await errorOf(grant(esi, id))).toBe(`the request was already granted by ${kofi}`)
    const claim = { id, claim: 'lost worker', at, until: new Date(Date.now() + 200) }
    expect(await claimApproval(claim, real)).toBe(true)
    expect(await errorOf(grant(kofi, id))).toBe('the call is in progress or was already made')
    const done = await vi.waitFor(() => granted(id), { timeout: 5_000, interval: 20 })
    expect(numberOf(done)).toBe('1041008006')
    expect(await errorOf(grant(kofi, id))).toContain(MADE)
  })

  test('can be retried immediately when its call ends in a fault', async () => {
    const id = await changeAccount('granted', '1041008008')
    const { send } = table
    const spy = vi.spyOn(table, 'send').mockImplementation(((command: never) => {
      const isUpdate = JSON.stringify(command).includes('1041008008","accountName')
      return isUpdate ? Promise.reject(new Error('lost')) : Reflect.apply(send, table, [command])
    }) as never)
    await expect(grant(kofi, id)).rejects.toThrow('manage-provider')
    spy.mockRestore()
    expect(await show(id)).toMatchObject({ status: 'granted', done_at: null })
    expect(numberOf(await granted(id))).toBe('1041008008')
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
