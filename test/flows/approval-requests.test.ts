import { beforeAll, describe, expect, test, vi } from 'vitest'
import { manageApproval } from '../../functions/operator/manage-approval.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { real } from '../../shared/runtime.ts'
import { claimApproval, decideApproval } from '../../shared/store/operator/approvals.ts'
import { table } from '../../shared/store/table.ts'
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
import { createProvider } from '../support/provider.ts'
import { rowsOf } from '../support/rows.ts'
import { printed, type Shown, useService } from '../support/running-service.ts'

/** Requests for an approval and their decisions (docs/api.md#approvals). */

const service = useService({ approvals: true })
const { call, operate, request, grant, granted, show, changeAccount, changesOf } =
  operatorsOf(service)

describe('a request', () => {
  beforeAll(async () => void (await createProvider(service, 'requested')))

  test.each([kofi, ama])(
    'that %s denies is never executed and is listed as denied',
    async (actor) => {
      const [id, newer] = [await changeAccount('requested'), await changeAccount('requested')]
      const reason = 'Not agreed'
      const denied = await operate(actor, 'approval', 'deny', { id, reason })
      expect(denied).toMatchObject({ status: 'denied', decided_by: actor, reason })
      const refusal = `the request was already denied by ${actor}`
      expect(await errorOf(grant(kofi, id))).toBe(refusal)
      expect(await errorOf(call(esi, 'approval', 'deny', { id }))).toBe(refusal)
      const changed = { status: { from: 'pending', to: 'denied' }, reason: { to: reason } }
      expect((await changesOf(id))[0]).toMatchObject({ by: actor, verb: 'deny', changed })
      const ids = async (options: Options) =>
        (await operate(ama, 'approval', 'list', options)).map((one: Shown) => one.id)
      expect((await ids({ limit: '2' })).sort()).toEqual([id, newer].sort())
      expect((await ids({ status: 'pending' }))[0]).toBe(newer)
      expect((await ids({ status: 'denied' }))[0]).toBe(id)
      expect(await ids({ status: 'expired' })).toEqual([])
    },
  )

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

  test('needs an operator with a name, as its decision does', async () => {
    const refusal = 'an approval needs an operator with a known name'
    const options = { provider: 'requested', ...account('1041008003') }
    const id = await changeAccount('requested')
    for (const actor of [undefined, 'unknown', 'two words']) {
      expect(await errorOf(call(actor, 'provider', 'update', options))).toBe(refusal)
      expect(await errorOf(grant(actor, id))).toBe(refusal)
      expect(await errorOf(call(actor, 'approval', 'deny', { id }))).toBe(refusal)
    }
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

  test('is done with the reason when its call is refused, and needs the grant in its function', async () => {
    const create = () => request('bank', 'create', { bank: 'TWO', name: 'Two', connector: 'none' })
    const [first, second] = [await create(), await create()]
    const invoke = (noun: string, actor: string) => {
      const event = { verb: 'create', options: {}, actor, approval: first }
      return errorOf(service.invoke(`manage-${noun}`, event) as never)
    }
    expect(await invoke('bank', kofi)).toBe('the request is not granted')
    expect(await invoke('bank', ama)).toBe(SECOND)
    expect(await invoke('provider', kofi)).toBe('no such approval')
    await granted(first)
    const refusal = 'this bank already exists'
    expect(await errorOf(grant(kofi, second))).toBe(refusal)
    expect(await show(second)).toMatchObject({ status: 'granted', refusal })
    expect(await errorOf(grant(kofi, second))).toContain(MADE)
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
