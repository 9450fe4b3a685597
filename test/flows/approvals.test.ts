import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { manageApproval } from '../../functions/operator/manage-approval.ts'
import type { BatchId } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { ApprovalId } from '../../shared/domain/operator/approval.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { noTotals, openBatch, payoutUuid } from '../../shared/domain/settlement/batch.ts'
import { type Day, dayOf, startOf } from '../../shared/domain/time.ts'
import { refusalOfObject } from '../../shared/operator/approvals.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import { guardedOf, type OperatorReply, type Verb } from '../../shared/operator/verbs.ts'
import { sqs } from '../../shared/queues/send.ts'
import { real } from '../../shared/runtime.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'
import { keys } from '../../shared/store/keys.ts'
import { claimApproval, decideApproval } from '../../shared/store/operator/approvals.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { findBatch } from '../../shared/store/settlement/batches.ts'
import { put, read, table, tableName } from '../../shared/store/table.ts'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { eventually } from '../support/eventually.ts'
import { nightAfter, settlementAccount } from '../support/payee.ts'
import { untilPayoutWaits } from '../support/payouts.ts'
import { createProvider } from '../support/provider.ts'
import { untilRefundWaits } from '../support/refunds.ts'
import { FAILS_AT_ONCE, SILENT } from '../support/requests.ts'
import { printed, type Shown, testInProcess, useService } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

/** Verbs that a second operator must approve, and the requests (docs/api.md#approvals). */

const service = useService({ approvals: true })
beforeAll(async () => {
  await createProvider(service, 'requested')
  // The debits of two calls that only wait.
  await call('exception', 'upload', { ...UPLOADED, rows: '["DCS-20261121-ABC123"]' })
  await completedLate()
})

const [ama = '', kofi = '', esi = ''] = ['ama', 'kofi', 'esi'].map(
  (name) => `arn:aws:iam::123456789012:user/${name}`,
)
const HASH = expect.stringMatching(/^[\w-]{22}$/)
const TIME = expect.stringMatching(/Z$/)
const MONEY = expect.stringMatching(/^[1-9][0-9]*\.[0-9]{2}$/)
const DIGITS = expect.stringMatching(/^\*{9}[0-9]{4}$/)
const UPLOADED = { bulk: 'uploaded-by-this-test' }
const SECOND = 'the requester cannot grant: a second operator is required'
const UNNAMED = 'an approval needs an operator with a known name'
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
/** Shows a request a day later. */
const showLater = async (id: string): Promise<Shown> => {
  const handler = manageApproval({ ...real, now: () => new Date(Date.now() + DAY_MS) })
  return printed((await handler({ verb: 'show', options: { id }, actor: kofi })) as OperatorReply)
}
const grant = (id: string, actor = kofi) => call('approval', 'grant', { id }, actor)
const refusalToGrant = (id: string, actor?: string) => refusal('approval', 'grant', { id }, actor)
const refusalToDeny = (id: string, actor?: string) => refusal('approval', 'deny', { id }, actor)
const changesOf = async (target: string): Promise<Shown[]> =>
  (await call('change', 'list', { limit: '1000' })).filter((one: Shown) => one.target === target)
const numberOf = ({ settlement_account }: Shown) => settlement_account.account_number

const completed = async (credential: string): Promise<string> =>
  (await service.chargeCompleted({}, credential)).reference

/** Builds a batch of a provider of the seeds, whose accounts are not held. */
const batch = async (provider: string): Promise<string> => {
  await completed(`sk_sandbox_${provider}`)
  const [built] = (await call('settlement', 'run', { date: nightAfter(0), provider })).built
  return built.id
}
const rejected = async (): Promise<string> => {
  const built = await batch('demo')
  await call('bank', 'behave', { bank: 'GCB', as: 'rejecting' })
  await grant(await request('settlement', 'process', { batch: built }))
  await call('bank', 'behave', { bank: 'GCB', as: 'normal' })
  return built
}

const REASON = { reason: 'GCB says by telephone that it will not pay' }
/** Makes a call while GCB leaves refunds and payouts underway. */
const whileSilent = async (noun: string, verb: string, options: Options): Promise<void> => {
  await call('bank', 'behave', { bank: 'GCB', as: 'silent' })
  await grant(await request(noun, verb, options))
  if (options.batch) await untilPayoutWaits(options.batch)
  else await untilRefundWaits(String(options.reference))
  await call('bank', 'behave', { bank: 'GCB', as: 'normal' })
}

const evidence = { 'bank-reference': 'GCB-7', reason: 'By telephone' }
const connector = { connector: 'http', 'connector-url': 'https://bank.test/debits' }
const hook = (path: string) => `http://127.0.0.1:9/${path}`

const open = async () => {
  const { reference } = await service.chargeUntil('processing', { phone_number: SILENT })
  return { reference, ...evidence }
}
const completedLate = async (): Promise<Options> => {
  const { reference } = await service.chargeCompletedLate()
  return { reference }
}
const hooked = async (id: string): Promise<Options> => {
  await createProvider(service, id)
  await call('webhook', 'set', { provider: id, url: hook('first') }, ama)
  return { provider: id }
}
const withHeldPayout = async (): Promise<Options> => {
  const provider = 'other'
  await batch(provider)
  await call('provider', 'disable', { provider }, ama)
  return { provider }
}
const account = { phone: '+233249999999', bank: 'GCB', name: 'Me', 'account-number': '1041009999' }
const remittance = { bank: 'GCB', amount: '1.00', reference: 'R-1', date: '2026-11-21' }

/** The options of a call of each verb that moves or redirects money, and the read that shows its effect. */
const optionsOf: Record<string, () => Options | Promise<Options>> = {
  'bank create': () => ({ bank: 'NEW', name: 'New Bank', connector: 'sandbox' }),
  'bank update': () => ({ bank: 'ADB', connector: 'none' }),
  'bank enable': async () => {
    await call('bank', 'update', { bank: 'ECO', status: 'suspended' }, ama)
    return { bank: 'ECO' }
  },
  'connector set': () => ({ bank: 'SBG', ...connector }),
  'connector remove': () => ({ bank: 'SCB' }),
  'credential issue': () => ({ bank: 'ABSA' }),
  'customer link': () => account,
  'customer import': async () => {
    const rows = JSON.stringify([['+233249999998', 'Me', '1041009998']])
    const upload = await call('customer', 'upload', { bank: 'GCB', rows })
    return { bank: 'GCB', file: 'customers.csv', ...upload }
  },
  // The customer of the import.
  'customer erase': () => ({ phone: '+233249999998', reason: 'Request 1' }),
  'customer repeat-erasures': async () => {
    const phone = '+233249999998'
    await grant(await request('customer', 'link', { ...account, phone }))
    await call('restore', 'begin', { generation: '2' })
    await call('restore', 'release')
    return { since: new Date(Date.now() - DAY_MS).toISOString() }
  },
  'debit reverse': async () => ({
    reference: await completed('sk_sandbox_demo'),
    reason: 'Dispute',
  }),
  'debit complete': open,
  'debit fail': open,
  'debit fail-refund': async () => {
    const reference = await completed('sk_sandbox_demo')
    await whileSilent('debit', 'reverse', { reference, reason: 'Dispute' })
    return { reference, ...REASON }
  },
  'exception refund': completedLate,
  'exception resolve': async () => {
    const { reference } = await completedLate()
    const rows = JSON.stringify([reference])
    return { file: 'late.csv', ...(await call('exception', 'upload', { rows })), note: 'Returned' }
  },
  'funding record': () => remittance,
  'funding correct': () => ({ reference: 'R-1', amount: '2.00', reason: 'Typing error' }),
  'limit set': () => ({ provider: 'demo', 'daily-limit': 'none' }),
  'limit remove': () => ({ provider: 'fenced' }),
  'provider create': () => ({ provider: 'paid', name: 'Paid', ...settlementAccount('1041008009') }),
  'provider enable': withHeldPayout,
  'provider update': () => ({ provider: 'other', ...settlementAccount('1041008002') }),
  'settlement complete': async () => {
    const { id, net } = await call('settlement', 'show', { batch: await batch('other') })
    const provider = { provider: 'other' }
    await call('provider', 'disable', provider, ama)
    onTestFinished(async () => {
      const { approval } = await call('provider', 'enable', provider, ama)
      if (approval) await grant(approval.id)
    })
    return { batch: id, ...evidence, amount: net }
  },
  'settlement fail': async () => {
    const underway = await batch('demo')
    await whileSilent('settlement', 'process', { batch: underway })
    return { batch: underway, ...REASON }
  },
  'settlement process': async () => ({ batch: await batch('demo') }),
  'settlement retry': async () => ({ batch: await rejected() }),
  'webhook set': async () => ({ ...(await hooked('re-pointed')), url: hook('second') }),
  'webhook rotate-secret': () => hooked('rotated'),
}
const NONE = { amount: null, provider: null, bank: null, account: null, uuid: null }
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/)
const ofDebit = { amount: '100.00', provider: 'demo', bank: 'GCB' }
const payout = (provider: string) => ({ amount: MONEY, provider, bank: 'GCB', account: DIGITS })

/** The members that the object of a request has besides those of its options. */
const objects: Record<string, object> = {
  'debit reverse': ofDebit,
  'debit complete': ofDebit,
  'debit fail': ofDebit,
  'debit fail-refund': { ...ofDebit, uuid: UUID },
  'exception refund': ofDebit,
  'funding correct': { bank: 'GCB' },
  'provider create': { bank: 'GCB', account: '*********8009' },
  'provider enable': payout('other'),
  'provider update': { bank: 'GCB', account: '*********8002' },
  'settlement complete': payout('other'),
  'settlement fail': { ...payout('demo'), uuid: UUID },
  'settlement process': payout('demo'),
  'settlement retry': payout('demo'),
}
const readers: Record<string, { verb: string; options: (given: Options) => Options }> = {
  'credential issue': { verb: 'list', options: ({ bank = '' }) => ({ bank }) },
  'customer link': { verb: 'list', options: ({ phone = '' }) => ({ phone }) },
  'customer import': { verb: 'list', options: () => ({ phone: '+233249999998' }) },
  'customer erase': { verb: 'list', options: ({ phone = '' }) => ({ phone }) },
  'customer repeat-erasures': { verb: 'list', options: () => ({ phone: '+233249999998' }) },
  'exception resolve': { verb: 'list', options: () => ({}) },
  'funding record': { verb: 'list', options: () => ({}) },
  'funding correct': { verb: 'list', options: () => ({}) },
}

const approvable = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  Object.entries(verbs as Record<string, Verb>)
    .filter(([, { effect }]) => effect === 'money')
    .map(([verb]) => `${noun} ${verb}`),
)

test.each(approvable)(
  'the call `%s` waits for a second operator, who executes it once',
  async (words) => {
    const [noun = '', verb = ''] = words.split(' ')
    const options = (await optionsOf[words]?.()) ?? {}
    const [[key = '', target = ''] = []] = Object.entries(options)
    const reader = readers[words] ?? { verb: 'show', options: () => ({ [key]: target }) }
    const state = () => operate(noun, reader.verb, reader.options(options))
    const changes = async (): Promise<Shown[]> => call('change', 'list', { limit: '1000' })
    const previous = await state()
    const { approval } = await call(noun, verb, options, ama)
    const { id } = approval
    expect(approval).toMatchObject({ status: 'pending', noun, verb, target, requested_by: ama })
    const own = Object.entries(options).filter(([name]) => name in NONE)
    expect(approval.object).toEqual({ ...NONE, ...Object.fromEntries(own), ...objects[words] })
    expect(Date.parse(approval.expires_at) - Date.parse(approval.requested_at)).toBe(DAY_MS)
    expect(await refusalToGrant(id, ama)).toBe(SECOND)
    expect(await state()).toEqual(previous)
    expect(await grant(id)).not.toHaveProperty('approval')
    expect(await state()).not.toEqual(previous)
    const decided = { status: 'granted', decided_by: kofi, done_at: TIME, refusal: null }
    expect(await show(id)).toMatchObject({ ...decided, object: approval.object })
    const made = await changes()
    const change = made.find((one) => one.noun === noun && one.verb === verb)
    expect(change).toMatchObject({ by: ama, approved_by: kofi })
    const shown = (await show(id)).target
    if ('phone' in options) expect(shown).toEqual(HASH)
    else expect(shown).toBe(target)
    const changed = { request: { from: null, to: `${noun} ${verb} ${shown}` } }
    expect(await changesOf(id)).toMatchObject([
      { by: kofi, noun: 'approval', verb: 'grant' },
      { by: ama, noun: 'approval', verb: 'request', changed },
    ])
    expect(await refusalToGrant(id, kofi)).toContain(MADE)
    expect(await refusalToGrant(id, esi)).toBe(`the request was already granted by ${kofi}`)
    expect(await changes()).toEqual(made)
  },
)

test('a secret of a request is neither shown nor stored in plain text, and reaches the connector', async () => {
  const secret = 'cs_a_secret_of_this_test'
  const options = { bank: 'FBL', ...connector, 'connector-secret': secret }
  const id = await request('bank', 'update', options)
  expect((await show(id)).options).toMatchObject({ 'connector-secret': '-' })
  const items = await service.items()
  expect(JSON.stringify(items)).toContain(id)
  const lists = [await call('approval', 'list'), await call('change', 'list', { limit: '1000' })]
  const visible = [items, lists, await grant(id), service.lines]
  expect(JSON.stringify(visible)).not.toContain(secret)
  expect((await findConnectorSettings('FBL' as never))?.secret).toBe(secret)
})

const PERSONAL = ['name', 'phone', 'account-number'] as const

describe('a request about a customer', () => {
  const link = (digits: string) => ({
    ...{ phone: `+23324${digits}`, bank: 'GCB', name: `Efua ${digits}` },
    'account-number': `10410${digits}`,
  })
  const requestLink = (digits: string) => request('customer', 'link', link(digits))
  /** Returns the items with a personal text of the request. */
  const plainItems = async (digits: string) =>
    (await service.items()).filter((item) => {
      const texts = PERSONAL.map((name) => link(digits)[name])
      return texts.some((text) => JSON.stringify(item).includes(text))
    })

  test('a pending request shows its options, which expire with it, apart from its keyed hashes', async () => {
    const id = await requestLink('5500001')
    const shown = await show(id)
    expect(shown).toMatchObject({ target: link('5500001').phone, options: link('5500001') })
    const [listed] = await call('approval', 'list', { limit: '1' })
    expect(listed).toEqual(shown)
    const expiresAt = Math.floor(Date.parse(shown.expires_at) / 1000)
    expect(await plainItems('5500001')).toMatchObject([{ pk: `APPROVAL#${id}`, expiresAt }])
    const hashed = { phone: HASH, name: HASH, 'account-number': HASH, bank: 'GCB' }
    expect(await showLater(id)).toMatchObject({ status: 'expired', target: HASH, options: hashed })
  })

  test('a denied request keeps only keyed hashes of the customer', async () => {
    const id = await requestLink('5500002')
    await call('approval', 'deny', { id }, kofi)
    expect(await plainItems('5500002')).toEqual([])
    expect((await show(id)).options).toMatchObject({ phone: HASH, name: HASH })
  })

  test('a granted request links the account, and keeps only keyed hashes of the customer', async () => {
    const id = await requestLink('5500003')
    await grant(id)
    const { phone } = link('5500003')
    expect(await plainItems('5500003')).toMatchObject([{ pk: `CUSTOMER#${phone}` }])
    expect((await show(id)).options).toMatchObject({ phone: HASH, name: HASH })
    const verbs = (await call('change', 'list', { phone })).map((one: Shown) => one.verb)
    expect(verbs.toSorted()).toEqual(['grant', 'link', 'request'])
  })

  test('a granted request that is refused keeps only keyed hashes of the customer', async () => {
    const bank = { bank: 'GONE', name: 'Gone' }
    await call('bank', 'create', bank, ama)
    const id = await request('customer', 'link', { ...link('5500004'), bank: 'GONE' })
    const key = { pk: 'BANKS', sk: 'GONE' }
    await table.send(new DeleteCommand({ TableName: tableName(), Key: key }))
    expect(await refusalToGrant(id, kofi)).toBe('no such bank')
    expect(await plainItems('5500004')).toEqual([])
    expect(await show(id)).toMatchObject({ refusal: 'no such bank', options: { phone: HASH } })
  })
})

/** A value of each option that redirects money; a row with a value has it. */
const redirecting: Options = {
  bank: 'GCB',
  ...connector,
  'connector-secret': 'cs_a_secret_of_this_test',
  'allow-list': '0.0.0.0/0',
  ...{ name: 'GCB Bank', 'fee-basis-points': '0', 'fee-fixed': 'none' },
  ...{ 'fee-minimum': 'none', 'fee-maximum': 'none' },
  ...settlementAccount('1041008011'),
  ...{ file: 'late.csv', from: '2020-01-01' },
}
/** The options that a call with one of them also needs. */
const required: Record<string, Options> = {
  'bank create': { bank: 'TRY', name: 'Bank', ...connector },
  'bank update': { bank: 'ZEN', ...connector },
  'exception resolve --file': { ...UPLOADED, note: 'Returned' },
  'exception resolve --from': {
    ...{ kind: 'late_completion', bank: 'GCB', to: dayOf(new Date()), note: 'Returned' },
  },
  'limit set': { provider: 'demo' },
  'provider create': { provider: 'try', name: 'Try', ...settlementAccount('1041008012') },
  'provider update': { provider: 'demo' },
}
const isSettlement = (name: string) => name.startsWith('settlement-')

/** The options of each rule, such as the four of `fee-*`. */
const triggers = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  Object.entries(verbs as Record<string, Verb>).flatMap(([verb, row]) => {
    if (row.effect !== 'money' || row.approval === 'always') return []
    const names = Object.keys(row.options.entries)
    return guardedOf(row.approval).flatMap((rule) => {
      const [word = '', value] = rule.split(' ')
      const isMatch = (name: string) =>
        word.endsWith('*') ? name.startsWith(word.slice(0, -1)) : name === word
      const matching = names.filter(isMatch)
      if (matching.length === 0) throw new Error(`${noun} ${verb} has no option --${rule}`)
      return matching.map((name) => [`${noun} ${verb}`, name, value ?? redirecting[name] ?? ''])
    })
  }),
)

test.each(triggers)(
  'the call `%s` with --%s %s waits for a second operator',
  async (words = '', name = '', value = '') => {
    const [noun = '', verb = ''] = words.split(' ')
    const account = isSettlement(name) ? settlementAccount('1041008013') : {}
    const others = required[`${words} --${name}`] ?? required[words]
    const options = { ...others, ...account, [name]: value }
    const { approval } = await call(noun, verb, options, ama)
    expect(approval).toMatchObject({ status: 'pending', noun, verb })
  },
)

test.each(['live', 'inactive'])(
  'a change of a suspended bank to %s waits for a second operator',
  async (status) => {
    await call('bank', 'update', { bank: 'ECO', status: 'suspended' }, ama)
    const id = await request('bank', 'update', { bank: 'ECO', status })
    expect(await call('bank', 'show', { bank: 'ECO' })).toMatchObject({ status: 'suspended' })
    expect(await grant(id)).toMatchObject({ status })
  },
)

const atOnce: [string, string, Options][] = [
  ['bank', 'update', { bank: 'CAL', maximum: '400.00' }],
  ['bank', 'disable', { bank: 'CAL' }],
  ['bank', 'enable', { bank: 'CAL' }],
  ['bank', 'update', { bank: 'CAL', status: 'inactive' }],
  ['bank', 'update', { bank: 'CAL', status: 'suspended' }],
  // Ends no suspension.
  ['bank', 'update', { bank: 'CAL', maximum: 'none' }],
  ['bank', 'disable', { bank: 'CAL' }],
  ['provider', 'create', { provider: 'new-one', name: 'New' }],
  ['provider', 'update', { provider: 'new-one', duplicates: 'reject' }],
  ['provider', 'disable', { provider: 'new-one' }],
  // Holds no payout.
  ['provider', 'enable', { provider: 'new-one' }],
  ['credential', 'issue', { provider: 'new-one' }],
  ['limit', 'set', { provider: 'new-one', 'daily-limit': '500.00' }],
  ['webhook', 'set', { provider: 'new-one', url: hook('own') }],
  ['webhook', 'set', { provider: 'new-one', url: hook('own'), timeout: '20' }],
  ['webhook', 'remove', { provider: 'new-one' }],
  ['customer', 'unlink', { phone: account.phone, bank: 'GCB' }],
]

test('a request whose secret is sealed again is carried out, and one whose key is lost is refused', async () => {
  const secret = 'cs_another_secret_of_this_test'
  const options = { bank: 'FBL', ...connector, 'connector-secret': secret }
  const id = await request('bank', 'update', options)
  const stored = () => read<{ secrets: string }>(keys.approval(id))
  const before = await stored()
  expect(await call('secret', 'reseal', {}, ama)).toMatchObject({ unreadable: 0 })
  expect((await stored())?.secrets).not.toBe(before?.secrets)
  await grant(id)
  expect((await findConnectorSettings('FBL' as never))?.secret).toBe(secret)
  const lost = await request('bank', 'update', options)
  const unreadable = await hooked('unreadable')
  for (const SecretString of ['one key', 'another key']) {
    const command = new PutSecretValueCommand({ SecretId: 'sealing-key', SecretString })
    await new SecretsManagerClient().send(command)
  }
  const counted = async () => (await call('secret', 'reseal', {}, ama)).unreadable
  const unreadableBefore = await counted()
  expect(await refusalToGrant(lost, kofi)).toContain('cannot be opened: request it again')
  expect(await show(lost)).toMatchObject({ refusal: expect.stringContaining('request it again') })
  expect(await counted()).toBe(Number(unreadableBefore) - 1)
  // A webhook whose secret is lost gets a new one.
  await request('webhook', 'set', { ...unreadable, url: hook('first') })
})

describe('a call that needs no approval', () => {
  test('a call that needs no approval runs immediately, also with a verb that needs one for other options', async () => {
    for (const [noun, verb, options] of atOnce) {
      expect(await call(noun, verb, options, ama), `${noun} ${verb}`).not.toHaveProperty('approval')
    }
    expect((await changesOf('new-one')).at(-1)).not.toHaveProperty('approved_by')
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
    const expiresAt = new Date(Date.parse((await show(id)).requested_at) + DAY_MS)
    const before = new Date(expiresAt.getTime() - 1)
    const send = async (verb: string, options: Options, at = expiresAt) => {
      const handler = manageApproval({ ...real, now: () => at })
      return (await handler({ verb, options, actor: kofi })) as OperatorReply
    }
    const expired = { error: expect.stringContaining('the request expired at') }
    for (const verb of ['grant', 'deny']) expect(await send(verb, { id })).toEqual(expired)
    const listed: Shown[] = printed(await send('list', { status: 'expired' }))
    expect(listed.map((one) => one.id)).toContain(id)
    const open = printed(await send('show', { id }, before))
    expect(open).toMatchObject({ status: 'pending' })
    // A grant that was recorded in time but not executed expires as well.
    const decide = (at: Date) => decideApproval(id, { decision: 'granted', by: kofi, at }, [], real)
    expect([await decide(expiresAt), await decide(before)]).toEqual([false, true])
    const claim = (at: Date) => claimApproval({ id, claim: 'worker', at, until: expiresAt })
    expect([await claim(expiresAt), await claim(before)]).toEqual([false, true])
    expect(await send('grant', { id })).toEqual(expired)
    const shown = printed(await send('show', { id }))
    expect(shown).toMatchObject({ status: 'expired', done_at: null })
  })

  test('a request needs an operator with a name, as its decision does', async () => {
    const options = { provider: 'requested', ...settlementAccount('1041008003') }
    const id = await changeAccount('1041008001')
    for (const actor of [undefined, 'unknown', 'two words']) {
      expect(await refusal('provider', 'update', options, actor)).toBe(UNNAMED)
      const decisions = [await refusalToGrant(id, actor), await refusalToDeny(id, actor)]
      expect(decisions).toEqual([UNNAMED, UNNAMED])
    }
  })

  test('a webhook that follows a removed one waits for a second operator, because its secret is new', async () => {
    const options = await hooked('removed')
    await call('webhook', 'remove', options, ama)
    await request('webhook', 'set', { ...options, url: hook('first') })
  })

  test('a granted URL of a webhook that is disabled enables it', async () => {
    const options = await hooked('unhealthy')
    const at = new Date()
    await changeHealth(options.provider as ProviderId, () => ({ failingSince: at, disabledAt: at }))
    expect(await call('webhook', 'show', options, ama)).toMatchObject({ health: 'disabled' })
    const id = await request('webhook', 'set', { ...options, url: hook('second') })
    expect(await grant(id)).toMatchObject({ url: hook('second') })
    expect(await call('webhook', 'show', options, ama)).toMatchObject({ health: 'healthy' })
  })

  test.each(['ARN:aws:iam::123456789012:user/AMA', `${ama}/`, `${ama} `, `${ama}_`])(
    'a request of ama cannot be granted by %s',
    async (actor) => {
      const line = await refusalToGrant(await changeAccount('1041008001'), actor)
      expect(line).toBe(actor.endsWith(' ') ? UNNAMED : SECOND)
    },
  )

  test.each([
    ['array', [kofi]],
    ['object', { toString: 1 }],
    ['number', 7],
  ])('a call is refused when its actor is an %s', async (_, actor) => {
    const event = { verb: 'list', options: {}, actor }
    const refused = { error: 'the actor must be text' }
    expect(await service.invoke('manage-approval', event)).toEqual(refused)
  })

  test('a payout that a disabled provider holds is refused before its day', async () => {
    const id = await batch('demo')
    await call('provider', 'disable', { provider: 'demo' }, ama)
    const held = 'demo is disabled: its payouts are held until operator provider enable'
    expect(await refusal('settlement', 'process', { batch: id }, ama)).toBe(held)
    await grant(await request('provider', 'enable', { provider: 'demo' }))
  })

  test('a granted retry of a settlement whose bank gives no reply takes effect', async () => {
    const built = await rejected()
    const id = await request('settlement', 'retry', { batch: built })
    await call('bank', 'behave', { bank: 'GCB', as: 'down' })
    onTestFinished(() => call('bank', 'behave', { bank: 'GCB', as: 'normal' }))
    expect(await grant(id)).toMatchObject({ id: built, status: 'processing' })
    expect(await show(id)).toMatchObject({ status: 'granted', done_at: TIME, refusal: null })
    expect(await refusalToGrant(id, kofi)).toContain(MADE)
    await call('bank', 'behave', { bank: 'GCB', as: 'normal' })
    // The payout that has begun needs no approval.
    const paid = await call('settlement', 'process', { batch: built }, ama)
    expect(paid).toMatchObject({ status: 'completed' })
  })

  test('a run of a future day pays no batch early', async () => {
    const id = await batch('demo')
    const { paid, unpaid } = await call('settlement', 'run', { date: nightAfter(1) }, ama)
    const details = `payable on ${nightAfter(1)}: settlement process requests an approval`
    expect(unpaid).toContainEqual(expect.objectContaining({ batch: id, code: 5001, details }))
    expect(paid).toEqual([])
    expect(await call('settlement', 'show', { batch: id })).toMatchObject({ status: 'pending' })
  })

  test('the hold of a batch that is not sealed ends after an approval', async () => {
    const provider = 'fenced' as ProviderId
    const id = 'STL-20261122-ABC123' as BatchId
    const facts = { id, uuid: payoutUuid(id, 1), provider, date: '2026-11-22' as Day, n: 1 }
    const batch = openBatch({ ...facts, createdAt: new Date(), feeSchedule: null })
    await put(keys.batch(id), 'batch', toBatchItem(batch))
    await call('provider', 'disable', { provider }, ama)
    await grant(await request('provider', 'enable', { provider }))
  })

  test('a refund that the service refuses makes no request', async () => {
    const reference = await completed('sk_sandbox_demo')
    const { uuid } = await service.show(reference)
    const failed = { status: 'failed', bank_reference: 'GCB-0001', error_message: 'Not debited' }
    await service.report(uuid, failed)
    const reversal = { reference, reason: 'x' }
    const blocked = expect.stringContaining('reverse with --refund none')
    expect(await refusal('debit', 'reverse', reversal, ama)).toEqual(blocked)
    expect(await refusal('exception', 'refund', { reference }, ama)).toEqual(blocked)
    await request('debit', 'reverse', { ...reversal, refund: 'none' })
    const late = await completedLate()
    await call('exception', 'resolve', { ...late, note: 'GCB returned it' }, ama)
    const noted = expect.stringContaining('--despite-note true')
    expect(await refusal('exception', 'refund', late, ama)).toEqual(noted)
    await request('exception', 'refund', { ...late, 'despite-note': 'true' })
  })

  test('a call about money that its object refuses makes no request', async () => {
    const [{ reference: done }, { reference: failed }] = await Promise.all([
      service.chargeCompleted(),
      service.chargeUntil('failed', { phone_number: FAILS_AT_ONCE }),
    ])
    const unpaid = await batch('demo')
    const refusals: [title: string, options: Options, refusal: string][] = [
      ['debit reverse', { reference: failed, reason: 'x' }, 'from failed to reversed'],
      ['debit complete', { reference: done, ...evidence }, 'from completed to completed'],
      ['debit complete', { reference: failed, ...evidence }, 'from failed to completed'],
      ['debit fail', { reference: done, ...evidence }, 'from completed to failed'],
      ['debit fail-refund', { reference: done, ...REASON }, 'no such refund'],
      ['settlement retry', { batch: unpaid }, 'only a failed batch can be retried'],
      ['settlement fail', { batch: unpaid, ...REASON }, 'the payout has not begun'],
      ['settlement complete', { batch: unpaid, amount: '98.50', ...evidence }, 'would pay'],
    ]
    for (const [title, options, line] of refusals) {
      const [noun = '', verb = ''] = title.split(' ')
      expect(await refusal(noun, verb, options, ama)).toContain(line)
    }
  })

  testInProcess(
    'a new URL of a bank is refused at its grant if a debit has begun at the bank since the request',
    async () => {
      const bank = 'UMB'
      await grant(await request('connector', 'set', { bank, connector: 'sandbox' }))
      await grant(await request('customer', 'link', { ...account, phone: SILENT, bank }))
      const id = await request('connector', 'set', { bank, ...connector })
      const fields = { phone_number: SILENT, bank_identifier: bank }
      const { reference } = await service.chargeUntil('processing', fields)
      vi.stubEnv('SANDBOX_BANK', 'false')
      const refused = await refusalToGrant(id, kofi)
      vi.unstubAllEnvs()
      expect(refused).toContain(
        `debit ${reference} is processing: end it first, or --knows-uuids true`,
      )
      expect(await call('connector', 'show', { bank })).toMatchObject({ connector: 'sandbox' })
    },
  )

  test.each([
    ['settlement fail', 'settlement retry'],
    ['debit fail-refund', 'exception refund'],
  ])(
    'the grant of a %s is refused after a later %s to which the bank has not replied',
    async (fails, retries) => {
      const [noun = '', verb = ''] = fails.split(' ')
      const options = (await optionsOf[fails]?.()) ?? {}
      const [first, second] = [
        await request(noun, verb, options),
        await request(noun, verb, options),
      ]
      await grant(first)
      const { reason, ...target } = options
      const [retrying = '', retry = ''] = retries.split(' ')
      await whileSilent(retrying, retry, target)
      const { uuid } = (await show(second)).object
      const next = (await show(await request(noun, verb, options))).object.uuid
      const line = `the uuid is ${next}, not ${uuid}: request it again`
      expect(await refusalToGrant(second, kofi)).toBe(line)
    },
  )

  test('the grant of a payout by hand is refused after a later retry to which the bank has not replied', async () => {
    const built = await rejected()
    const id = await request('settlement', 'complete', { batch: built, ...evidence })
    expect((await show(id)).object.uuid).toBeNull()
    await whileSilent('settlement', 'retry', { batch: built })
    const fails = await request('settlement', 'fail', { batch: built, ...REASON })
    const { uuid } = (await show(fails)).object
    const line = `the uuid is ${uuid}, not none: request it again`
    expect(await refusalToGrant(id, kofi)).toBe(line)
    expect(await call('settlement', 'show', { batch: built })).toMatchObject({
      status: 'processing',
    })
    await grant(fails)
  })

  test('the refusal of a grant shows a member that the object no longer has as none', () => {
    const refusal = refusalOfObject({ amount: pesewas(5_00) })
    expect(refusal?.details).toBe('the amount is none, not 5.00: request it again')
  })

  test('a grant is refused when the call would release another amount than its request shows', async () => {
    const charge = { phone_number: SILENT }
    const { reference } = await service.chargeUntil('processing', charge, 'sk_sandbox_other')
    const provider = await withHeldPayout()
    const id = await request('provider', 'enable', provider)
    const { amount } = (await show(id)).object
    await grant(await request('debit', 'complete', { reference, ...evidence }))
    await call('settlement', 'run', { date: nightAfter(0), ...provider })
    const next = await request('provider', 'enable', provider)
    const { amount: larger } = (await show(next)).object
    const line = `the amount is ${larger}, not ${amount}: request it again`
    expect(await refusalToGrant(id, kofi)).toBe(line)
    expect(await show(id)).toMatchObject({ refusal: line, object: { amount } })
    expect(await grant(next)).toMatchObject({ status: 'active' })
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

/** Stores a batch whose payout is due. */
const dueBatch = async (id: BatchId): Promise<BatchId> => {
  const facts = { id, uuid: payoutUuid(id, 1), provider: 'demo' as ProviderId, n: 1 }
  const opened = openBatch({ ...facts, date: DUE, createdAt: startOf(DUE), feeSchedule: null })
  const totals = { ...noTotals, net: pesewas(98_50) }
  const built = { ...opened, totals, sealedAt: startOf(DUE), reportedAt: startOf(DUE) }
  await put(keys.batch(id), 'batch', toBatchItem(built))
  return id
}
const DUE = '2020-11-22' as Day

const claimsCall = (command: string) => command.includes('SET claim = :claim')
const endsCall = (command: string) => command.includes('SET doneAt')
const hasEffect = (command: string) => endsCall(command) && command.includes('"entity":"change"')
const lost = () => Promise.reject(new Error('lost'))

describe('a grant', () => {
  test('a grant prints the data of a customer to the operator who is recorded as their reader', async () => {
    const { reference } = await service.chargeCompleted()
    await grant(await request('debit', 'reverse', { reference, reason: 'Dispute' }))
    const reads = await call('customer', 'accesses', { phone: SILENT })
    const ofReversal = reads.filter(({ verb }: Shown) => verb === 'reverse')
    expect(ofReversal).toMatchObject([{ by: kofi, noun: 'debit' }])
  })

  test('a grant executes the call once when several grants arrive at the same time', async () => {
    const id = await changeAccount('1041008005')
    const before = (await changesOf('requested')).length
    const granting = [kofi, kofi, esi, esi, kofi].map((actor) => refusalToGrant(id, actor))
    const refusals = (await Promise.all(granting)).filter((line) => line !== undefined)
    expect(refusals).toHaveLength(4)
    expect(await changesOf('requested')).toHaveLength(before + 1)
    expect((await changesOf(id)).map(({ verb }) => verb)).toEqual(['grant', 'request'])
  })

  testInProcess(
    'a grant that read its request before another grant finished has no effect',
    async () => {
      const id = await changeAccount('1041008007')
      const before = (await changesOf('requested')).length
      const finished = Promise.withResolvers<void>()
      const claiming = Promise.withResolvers<void>()
      const restore = aroundTableCalls(async (_, next, command) => {
        if (claimsCall(command())) {
          restore()
          claiming.resolve()
          await finished.promise
        }
        return next()
      })
      const late = refusalToGrant(id, kofi)
      await claiming.promise
      expect(numberOf(await grant(id))).toBe('1041008007')
      finished.resolve()
      expect(await late).toBe('the call is in progress or was already made')
      expect(await changesOf('requested')).toHaveLength(before + 1)
    },
  )

  test('a grant that was recorded before a crash is retried by the same operator, after its lease', async () => {
    const id = await changeAccount('1041008006')
    const at = new Date()
    await decideApproval(id, { decision: 'granted', by: kofi, at }, [], real)
    expect(await refusalToGrant(id, esi)).toBe(`the request was already granted by ${kofi}`)
    const until = new Date(Date.now() + 2_000)
    const claim = (worker: string, time: Date) =>
      claimApproval({ id, claim: worker, at: time, until })
    expect(await claim('lost worker', at)).toBe(true)
    expect(await refusalToGrant(id, kofi)).toBe('the call is in progress or was already made')
    expect(await claim('other', new Date(until.getTime() - 1))).toBe(false)
    expect(await claim('other', until)).toBe(true)
    const done = await eventually(() => grant(id))
    expect(numberOf(done)).toBe('1041008006')
  })

  testInProcess.each([
    'exception refund',
    'credential issue',
    'settlement process',
    'settlement retry',
  ])('the call `%s` is not made again when the worker fails after it', async (title) => {
    const [noun = '', verb = ''] = title.split(' ')
    const options = (await optionsOf[title]?.()) ?? {}
    const id = await request(noun, verb, options)
    const restore = aroundTableCalls((_, next, command) =>
      endsCall(command()) && !hasEffect(command()) ? lost() : next(),
    )
    await expect(grant(id)).rejects.toThrow(`manage-${noun}`).finally(restore)
    expect(await showLater(id)).toMatchObject({ status: 'granted', done_at: TIME, refusal: null })
    const before = await call('change', 'list', { limit: '1000' })
    expect(await refusalToGrant(id, kofi)).toContain(MADE)
    expect(await call('change', 'list', { limit: '1000' })).toEqual(before)
  })

  test('a payout that its bank leaves unanswered is made by its grant, and the next grant continues it', async () => {
    const built = await batch('demo')
    const process = () => request('settlement', 'process', { batch: built })
    const [first, second] = [await process(), await process()]
    await call('bank', 'behave', { bank: 'GCB', as: 'down' })
    expect(await grant(first)).toMatchObject({ status: 'processing' })
    await call('bank', 'behave', { bank: 'GCB', as: 'normal' })
    expect(await grant(second)).toMatchObject({ status: 'completed' })
    expect(await refusalToGrant(first, kofi)).toContain(MADE)
    for (const id of [first, second])
      expect(await show(id)).toMatchObject({ status: 'granted', done_at: TIME, refusal: null })
    const statuses = (await changesOf(built)).map(({ changed }) => changed.from_status.to)
    expect(statuses).toEqual(['processing', 'pending'])
  })

  testInProcess.each([
    ['an account', () => changeAccount('1041008010')],
    ['a refund', async () => request('exception', 'refund', await completedLate())],
  ])(
    'the call of %s ends once when a worker whose clock is ahead claims it again',
    async (_, requesting) => {
      const id = await requesting()
      const changing = Promise.withResolvers<void>()
      const overtaking = Promise.withResolvers<void>()
      const ended = Promise.withResolvers<void>()
      let changes = 0
      aroundTableCalls(async (_, next, command) => {
        if (hasEffect(command())) {
          changes += 1
          if (changes === 1) {
            changing.resolve()
            await overtaking.promise
          } else if (changes === 2) {
            overtaking.resolve()
            await ended.promise
          }
        }
        return next()
      })
      const first = grant(id)
      await changing.promise
      await table.send(
        new UpdateCommand({
          ...{ TableName: tableName(), Key: keys.approval(id) },
          UpdateExpression: 'SET claimedUntil = :past',
          ExpressionAttributeValues: { ':past': new Date(0).toISOString() },
        }),
      )
      const second = service.invoke('manage-approval', {
        verb: 'grant',
        options: { id },
        actor: kofi,
      })
      await first
      const done = await show(id)
      expect(done).toMatchObject({ status: 'granted', done_at: TIME, refusal: null })
      ended.resolve()
      await second
      expect(await show(id)).toEqual(done)
    },
  )

  testInProcess(
    'a grant can be retried immediately when the reply to its claim is lost',
    async () => {
      const id = await changeAccount('1041008011')
      const restore = aroundTableCalls(async (_, next, command) => {
        const reply = await next()
        return claimsCall(command()) ? lost() : reply
      })
      await expect(grant(id)).rejects.toThrow('manage-provider').finally(restore)
      expect(numberOf(await grant(id))).toBe('1041008011')
    },
  )

  testInProcess.each(['record', 'correct'])(
    'a granted funding %s that SQS refused wakes the waiting payouts when its grant is repeated',
    async (verb) => {
      const due = await dueBatch(`STL-20201122-${verb.slice(0, 6).toUpperCase()}` as BatchId)
      const own = { ...remittance, reference: `R-${verb}` }
      if (verb === 'correct') await grant(await request('funding', 'record', own))
      const { bank, reference } = own
      const amount = '80000.00'
      const changed = verb === 'record' ? own : { bank, reference, reason: 'Typing error' }
      const id = await request('funding', verb, { ...changed, amount })
      vi.stubEnv('PAYOUTS_WAIT_FOR_FUNDING', 'true')
      const { send } = sqs
      const spy = vi
        .spyOn(sqs, 'send')
        .mockImplementation(((command: never) =>
          JSON.stringify(command).includes(due)
            ? Promise.reject(new Error('refused'))
            : Reflect.apply(send, sqs, [command])) as never)
      await expect(grant(id)).rejects.toThrow('manage-funding')
      spy.mockRestore()
      expect(await grant(id)).toMatchObject({ reference, amount })
      // A request that no grant can fulfil is not stored.
      const other = await refusal('funding', 'record', { ...own, amount: '3.00' }, ama)
      expect(other).toContain(`is recorded with ${amount}`)
      await eventually(async () => expect((await findBatch(due))?.status).toBe('completed'))
      expect(await refusalToGrant(id, kofi)).toContain(MADE)
    },
  )

  testInProcess('a grant can be retried immediately when its call ends in a fault', async () => {
    const id = await changeAccount('1041008008')
    const restore = aroundTableCalls((_, next, command) =>
      command().includes('1041008008","accountName') ? lost() : next(),
    )
    await expect(grant(id)).rejects.toThrow('manage-provider').finally(restore)
    expect(await show(id)).toMatchObject({ status: 'granted', done_at: null })
    const done = await grant(id)
    expect(numberOf(done)).toBe('1041008008')
    const heldMs = Date.parse(done.payouts_held_until) - Date.now()
    expect(Math.round(heldMs / 60_000)).toBe(24 * 60)
  })
})
