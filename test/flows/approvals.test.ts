import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { manageApproval } from '../../functions/operator/manage-approval.ts'
import type { ApprovalId } from '../../shared/domain/operator/approval.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import type { OperatorReply, Verb } from '../../shared/operator/verbs.ts'
import { real } from '../../shared/runtime.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'
import { claimApproval, decideApproval } from '../../shared/store/operator/approvals.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { createPayee, nightAfter, settlementAccount } from '../support/payee.ts'
import { createProvider } from '../support/provider.ts'
import { FAILS_AT_ONCE, SILENT } from '../support/requests.ts'
import { printed, type Shown, testInProcess, useService } from '../support/running-service.ts'

/** Verbs that a second operator must approve, and the requests (docs/api.md#approvals). */

const service = useService({ approvals: true })
beforeAll(async () => void (await createProvider(service, 'requested')))

const [ama = '', kofi = '', esi = ''] = ['ama', 'kofi', 'esi'].map(
  (name) => `arn:aws:iam::123456789012:user/${name}`,
)
const TIME = expect.stringMatching(/Z$/)
const SECOND = 'the requester cannot grant: a second operator is required'
const MADE = 'the call was already made at'
const DAY_MS = 86_400_000

type Options = Record<string, string>

const { call, operate, refusal } = service
/** Requests an approval as ama and returns its id. */
const request = async (noun: string, verb: string, options: Options): Promise<ApprovalId> =>
  (await call(noun, verb, options, ama)).approval.id
const changeAccount = (digits: string) =>
  request('provider', 'update', { provider: 'requested', ...settlementAccount(digits) })
const show = (id: string) => call('approval', 'show', { id }, ama)
const grant = (id: string, actor = kofi) => call('approval', 'grant', { id }, actor)
const refusalToGrant = (id: string, actor?: string) => refusal('approval', 'grant', { id }, actor)
const refusalToDeny = (id: string, actor?: string) => refusal('approval', 'deny', { id }, actor)
const changesOf = async (target: string): Promise<Shown[]> =>
  (await call('change', 'list', { limit: '1000' })).filter((one: Shown) => one.target === target)
const numberOf = ({ settlement_account }: Shown) => settlement_account.account_number

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
const open = async () => {
  const { reference } = await service.chargeUntil('processing', { phone_number: SILENT })
  return { reference, ...evidence }
}
const completedLate = async (): Promise<Options> => {
  const { reference, uuid } = await service.chargeUntil('failed', { phone_number: FAILS_AT_ONCE })
  await service.report(uuid, { status: 'completed', bank_reference: 'GCB-0001' })
  return { reference }
}

/** The options of a call of each verb that needs an approval. */
const optionsOf: Record<string, () => Options | Promise<Options>> = {
  'bank create': () => ({ bank: 'NEW', name: 'New Bank', connector: 'sandbox' }),
  'bank update': () => ({ bank: 'ADB', connector: 'none' }),
  'connector set': () => ({ bank: 'SBG', ...connector }),
  'connector remove': () => ({ bank: 'SCB' }),
  'debit reverse': reversible,
  'debit complete': open,
  'debit fail': open,
  'exception refund': completedLate,
  'provider update': () => ({ provider: 'other', ...settlementAccount('1041008002') }),
  'settlement complete': async () => ({ batch: await batch('built', '1041007001'), ...evidence }),
  'settlement retry': async () => ({ batch: await batch('rejected', '1041000000') }),
}

const approvable = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  Object.entries(verbs as Record<string, Verb>)
    .filter(([, { approval }]) => approval)
    .map(([verb]) => `${noun} ${verb}`),
)

test.each(approvable)(
  'the call `%s` waits for a second operator, who executes it once',
  async (words) => {
    const [noun = '', verb = ''] = words.split(' ')
    const options = (await optionsOf[words]?.()) ?? {}
    const [[key = '', target = ''] = []] = Object.entries(options)
    const state = () => operate(noun, 'show', { [key]: target })
    const previous = await state()
    const { approval } = await call(noun, verb, options, ama)
    const { id } = approval
    expect(approval).toMatchObject({ status: 'pending', noun, verb, target, requested_by: ama })
    expect(Date.parse(approval.expires_at) - Date.parse(approval.requested_at)).toBe(DAY_MS)
    expect(await refusalToGrant(id, ama)).toBe(SECOND)
    expect(await state()).toEqual(previous)
    expect(await grant(id)).not.toHaveProperty('approval')
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
    expect(await refusalToGrant(id, kofi)).toContain(MADE)
    expect(await refusalToGrant(id, esi)).toBe(`the request was already granted by ${kofi}`)
    expect(await changesOf(target)).toEqual(changes)
  },
)

test('a secret of a request is neither shown nor stored in plain text, and reaches the connector', async () => {
  const secret = 'cs_a_secret_of_this_test'
  const options = { bank: 'FBL', ...connector, 'connector-secret': secret }
  const id = await request('bank', 'update', options)
  expect((await show(id)).options).toMatchObject({ 'connector-secret': '-' })
  const { Items } = await table.send(new ScanCommand({ TableName: tableName() }))
  expect(JSON.stringify(Items)).toContain(id)
  const lists = [await call('approval', 'list'), await call('change', 'list', { limit: '1000' })]
  const visible = [Items, lists, await grant(id), service.lines]
  expect(JSON.stringify(visible)).not.toContain(secret)
  expect((await findConnectorSettings('FBL' as never))?.secret).toBe(secret)
})

describe('a call that needs no approval', () => {
  test('a call that needs no approval runs immediately, also with a verb that needs one for other options', async () => {
    const named = { provider: 'demo', name: 'Demo 2' }
    expect(await call('provider', 'update', named, ama)).toMatchObject({ name: 'Demo 2' })
    const limited = await call('bank', 'update', { bank: 'CAL', maximum: '400.00' }, ama)
    expect(limited).toMatchObject({ maximum: '400.00' })
    const provider = { provider: 'new-one', name: 'New', ...settlementAccount('1041008009') }
    const created = await call('provider', 'create', provider, ama)
    expect([numberOf(created), created.payouts_held_until]).toEqual(['1041008009', null])
    expect((await changesOf('new-one'))[0]).not.toHaveProperty('approved_by')
  })

  testInProcess.each(['false', undefined])(
    'a call of a stage with APPROVALS=%s runs immediately',
    async (value) => {
      vi.stubEnv('APPROVALS', value)
      const options = { provider: 'signed', ...settlementAccount('1041008010') }
      const updated = await call('provider', 'update', options)
      expect([numberOf(updated), updated.payouts_held_until]).toEqual(['1041008010', null])
    },
  )
})

describe('a request', () => {
  test.each([kofi, ama])('a request that %s denies is never executed', async (actor) => {
    const [id, newer] = [await changeAccount('1041008001'), await changeAccount('1041008001')]
    const reason = 'Not agreed'
    const denied = await call('approval', 'deny', { id, reason }, actor)
    expect(denied).toMatchObject({ status: 'denied', decided_by: actor, reason })
    const line = `the request was already denied by ${actor}`
    expect([await refusalToGrant(id, kofi), await refusalToDeny(id, esi)]).toEqual([line, line])
    const changed = { status: { from: 'pending', to: 'denied' }, reason: { to: reason } }
    expect((await changesOf(id))[0]).toMatchObject({ by: actor, verb: 'deny', changed })
    const ids = async (options: Options) =>
      (await call('approval', 'list', options)).map((one: Shown) => one.id)
    expect((await ids({ limit: '2' })).sort()).toEqual([id, newer].sort())
    expect((await ids({ status: 'pending' }))[0]).toBe(newer)
    expect((await ids({ status: 'denied' }))[0]).toBe(id)
    expect(await ids({ status: 'expired' })).toEqual([])
  })

  test('a request expires after 24 hours and can then be neither granted nor denied', async () => {
    const id = await changeAccount('1041008001')
    const send = async (verb: string, options: Options, ms = DAY_MS) => {
      const handler = manageApproval({ ...real, now: () => new Date(Date.now() + ms) })
      return (await handler({ verb, options, actor: kofi })) as OperatorReply
    }
    const expired = { error: expect.stringContaining('the request expired at') }
    for (const verb of ['grant', 'deny']) expect(await send(verb, { id })).toEqual(expired)
    const listed: Shown[] = printed(await send('list', { status: 'expired' }))
    expect(listed.map((one) => one.id)).toContain(id)
    const open = printed(await send('show', { id }, DAY_MS - 60_000))
    expect(open).toMatchObject({ status: 'pending' })
    // A grant that was recorded in time but not executed expires as well.
    const decision = { decision: 'granted', by: kofi, at: new Date() } as const
    expect(await decideApproval(id, decision, [], real)).toBe(true)
    expect(await send('grant', { id })).toEqual(expired)
    const shown = printed(await send('show', { id }))
    expect(shown).toMatchObject({ status: 'expired', done_at: null })
  })

  test('a request needs an operator with a name, as its decision does', async () => {
    const line = 'an approval needs an operator with a known name'
    const options = { provider: 'requested', ...settlementAccount('1041008003') }
    const id = await changeAccount('1041008001')
    for (const actor of [undefined, 'unknown', 'two words']) {
      expect(await refusal('provider', 'update', options, actor)).toBe(line)
      const decisions = [await refusalToGrant(id, actor), await refusalToDeny(id, actor)]
      expect(decisions).toEqual([line, line])
    }
  })

  test('a request is done with the reason when its call is refused, and needs the grant in its function', async () => {
    const create = () => request('bank', 'create', { bank: 'TWO', name: 'Two', connector: 'none' })
    const [first, second] = [await create(), await create()]
    const invoke = (noun: string, actor: string) =>
      service.invoke(`manage-${noun}`, { verb: 'create', options: {}, actor, approval: first })
    expect(await invoke('bank', kofi)).toEqual({ error: 'the request is not granted' })
    expect(await invoke('bank', ama)).toEqual({ error: SECOND })
    expect(await invoke('provider', kofi)).toEqual({ error: 'no such approval' })
    await grant(first)
    const line = 'this bank already exists'
    expect(await refusalToGrant(second, kofi)).toBe(line)
    expect(await show(second)).toMatchObject({ status: 'granted', refusal: line })
  })
})

describe('a grant', () => {
  test('a grant executes the call once when several grants arrive at the same time', async () => {
    const id = await changeAccount('1041008005')
    const before = (await changesOf('requested')).length
    const granting = [kofi, kofi, esi, esi, kofi].map((actor) => refusalToGrant(id, actor))
    const refusals = (await Promise.all(granting)).filter((line) => line !== undefined)
    expect(refusals).toHaveLength(4)
    expect(await changesOf('requested')).toHaveLength(before + 1)
    expect((await changesOf(id)).map(({ verb }) => verb)).toEqual(['grant', 'request'])
  })

  test('a grant that was recorded before a crash is retried by the same operator, after its lease', async () => {
    const id = await changeAccount('1041008006')
    const at = new Date()
    await decideApproval(id, { decision: 'granted', by: kofi, at }, [], real)
    expect(await refusalToGrant(id, esi)).toBe(`the request was already granted by ${kofi}`)
    const claim = { id, claim: 'lost worker', at, until: new Date(Date.now() + 200) }
    expect(await claimApproval(claim, real)).toBe(true)
    expect(await refusalToGrant(id, kofi)).toBe('the call is in progress or was already made')
    const done = await vi.waitFor(() => grant(id), { timeout: 5_000, interval: 20 })
    expect(numberOf(done)).toBe('1041008006')
  })

  testInProcess('a grant can be retried immediately when its call ends in a fault', async () => {
    const id = await changeAccount('1041008008')
    const { send } = table
    const spy = vi.spyOn(table, 'send').mockImplementation(((command: never) => {
      const isUpdate = JSON.stringify(command).includes('1041008008","accountName')
      return isUpdate ? Promise.reject(new Error('lost')) : Reflect.apply(send, table, [command])
    }) as never)
    await expect(grant(id)).rejects.toThrow('manage-provider')
    spy.mockRestore()
    expect(await show(id)).toMatchObject({ status: 'granted', done_at: null })
    const done = await grant(id)
    expect(numberOf(done)).toBe('1041008008')
    const heldMs = Date.parse(done.payouts_held_until) - Date.now()
    expect(Math.round(heldMs / 60_000)).toBe(24 * 60)
  })
})
