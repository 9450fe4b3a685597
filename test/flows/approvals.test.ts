import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, test, vi } from 'vitest'
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
import { printed, type Shown, SILENT, updatePath, useService } from '../support/running-service.ts'

/** Calls that a second operator must approve (docs/api.md#approvals). */

const service = useService({ timeScale: 60, approvals: true })

const [ama, kofi, esi] = ['ama', 'kofi', 'esi'].map(
  (name) => `arn:aws:iam::123456789012:user/${name}`,
) as [string, string, string]

type Options = Record<string, string>

/** Calls a function through the Lambda API, as the operator command does. */
const call = async (
  actor: string | undefined,
  noun: string,
  verb: string,
  options: Options = {},
) => {
  const path = `/2015-03-31/functions/manage-${noun}/invocations`
  const response = await fetch(`${service.sandbox().address}${path}`, {
    method: 'POST',
    body: JSON.stringify({ verb, options, ...(actor ? { actor } : {}) }),
  })
  return (await response.json()) as OperatorReply
}

const operate = async (actor: string, noun: string, verb: string, options: Options = {}) =>
  printed(await call(actor, noun, verb, options))

const errorOf = async (reply: Promise<OperatorReply>): Promise<string> => {
  const { error } = (await reply) as { error?: string }
  if (error === undefined) throw new Error('not refused')
  return error
}

/** Requests an approval as ama and returns its id. */
const request = async (noun: string, verb: string, options: Options): Promise<string> =>
  (await operate(ama, noun, verb, options)).approval.id

const grant = (actor: string | undefined, id: string) => call(actor, 'approval', 'grant', { id })

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

const lateCompletion = async (): Promise<string> => {
  const { reference, uuid } = await service.chargeUntil('failed', { phone_number: '+233241111111' })
  const { status } = await service.send('POST', updatePath(uuid), {
    credential: 'bt_sandbox_gcb',
    body: { status: 'completed', bank_reference: 'GCB-0001', approval_method: 'ussd' },
  })
  expect(status).toBe(422)
  return reference
}

const rejectedBatch = async (): Promise<string> => {
  const payee = await createPayee(service, 'rejected', { 'settlement-account': '1041000000' })
  await payee.complete('100.00')
  const [batch] = (await payee.run(nightAfter(0))).built
  expect((await payee.run(nightAfter(1))).paid).toMatchObject([{ id: batch.id, status: 'failed' }])
  return batch.id
}

const builtBatch = async (): Promise<string> => {
  const payee = await createPayee(service, 'built')
  await payee.complete('100.00')
  return (await payee.run(nightAfter(0))).built[0].id
}

/** A call of each verb that needs an approval. */
const rows: [noun: string, verb: string, options: () => Options | Promise<Options>][] = [
  ['bank', 'create', () => ({ bank: 'NEW', name: 'New Bank', connector: 'sandbox' })],
  ['bank', 'update', () => ({ bank: 'ADB', connector: 'none' })],
  [
    'connector',
    'set',
    () => ({ bank: 'SBG', connector: 'http', 'connector-url': 'https://bank.test/debits' }),
  ],
  ['connector', 'remove', () => ({ bank: 'SCB' })],
  [
    'debit',
    'reverse',
    async () => ({
      reference: (await service.chargeUntil('completed')).reference,
      reason: 'Dispute',
    }),
  ],
  ...(['complete', 'fail'] as const).map((verb): [string, string, () => Promise<Options>] => [
    'debit',
    verb,
    async () => ({
      reference: (await service.chargeUntil('processing', { phone_number: SILENT })).reference,
      'bank-reference': 'GCB-7',
      reason: 'By telephone',
    }),
  ]),
  ['exception', 'refund', async () => ({ reference: await lateCompletion() })],
  ['provider', 'update', () => ({ provider: 'other', ...account('1041008002') })],
  [
    'settlement',
    'complete',
    async () => ({ batch: await builtBatch(), 'bank-reference': 'GCB-7', reason: 'By telephone' }),
  ],
  ['settlement', 'retry', async () => ({ batch: await rejectedBatch() })],
]

const approvable = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  Object.entries(verbs as Record<string, Verb>)
    .filter(([, { approval }]) => approval)
    .map(([verb]) => `${noun} ${verb}`),
)

describe('every verb that needs an approval', () => {
  test('has a row in this test, and manage-approval may invoke its function', () => {
    expect(rows.map(([noun, verb]) => `${noun} ${verb}`).sort()).toEqual(approvable.sort())
    const functions = approvable.map((words) => `manage-${words.split(' ')[0]}`)
    expect([...(permissionsOf('manage-approval').invokes ?? [])].sort()).toEqual(
      [...new Set(functions)].sort(),
    )
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
      expect(await state()).toEqual(previous)
      expect(await errorOf(grant(ama, id))).toBe(
        'the requester cannot grant: a second operator is required',
      )
      expect(await state()).toEqual(previous)

      const result = printed(await grant(kofi, id))
      expect(result).not.toHaveProperty('approval')
      expect(await state()).not.toEqual(previous)
      expect(await show(id)).toMatchObject({
        status: 'granted',
        decided_by: kofi,
        done_at: expect.stringMatching(/Z$/),
        refusal: null,
      })
      expect((await changesOf(target))[0]).toMatchObject({ by: ama, approved_by: kofi, noun, verb })
      expect(await changesOf(id)).toMatchObject([
        { by: kofi, noun: 'approval', verb: 'grant' },
        {
          by: ama,
          noun: 'approval',
          verb: 'request',
          changed: { request: { from: null, to: `${noun} ${verb} ${target}` } },
        },
      ])

      const changes = await changesOf(target)
      expect(await errorOf(grant(kofi, id))).toContain('the call was already made at')
      expect(await errorOf(grant(esi, id))).toBe(`the request was already granted by ${kofi}`)
      expect(await changesOf(target)).toEqual(changes)
    },
  )
})

describe('a request', () => {
  beforeAll(async () => {
    await createProvider(service, 'requested')
  })

  test('is listed by its status, newest first', async () => {
    const older = await changeAccount('requested')
    const newer = await changeAccount('requested')
    await operate(kofi, 'approval', 'deny', { id: older })
    const ids = async (options: Options) =>
      (await operate(ama, 'approval', 'list', options)).map(({ id }: Shown) => id)
    expect((await ids({})).slice(0, 2)).toEqual([newer, older])
    expect((await ids({ limit: '1' })).length).toBe(1)
    expect(await ids({ status: 'pending' })).toContain(newer)
    expect(await ids({ status: 'pending' })).not.toContain(older)
    expect(await ids({ status: 'denied' })).toContain(older)
    expect(await ids({ status: 'expired' })).toEqual([])
  })

  test.each([
    ['another operator', kofi],
    ['its requester', ama],
  ])('that %s denies is never executed', async (_, actor) => {
    const id = await changeAccount('requested')
    const denied = await operate(actor, 'approval', 'deny', { id, reason: 'Not agreed' })
    expect(denied).toMatchObject({ status: 'denied', decided_by: actor, reason: 'Not agreed' })
    const refusal = `the request was already denied by ${actor}`
    expect(await errorOf(grant(kofi, id))).toBe(refusal)
    expect(await errorOf(call(esi, 'approval', 'deny', { id }))).toBe(refusal)
    expect((await changesOf(id))[0]).toMatchObject({
      by: actor,
      verb: 'deny',
      changed: { status: { from: 'pending', to: 'denied' }, reason: { to: 'Not agreed' } },
    })
  })

  test('expires after 24 hours and can then be neither granted nor denied', async () => {
    const id = await changeAccount('requested')
    const later = (ms: number) => manageApproval({ ...real, now: () => new Date(Date.now() + ms) })
    const decide = (verb: string, handler = later(86_400_000)) =>
      handler({ verb, options: { id }, actor: kofi }) as Promise<OperatorReply>
    expect(await errorOf(decide('grant'))).toContain('the request expired at')
    expect(await errorOf(decide('deny'))).toContain('the request expired at')
    const listed = await later(86_400_000)({
      verb: 'list',
      options: { status: 'expired' },
      actor: kofi,
    })
    expect(printed(listed).map((one: Shown) => one.id)).toContain(id)
    expect(printed(await decide('show', later(86_340_000)))).toMatchObject({ status: 'pending' })
    // A grant that was recorded in time but not executed expires as well.
    const decision = { decision: 'granted', by: kofi, at: new Date() } as const
    expect(await decideApproval(id as ApprovalId, decision, [], real)).toBe(true)
    expect(await errorOf(decide('grant'))).toContain('the request expired at')
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
    const refused: [string, string, Options, string][] = [
      ['provider', 'update', { provider: 'nobody', ...account('1041008004') }, 'no such provider'],
      ['bank', 'update', { bank: 'XXX', connector: 'none' }, 'no such bank'],
      ['debit', 'reverse', { reference: 'DCS-20261121-ABC123', reason: 'x' }, 'no such debit'],
      ['settlement', 'retry', { batch: 'STL-20261122-ABC123' }, 'Settlement batch not found'],
      [
        'provider',
        'update',
        { provider: 'demo', 'settlement-account': 'x' },
        '--settlement-account',
      ],
      ['provider', 'update', { provider: 'demo', 'settlement-bank': 'GCB' }, 'is required'],
      [
        'provider',
        'update',
        { provider: 'demo', ...account('1041008004'), 'settlement-bank': 'XXX' },
        'no such bank',
      ],
      ['bank', 'create', { bank: 'GCB', name: 'Again', connector: 'none' }, 'already exists'],
      ['bank', 'update', { bank: 'GCB', connector: 'http' }, '--connector-url: is required'],
      ['connector', 'set', { bank: 'XXX', connector: 'none' }, 'no such bank'],
      [
        'connector',
        'set',
        { bank: 'GCB', 'connector-url': 'https://x.test/' },
        'applies to connector',
      ],
      ['connector', 'remove', { bank: 'XXX' }, 'no such bank'],
    ]
    const count = async () => (await operate(ama, 'approval', 'list')).length
    const before = await count()
    for (const [noun, verb, options, line] of refused) {
      expect(await errorOf(call(ama, noun, verb, options))).toContain(line)
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
    printed(await grant(kofi, first))
    expect(await errorOf(grant(kofi, second))).toBe('this bank already exists')
    expect(await show(second)).toMatchObject({
      status: 'granted',
      refusal: 'this bank already exists',
    })
    expect(await errorOf(grant(kofi, second))).toContain('the call was already made at')
  })

  test('is executed by its own function only after the grant', async () => {
    const id = await changeAccount('requested')
    const invoke = (noun: string, actor: string) =>
      errorOf(
        service.invoke(`manage-${noun}`, {
          verb: 'update',
          options: {},
          actor,
          approval: id,
        }) as never,
      )
    expect(await invoke('provider', kofi)).toBe('the request is not granted')
    expect(await invoke('provider', ama)).toBe(
      'the requester cannot grant: a second operator is required',
    )
    expect(await invoke('bank', kofi)).toBe('no such approval')
  })
})

describe('a grant', () => {
  beforeAll(async () => {
    await createProvider(service, 'granted')
  })

  const updates = async () =>
    (await changesOf('granted')).filter(({ noun, verb }) => `${noun} ${verb}` === 'provider update')

  test('executes the call once when several grants arrive at the same time', async () => {
    const before = (await updates()).length
    const id = await changeAccount('granted', '1041008005')
    const replies = await Promise.all([kofi, kofi, esi, esi, kofi].map((actor) => grant(actor, id)))
    expect(replies.filter((reply) => 'result' in reply)).toHaveLength(1)
    expect(await updates()).toHaveLength(before + 1)
    const decisions = await changesOf(id)
    expect(decisions.filter(({ verb }) => verb === 'grant')).toHaveLength(1)
  })

  test('that was recorded before a crash is retried by the same operator', async () => {
    const id = (await changeAccount('granted', '1041008006')) as ApprovalId
    await decideApproval(id, { decision: 'granted', by: kofi, at: new Date() }, [], real)
    expect(await errorOf(grant(esi, id))).toBe(`the request was already granted by ${kofi}`)
    expect(printed(await grant(kofi, id)).settlement_account.account_number).toBe('1041008006')
    expect(await errorOf(grant(kofi, id))).toContain('the call was already made at')
  })

  test('waits for a worker that holds the lease of the call, and only until the lease ends', async () => {
    const id = (await changeAccount('granted', '1041008007')) as ApprovalId
    const at = new Date()
    await decideApproval(id, { decision: 'granted', by: kofi, at }, [], real)
    const claim = { id, claim: 'lost worker', at, until: new Date(Date.now() + 1_000) }
    expect(await claimApproval(claim, real)).toBe(true)
    expect(await errorOf(grant(kofi, id))).toBe('the call is in progress or was already made')
    await vi.waitFor(async () => printed(await grant(kofi, id)), { timeout: 5_000, interval: 100 })
    expect(await show(id)).toMatchObject({ done_at: expect.stringMatching(/Z$/) })
  })

  test('can be retried immediately when its call ends in a fault', async () => {
    const id = await changeAccount('granted', '1041008008')
    const { send } = table
    const spy = vi.spyOn(table, 'send').mockImplementation(((command: never) => {
      const isUpdate = JSON.stringify(command).includes('1041008008","accountName')
      return isUpdate ? Promise.reject(new Error('lost')) : Reflect.apply(send, table, [command])
    }) as never)
    try {
      const reply = (await grant(kofi, id)) as unknown as { errorMessage: string }
      expect(reply.errorMessage).toContain('manage-provider')
      expect(await show(id)).toMatchObject({ status: 'granted', done_at: null })
    } finally {
      spy.mockRestore()
    }
    expect(printed(await grant(kofi, id)).settlement_account.account_number).toBe('1041008008')
  })
})

describe('a secret', () => {
  test('of a request is neither shown nor stored in plain text, and reaches the connector', async () => {
    const secret = 'cs_a_secret_of_this_test'
    const id = await request('bank', 'update', {
      bank: 'FBL',
      connector: 'http',
      'connector-url': 'https://bank.test/debits',
      'connector-secret': secret,
    })
    expect((await show(id)).options).toMatchObject({ 'connector-secret': '-' })
    const listed = [
      await operate(kofi, 'approval', 'list'),
      await operate(kofi, 'change', 'list', { limit: '1000' }),
    ]
    expect(JSON.stringify(listed)).not.toContain(secret)
    const items = await table.send(new ScanCommand({ TableName: tableName() }))
    expect(JSON.stringify(items.Items)).toContain(id)
    expect(JSON.stringify(items.Items)).not.toContain(secret)

    const granted = await grant(kofi, id)
    expect(JSON.stringify(granted)).not.toContain(secret)
    expect(JSON.stringify(service.lines)).not.toContain(secret)
    expect((await findConnectorSettings('FBL' as never))?.secret).toBe(secret)
  })
})

describe('a changed settlement account', () => {
  test('holds payouts for 24 hours, unless it is the first account of the provider', async () => {
    const payee = await createPayee(service, 'held')
    await payee.complete('100.00')
    const [batch] = (await payee.run(nightAfter(0))).built
    expect(await operate(ama, 'provider', 'show', { provider: 'held' })).toMatchObject({
      payouts_held_until: null,
    })
    const { payouts_held_until: until } = printed(await grant(kofi, await changeAccount('held')))
    const hours = (Date.parse(until) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThanOrEqual(24)
    expect(await errorOf(call(ama, 'settlement', 'process', { batch: batch.id }))).toBe(
      `the settlement account changed: payouts are held until ${until}`,
    )
    const [unpaid] = (await payee.run(nightAfter(1))).unpaid
    expect(unpaid).toMatchObject({ batch: batch.id, code: 5001 })
    expect(unpaid.details).toContain(until)
  })
})

describe('a call that needs no approval', () => {
  test('runs immediately, also with a verb that needs an approval for other options', async () => {
    const named = await operate(ama, 'provider', 'update', { provider: 'demo', name: 'Demo 2' })
    expect(named).toMatchObject({ id: 'demo', name: 'Demo 2' })
    const limited = await operate(ama, 'bank', 'update', { bank: 'CAL', maximum: '400.00' })
    expect(limited).toMatchObject({ maximum: '400.00' })
    const provider = { provider: 'new-one', name: 'New', ...account('1041008009') }
    expect(await operate(ama, 'provider', 'create', provider)).toMatchObject({
      settlement_account: { account_number: '1041008009' },
      payouts_held_until: null,
    })
    const [change] = await changesOf('new-one')
    expect(change).not.toHaveProperty('approved_by')
  })

  test.each(['false', undefined])('is every call of a stage with APPROVALS=%s', async (value) => {
    vi.stubEnv('APPROVALS', value)
    try {
      const options = { provider: 'signed', ...account('1041008010') }
      expect(await operate(ama, 'provider', 'update', options)).toMatchObject({
        settlement_account: { account_number: '1041008010' },
        payouts_held_until: null,
      })
      const reply = await service.operate('connector', 'remove', { bank: 'ZEN' })
      expect(printed(reply)).toMatchObject({ bank: 'ZEN', connector: 'none' })
    } finally {
      vi.unstubAllEnvs()
    }
  })
})
