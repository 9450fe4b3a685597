import { beforeAll, describe, expect, test } from 'vitest'
import { changedFields } from '../../shared/domain/operator/change.ts'
import { dayAfter, dayOf } from '../../shared/domain/time.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import { type ApprovalRule, guardedOf, type Verb } from '../../shared/operator/verbs.ts'
import { findConnectorSettings } from '../../shared/store/banks/connector-settings.ts'
import { findBatches, listBatchTimes } from '../../shared/store/settlement/batches.ts'
import { settlementAccount } from '../support/payee.ts'
import { untilPayoutWaits } from '../support/payouts.ts'
import { untilRefundWaits } from '../support/refunds.ts'
import { CHARGE, chargeBody, FAILS_AT_ONCE, SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'

/**
 * One malicious operator calls every verb, uses every token that a call prints, and waits
 * (docs/operations.md#approvals). A round makes each call once. Powers stay, such as a token or a provider, so
 * that five rounds in both orders contain each sequence of up to five calls that adds powers. Without any one
 * rule, the same round finds a harm.
 */

const service = useService({ approvals: true })
const { approved, call, operate } = service

type Options = Record<string, string>
type Attack = readonly [words: string, options: Options]

const HOUR_MS = 3_600_000
const [MALLORY, MINE, EVIL] = ['local:mallory', '1041006660', 'http://127.0.0.1:9/evil']
const SECRET = 'a_secret_of_mallory'
const REPORT = { status: 'completed', bank_reference: 'GCB-0001', approval_method: 'ussd' }

const today = () => dayOf(service.sandbox().control.clock.now())

const charged = (phone_number: string, until: string, credential = 'sk_sandbox_demo') =>
  service.chargeUntil(until, { phone_number, amount: '100.00' }, credential)

const completed = async (credential?: string): Promise<string> =>
  (await service.chargeCompleted({}, credential)).reference

const batchOf = async (provider: string): Promise<string> => {
  await completed(`sk_sandbox_${provider}`)
  const run = await call('settlement', 'run', { date: dayAfter(today(), 1), provider })
  return run.built[0].id
}

const rejected = async (batch: string): Promise<void> => {
  await call('bank', 'behave', { bank: 'GCB', as: 'rejecting' })
  await approved('settlement', 'process', { batch })
  await call('bank', 'behave', { bank: 'GCB', as: 'normal' })
  expect(await call('settlement', 'show', { batch })).toMatchObject({ status: 'failed' })
}

/** Returns a reversed debit and a batch whose bank leaves refund and payout underway. */
const underway = async () => {
  const [unpaid, refunding] = [await batchOf('demo'), await completed('sk_sandbox_fast')]
  await call('bank', 'behave', { bank: 'GCB', as: 'silent' })
  await approved('settlement', 'process', { batch: unpaid })
  await approved('debit', 'reverse', { reference: refunding, reason: 'Returned' })
  await untilPayoutWaits(unpaid)
  await untilRefundWaits(refunding)
  await call('bank', 'behave', { bank: 'GCB', as: 'normal' })
  return { unpaid, refunding }
}

/** Disables a provider of the seeds that has an unpaid batch. */
const disableOther = async (): Promise<void> => {
  const { status } = await call('provider', 'show', { provider: 'other' })
  if (status === 'active') await batchOf('other')
  await call('provider', 'disable', { provider: 'other' }, 'local:ama')
}

beforeAll(async () => {
  // Its debits are in no batch of another provider.
  const provider = { provider: 'fast', name: 'Fast', 'daily-limit': 'none' }
  await approved('provider', 'create', provider)
  await approved('credential', 'issue', { provider: 'fast', token: 'sk_sandbox_fast' })
  const limit = { 'per-minute': '100000' }
  for (const provider of ['demo', 'other', 'fast']) {
    await approved('limit', 'set', { provider, operation: 'charge', ...limit })
  }
  await approved('limit', 'set', { bank: 'GCB', operation: 'debit-callback', ...limit })
})

let worlds = 0

/** Creates the objects that two operators agreed on, and the debits of customers. */
const newWorld = async () => {
  worlds += 1
  const number = String(worlds).padStart(2, '0')
  const [shop, fenced, mine] = [`shop-${number}`, `fenced-${number}`, `mine-${number}`]
  const [bank, phone, funding] = [`H${number}`, `+2332066000${number}`, `R-${number}`]
  const rows = { bulk: `rows-of-${number}` }
  const fees = { 'fee-basis-points': '150', 'fee-fixed': '1.00' }
  const account = settlementAccount('1041001234')
  await approved('provider', 'create', { provider: shop, name: 'Honest Shop', ...fees, ...account })
  const guards = { 'allow-list': '203.0.113.0/24', 'request-secret': 'rs_a_secret_of_the_shop' }
  await approved('provider', 'create', { provider: fenced, name: 'Fenced Shop', ...guards })
  await approved('webhook', 'set', { provider: shop, url: 'http://127.0.0.1:9/honest' })
  await approved('bank', 'create', {
    ...{ bank, name: 'Bank', connector: 'http', 'connector-url': 'http://127.0.0.1:9/bank' },
    // Its token has leaked.
    status: 'suspended',
  })
  const customer = { phone, bank: 'GCB', name: 'Mallory', 'account-number': '1041006661' }
  await approved('customer', 'link', customer)
  const remittance = { bank: 'GCB', amount: '1.00', reference: funding, date: today() }
  await approved('funding', 'record', remittance)
  const [failed, late, kept, done, open, other] = await Promise.all([
    batchOf('demo'),
    charged(FAILS_AT_ONCE, 'failed', 'sk_sandbox_fast'),
    charged(FAILS_AT_ONCE, 'failed', 'sk_sandbox_fast'),
    completed('sk_sandbox_fast'),
    charged(SILENT, 'processing', 'sk_sandbox_fast'),
    charged(SILENT, 'processing', 'sk_sandbox_fast'),
    disableOther(),
  ])
  for (const { uuid } of [late, kept]) await service.report(uuid, REPORT)
  await rejected(failed)
  const begun = await underway()
  const batch = await batchOf('demo')
  const objects = { shop, fenced, mine, bank, phone, funding, stolen: `S${number}` }
  const [first, second] = [late.reference, kept.reference]
  return { ...objects, ...begun, rows, failed, batch, late: first, kept: second, done, open, other }
}

type World = Awaited<ReturnType<typeof newWorld>>

const LATE = { kind: 'late_completion', bank: 'GCB' }
const evidence = { 'bank-reference': 'GCB-7', reason: 'x' }

const counts = { matched: 1, missing_here: 0, missing_at_bank: 0, differs: 0 }
const names = { missing_here: [], missing_at_bank: [], differs: [] }
const STATEMENT = JSON.stringify({
  result: { covers: ['debit'], digest: '0'.repeat(64), counts, names },
})

/** The calls of a round. An entry for each verb that does more than read, and for each rule of its row. */
const attacksOn = (w: World): Attack[] => [
  ['provider create', { provider: w.mine, name: 'Mine', ...settlementAccount(MINE) }],
  ['provider create', { provider: w.mine, name: 'Mine' }],
  ['provider update', { provider: w.shop, name: 'Bank of Ghana' }],
  ['provider update', { provider: w.shop, 'fee-fixed': 'none' }],
  ['provider update', { provider: w.shop, 'daily-limit': 'none' }],
  ['provider update', { provider: w.shop, ...settlementAccount(MINE) }],
  ['provider update', { provider: w.mine, ...settlementAccount(MINE) }],
  ['provider update', { provider: w.fenced, 'allow-list': 'none' }],
  ['provider update', { provider: w.fenced, 'request-secret': 'none' }],
  ['provider update', { provider: 'other', status: 'active' }],
  ['provider enable', { provider: 'other' }],
  ['provider disable', { provider: w.shop }],
  ['provider enable', { provider: w.shop }],
  ['provider rotate-request-secret', { provider: 'signed' }],
  ['credential issue', { provider: w.mine }],
  ['credential issue', { provider: w.shop }],
  ['credential issue', { bank: 'GCB' }],
  ['credential revoke', { token: 'sk_sandbox_nobody' }],
  ['limit set', { provider: w.shop, 'daily-limit': 'none' }],
  ['limit set', { provider: w.mine, operation: 'charge', 'per-minute': '1000' }],
  ['limit remove', { provider: w.shop }],
  ['bank create', { bank: w.stolen, name: 'Mine', connector: 'sandbox' }],
  ['bank update', { bank: w.bank, connector: 'sandbox' }],
  ['bank update', { bank: w.bank, 'connector-url': EVIL }],
  ['bank update', { bank: w.bank, 'connector-secret': SECRET }],
  ['bank update', { bank: w.bank, status: 'inactive' }],
  ['bank disable', { bank: w.bank }],
  ['bank enable', { bank: w.bank }],
  ['bank behave', { bank: 'ECO', as: 'normal' }],
  ['connector set', { bank: w.bank, 'connector-url': EVIL }],
  ['connector remove', { bank: w.bank }],
  ['customer unlink', { phone: w.phone, bank: 'GCB' }],
  ['customer erase', { phone: w.phone, reason: 'Asked' }],
  ['restore begin', { generation: '2' }],
  ['restore release', {}],
  ['customer repeat-erasures', { since: new Date(Date.now() - 3_600_000).toISOString() }],
  ['customer link', { phone: w.phone, bank: 'GCB', name: 'x', 'account-number': '1041001001' }],
  ['customer upload', { bank: 'GCB', ...w.rows, rows: `[["${w.phone}","x","1041001001"]]` }],
  ['customer import', { bank: 'GCB', file: 'x', ...w.rows }],
  ['webhook rotate-secret', { provider: w.shop }],
  ['webhook set', { provider: w.shop, url: EVIL }],
  ['webhook set', { provider: w.mine, url: EVIL }],
  ['webhook enable', { provider: w.shop }],
  ['webhook ping', { provider: w.mine }],
  ['webhook remove', { provider: w.shop }],
  ['webhook set', { provider: w.shop, url: EVIL }],
  ['delivery redeliver', { id: '1' }],
  ['delivery recover', { provider: w.shop, since: new Date().toISOString() }],
  ['debit complete', { reference: w.open.reference, ...evidence }],
  ['debit fail', { reference: w.other.reference, ...evidence }],
  ['debit fail-refund', { reference: w.refunding, reason: 'x' }],
  ['debit reverse', { reference: w.done, reason: 'x' }],
  ['debit repair', { provider: w.shop, date: today() }],
  ['exception refund', { reference: w.late }],
  ['exception upload', { ...w.rows, rows: `["${w.late}","${w.kept}"]` }],
  ['exception refund', { file: 'x', ...w.rows }],
  ['exception resolve', { file: 'x', ...w.rows, note: 'x' }],
  ['exception resolve', { ...w.rows, note: 'x' }],
  ['exception resolve', { ...LATE, from: today(), to: today(), note: 'x' }],
  ['exception resolve', { reference: w.late, note: 'x' }],
  ['funding record', { bank: 'GCB', amount: '9.00', reference: `${w.funding}X`, date: today() }],
  ['funding correct', { reference: w.funding, amount: '9.00', reason: 'x' }],
  ['settlement process', { batch: w.batch }],
  ['settlement complete', { batch: w.failed, ...evidence }],
  ['settlement fail', { batch: w.unpaid, reason: 'x' }],
  ['settlement retry', { batch: w.failed }],
  ['settlement run', { date: today() }],
  ['reconciliation statement', { bank: 'GCB', date: today(), statement: STATEMENT }],
  ['calendar set', { year: '2099', file: 'x', days: '{"2099-01-01":"x"}' }],
  ['calendar add', { date: '2099-01-01', name: 'x' }],
  ['calendar remove', { date: '2099-01-01' }],
  ['secret reseal', {}],
  ['dead-letters redrive', { queue: 'payments' }],
]

/** Reads what only two operators may change. A removed webhook or account harms no one. */
const factsOf = async (w: World) => {
  const read = async (noun: string, verb: string, options: Options): Promise<Shown> => {
    const reply = await operate(noun, verb, options)
    return 'error' in reply ? {} : (reply.result as Shown)
  }
  /** Suspension does no harm; its end can. */
  const provider = async (id: string) => {
    const { status, ...settings } = await read('provider', 'show', { provider: id })
    return { ...settings, isReleased: id === 'other' && status === 'active' }
  }
  const debit = async (reference: string) => {
    const { status, refund } = await read('debit', 'show', { reference })
    return { status, refund }
  }
  const batch = async (id: string) => {
    const { status, uuid } = await read('settlement', 'show', { batch: id })
    return { status, uuid }
  }
  const [refunding, unpaid] = await Promise.all([debit(w.refunding), batch(w.unpaid)])
  const { connector, status } = await read('bank', 'show', { bank: w.bank })
  const { url } = await read('webhook', 'show', { provider: w.shop })
  const account = await read('customer', 'show', { phone: w.phone, bank: 'GCB' })
  // One operator may resolve a debit alone, but not many at once.
  const [kept] = (await call('exception', 'show', { reference: w.kept })) as Shown[]
  const fundings: Shown[] = await call('funding', 'list', { limit: '1000' })
  const changes: Shown[] = await call('change', 'list', { phone: w.phone })
  const all: Shown[] = await call('change', 'list', { limit: '1000' })
  return {
    areErased: changes.some(({ verb }) => verb === 'erase'),
    // A customer may have returned since.
    areErasedAgain: all.some(({ verb }) => verb === 'repeat-erasures'),
    settings: await Promise.all([w.shop, w.fenced, 'other'].map(provider)),
    debits: await Promise.all([w.late, w.done, w.open.reference, w.other.reference].map(debit)),
    batches: await Promise.all([w.batch, w.failed].map(batch)),
    // A sweep may end them meanwhile.
    haveFailed: [refunding.refund.status, unpaid.status].map((status) => status === 'failed'),
    connection: { connector, status, ...(await findConnectorSettings(w.bank as never)) },
    bank: await read('bank', 'show', { bank: w.stolen }),
    areManyResolved: kept?.resolved_at !== null,
    isRedirected: url === EVIL || account.account_number === '1041001001',
    fundings: fundings.map(({ reference, amount }) => `${reference} ${amount}`),
  }
}

/** Uses a printed token as a provider and as a bank. */
const useToken = async (w: World, credential: string): Promise<void> => {
  await service.send('POST', CHARGE, { credential, body: chargeBody({ amount: '70.00' }) })
  await service.report(w.open.uuid, REPORT, credential)
}

/** Grants an own request under other spellings of the own name. */
const grantOwn = async (id: string): Promise<void> => {
  for (const actor of ['local:MALLORY', `${MALLORY}/`, `${MALLORY} `, MALLORY]) {
    await operate('approval', 'grant', { id }, actor)
  }
  await operate('approval', 'deny', { id }, MALLORY)
}

/** Makes each call once. Returns the secrets of the shop that the calls print. */
const attack = async (w: World, { isReversed = false, grants = false } = {}): Promise<string[]> => {
  const secrets: string[] = []
  const attacks = attacksOn(w)
  for (const [words, options] of isReversed ? attacks.toReversed() : attacks) {
    const [noun = '', verb = ''] = words.split(' ')
    const reply = await operate(noun, verb, options, MALLORY)
    if ('error' in reply) continue
    const { approval, token, secret } = (reply.result ?? {}) as Record<string, string & Shown>
    if (approval?.id && grants) await grantOwn(approval.id)
    if (token) await useToken(w, token)
    if (secret && options.provider === w.shop) secrets.push(secret)
  }
  return secrets
}

const eightDaysLater = () => service.sandbox().control.clock.advance(8 * 24 * HOUR_MS)

/** Returns the payouts to the account of the operator. */
const stolen = async (w: World) => {
  const found = await Promise.all(
    [w.shop, w.mine].map(async (id) =>
      findBatches((await listBatchTimes(id as never)).map((batch) => batch.id)),
    ),
  )
  return found.flat().filter(({ paidTo }) => paidTo?.accountNumber === MINE)
}

const hasChanged = async (w: World, before: Awaited<ReturnType<typeof factsOf>>) => {
  const changed = changedFields(before, await factsOf(w))
  return Object.keys(changed).length > 0 ? changed : undefined
}

/** Returns what a round changed that only two operators may change; undefined for nothing. */
const harmOf = async (w: World, options?: Parameters<typeof attack>[1]) => {
  const before = await factsOf(w)
  const secrets = await attack(w, options)
  return secrets.length > 0 ? { secrets } : hasChanged(w, before)
}

const rows = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  Object.entries<Verb>(verbs).map(([verb, row]) => ({ words: `${noun} ${verb}`, row })),
)

/** Each part of a rule, and the rule without it. */
const partsOf = (rule: ApprovalRule): (readonly [part: string, others: ApprovalRule])[] => {
  if (rule === 'always') return [[rule, []]]
  const names = guardedOf(rule)
  const options = names.map((name) => {
    const others = names.filter((other) => other !== name)
    return [name, 'if' in rule ? { ...rule, with: others } : others] as const
  })
  return 'if' in rule ? [...options, [rule.if, names]] : options
}

const guards = rows.flatMap(({ words, row }) =>
  row.effect === 'money'
    ? partsOf(row.approval).map(([part, others]) => [words, part, row, others] as const)
    : [],
)

describe('a malicious operator', () => {
  test('the operator tries each verb that does more than read', async () => {
    const tried = new Set(attacksOn(await newWorld()).map(([words]) => words))
    const others = new Set(['approval grant', 'approval deny'])
    const missing = rows.filter(({ words, row }) => row.effect !== 'reads' && !others.has(words))
    expect(missing.map(({ words }) => words).filter((words) => !tried.has(words))).toEqual([])
  })

  test('the operator finds no harm in five rounds, forwards and backwards, and no payout in 16 days', async () => {
    const w = await newWorld()
    for (const round of [1, 2, 3, 4, 5]) {
      const options = { isReversed: round % 2 === 0, grants: round === 1 }
      expect(await harmOf(w, options), `round ${round}`).toBeUndefined()
      if (round > 3) await eightDaysLater()
    }
    expect(await stolen(w)).toEqual([])
  }, 60_000)

  test.each(guards)(
    'the operator finds a harm when `%s` has no rule %s',
    async (_, __, row, others) => {
      const guarded: { approval: ApprovalRule } = row
      const { approval } = guarded
      guarded.approval = others
      try {
        const w = await newWorld()
        const harm = await harmOf(w)
        if (!harm) await eightDaysLater()
        expect(harm ?? (await stolen(w))).not.toEqual([])
      } finally {
        guarded.approval = approval
      }
    },
    60_000,
  )
})
