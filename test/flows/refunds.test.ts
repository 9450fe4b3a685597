import { beforeAll, expect, test } from 'vitest'
import { advance, type Debit as StoredDebit } from '../../shared/domain/debits/debit.ts'
import { type Refund, reversalRefund, sendRefund } from '../../shared/domain/debits/refund.ts'
import { derivedUuid, type Reference } from '../../shared/domain/ids.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import { real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { refundCreation } from '../../shared/store/debits/refunds.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { keys } from '../../shared/store/keys.ts'
import { remove } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { untilRefundWaits } from '../support/refunds.ts'
import { SILENT, statusPath } from '../support/requests.ts'
import { type Charged, codeOf, type Shown, useService } from '../support/running-service.ts'
import { sqsEvent } from '../support/sqs-event.ts'

/** Reversals and outcomes by an operator, and refunds of reversed debits and late completions. */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank(service)

let provider: Provider

beforeAll(async () => {
  provider = await createProvider(service, 'refunder')
  await provider.webhook('set', { url: receiver.url(), events: 'transaction.reversed' })
})

type Debit = Charged & { bank: string }

const report = ({ uuid, bank }: Debit, body: object) =>
  service.report(uuid, { bank_reference: 'BANK-77', ...body }, `bt_sandbox_${bank.toLowerCase()}`)

const charged = async (until: string, bank: string, phone_number = SILENT): Promise<Debit> => {
  const fields = { phone_number, bank_identifier: bank, amount: '80.00' }
  return { ...(await service.chargeUntil(until, fields, provider.credential)), bank }
}

/** Returns a debit that its bank rejected. */
const rejected = (): Promise<Debit> => {
  bank.conducts.push('reject')
  return charged('failed', 'HTB')
}

const completed = async (bank: string, phone?: string): Promise<Debit> => {
  const debit = await charged('processing', bank, phone)
  expect((await report(debit, { status: 'completed' })).status).toBe(200)
  return debit
}

const reverse = async ({ reference }: Debit): Promise<Shown> =>
  (await service.call('debit', 'reverse', { reference, reason: 'Goods returned' })).refund

const refund = async ({ reference }: Debit, options = {}): Promise<Shown> =>
  (await service.call('exception', 'refund', { reference, ...options })).refund

const refundOf = async ({ reference }: Debit) => (await service.show(reference)).refund

const becomes = ({ reference }: Debit, status: string): Promise<Shown> =>
  service.untilRefund(reference, status)

/** Links a customer of GCB whose account number has this ending, and returns the phone number. */
const customer = async (digits: string): Promise<string> => {
  const phone = `+23324777${digits}`
  const account = { phone, bank: 'GCB', name: 'Adwoa Poku', 'account-number': `104100${digits}` }
  await service.call('customer', 'link', account)
  return phone
}

const posts = ({ uuid }: Debit) =>
  bank.requests.filter(({ method, body }) => method === 'POST' && body.debit_uuid === uuid)
const madeOf = ({ uuid }: Shown) => bank.made.filter((one) => one === uuid)
const NONE = 'no open exception of this debit allows a refund'
const DECLINED = { error_message: 'No' }

test('a reversal creates one refund that the bank pays immediately and every view includes', async () => {
  const debit = await completed('HTB')
  const pending = await reverse(debit)
  const amount = { amount: '80.00', currency: 'GHS', reason: 'Goods returned' }
  expect(pending).toMatchObject({ status: 'pending', ...amount, bank_reference: null })
  const { uuid, ...done } = await becomes(debit, 'completed')
  expect(uuid).toBe(pending.uuid)
  expect(done).toMatchObject({ bank_reference: `HTB-${uuid.slice(0, 8)}`, failed_at: null })
  const read = await provider.get(statusPath(debit.reference))
  expect(read.body.data.refund).toEqual({ uuid, ...done })
  const [post, ...more] = posts(debit)
  expect([post?.path, post?.headers['x-idempotency-key']]).toEqual(['/debits/refunds', uuid])
  expect(post?.body).toEqual({
    ...{ uuid, debit_uuid: debit.uuid, bank_reference: 'BANK-77', account_number: null },
    ...{ ...amount, payee: { name: 'refunder' }, timestamp: done.created_at },
  })
  const reversed = await service.show(debit.reference)
  const metadata = { reversal_reason: 'Goods returned' }
  expect(reversed).toMatchObject({ status: 'reversed', metadata, settlement: null })
  const again = { reference: debit.reference, reason: 'Another reason' }
  expect(await service.call('debit', 'reverse', again)).toEqual(reversed)
  expect([more, madeOf({ uuid })]).toEqual([[], [uuid]])
  // The event has the refund in its state at the event.
  const [sent, ...others] = await receiver.events(debit.reference, 1)
  const transaction = { status: 'reversed', reference: debit.reference }
  const data = { previous_status: 'completed', transaction, metadata }
  expect(sent?.body).toMatchObject({ event: 'transaction.reversed', sequence: 4, data })
  expect(sent?.body.data.refund).toEqual({ ...pending, amount: 80 })
  expect(others).toEqual([])
  const listed = await service.call('debit', 'list', { provider: provider.id, status: 'reversed' })
  expect(listed).toMatchObject([transaction])
  expect(listed[0].phone_number).not.toContain(SILENT.slice(4))
})

test('a submission and its refund name the payee as at the charge, also after a new name', async () => {
  const debit = await completed('HTB')
  await service.call('provider', 'update', { provider: provider.id, name: 'Renamed' })
  await reverse(debit)
  await becomes(debit, 'completed')
  const submitted = bank.requests.find(({ body }) => body.reference === debit.reference)
  for (const request of [submitted, posts(debit)[0]]) {
    expect(request?.body.payee).toEqual({ name: 'refunder' })
  }
  await service.call('provider', 'update', { provider: provider.id, name: 'refunder' })
})

test('a reversal of a debit that is not completed is rejected, and a reversed debit stays reversed', async () => {
  const debit = await charged('processing', 'GCB')
  const options = { reference: debit.reference, reason: 'Dispute' }
  const line = await service.refusal('debit', 'reverse', options)
  expect(line).toContain('cannot transition from processing to reversed')
  expect(await refundOf(debit)).toBeNull()
  await report(debit, { status: 'completed' })
  await reverse(debit)
  expect(codeOf(await report(debit, { ...DECLINED, status: 'failed' }))).toBe('422/3001')
})

// docs/api.md#manual-outcomes
const evidence = { 'bank-reference': 'GCB-4711', reason: 'Insufficient funds' }
const bank_reference = 'GCB-4711'

test.each([
  ['complete', 'completed', { metadata: { completion_reason: evidence.reason } }],
  ['fail', 'failed', { error_message: evidence.reason, error_code: 'insufficient_funds' }],
])('the verb `debit %s` ends a processing debit as a bank report does', async (verb, to, shown) => {
  const { credential, webhook } = await createProvider(service, to, { 'daily-limit': '150.00' })
  await webhook('set', { url: receiver.url() })
  const charge = () => service.chargeUntil('processing', { phone_number: SILENT }, credential)
  const { reference } = await charge()
  const line = '--bank-reference: is required, --reason: is required'
  expect(await service.refusal('debit', verb, { reference })).toBe(line)
  const ended = await service.call('debit', verb, { reference, ...evidence })
  expect(ended).toMatchObject({ status: to, bank_reference, ...shown })
  const by = expect.stringMatching(/^operator:/)
  expect(ended.history.at(-1)).toMatchObject({ event: `transaction.${to}`, by })
  const { body } = (await receiver.events(reference, 4))[3] ?? {}
  const transaction = { status: to, bank_reference }
  expect(body).toMatchObject({ event: `transaction.${to}`, data: { transaction } })
  expect(await service.changeOf(reference)).toMatchObject({
    ...{ noun: 'debit', verb },
    changed: { status: { from: 'processing', to }, bank_reference: { from: null, to: 'GCB-4711' } },
  })
  for (const other of ['complete', 'fail']) {
    const refused = await service.refusal('debit', other, { reference, ...evidence })
    expect(refused).toMatch(new RegExp(`^cannot transition from ${to} to `))
  }
  expect(await service.show(reference)).toEqual(ended)
  // A failed debit returns its amount to the daily limit.
  if (to === 'failed') await charge()
  else await expect(charge()).rejects.toThrow('400')
})

test('a refund in progress is queried by the sweep until the bank has made it', async () => {
  const debit = await completed('GCB', await customer('9999'))
  await reverse(debit)
  await becomes(debit, 'processing')
  await service.runJob('sweep', {}, 600)
  await becomes(debit, 'completed')
})

test('a refund that the bank rejects is an exception, and its retry has a new uuid', async () => {
  const debit = await completed('HTB')
  const { reference } = debit
  bank.conducts.push('reject')
  await reverse(debit)
  const report = 'No such account'
  const failed = await becomes(debit, 'failed')
  expect(failed).toMatchObject({ error_message: report, completed_at: null })
  const by = { reported_by: 'bank:HTB', code: null, resolved_at: null }
  expect(await service.exceptions(reference)).toMatchObject([{ kind: 'refund', report, ...by }])
  const retried = await refund(debit, { reason: 'Account reopened' })
  expect(retried).toMatchObject({ status: 'pending', reason: 'Account reopened' })
  expect(retried.uuid).not.toBe(failed.uuid)
  await becomes(debit, 'completed')
  const note = `refund ${retried.uuid}`
  expect(await service.exceptions(reference)).toMatchObject([{ note }])
  const date = real.now().toISOString().slice(0, 10)
  const { invariants } = await service.call('reconciliation', 'run', { date })
  expect(JSON.stringify(invariants)).not.toContain(reference)
  expect(await service.refusal('exception', 'refund', { reference })).toBe(NONE)
})

test('a bank that is making or has made a refund which it rejected is not asked for another one', async () => {
  const debit = await completed('HTB')
  const { reference } = debit
  bank.conducts.push('reject')
  await reverse(debit)
  const { uuid } = await becomes(debit, 'failed')
  // Each further retry comes after one that was never sent.
  for (const [status, error_message] of [
    ['underway', 'the bank is processing a refund that it rejected'],
    ['paid', 'the bank has made a refund that it rejected'],
    ['paid', 'the bank has made a refund that it rejected'],
  ]) {
    bank.outcomes.set(uuid, { status, bank_reference: 'HTB-PAID' })
    const { status: retried, uuid: retry } = await refund(debit)
    expect(retried).toBe('pending')
    await eventually(async () => {
      const failed = { uuid: retry, status: 'failed', error_message }
      expect(await refundOf(debit)).toMatchObject(failed)
      const open = (await service.exceptions(reference)).filter((one) => !one.resolved_at)
      expect(open.map(({ report }) => report)).toEqual([error_message])
    })
  }
  expect(posts(debit).map(({ body }) => body.uuid)).toEqual([uuid])
  const unnoted = { reference, reason: 'the refund is failed here' }
  expect((await stated(uuid)).differs.examples).toMatchObject([unnoted])
  await service.call('exception', 'resolve', { reference, note: 'HTB refunded it after all' })
  const { uuid: last } = await refundOf(debit)
  const { matched, differs } = await stated(uuid, last)
  const twice = { reference, reason: 'line 2 names the same refund' }
  expect([matched.examples, differs.examples]).toMatchObject([[{ reference }], [twice]])
  expect((await entriesOf(debit)).map(({ type }) => type).toSorted()).toEqual([
    'repayment',
    'reversal',
  ])
})

const SAID = { reason: 'HTB says that it will never refund this' }

/** Returns a reversed debit whose bank refuses each order of its refund, and has not made it. */
const refused = async (): Promise<Debit> => {
  const debit = await completed('HTB')
  bank.conducts.push({ status: 400, body: '' })
  await reverse(debit)
  await eventually(() => expect(posts(debit)).toHaveLength(1))
  return debit
}

test('an operator fails a refund to which its bank gives no final reply, once', async () => {
  const debit = await refused()
  const { reference } = debit
  const options = { reference, ...SAID }
  const early = 'a worker may be sending the refund: try again in a minute'
  expect(await service.refusal('debit', 'fail-refund', options)).toBe(early)
  await untilRefundWaits(reference)
  const { refund: failed } = await service.call('debit', 'fail-refund', options)
  expect(failed).toMatchObject({ status: 'failed', error_message: SAID.reason })
  const by = expect.stringMatching(/^operator:/)
  const exception = { kind: 'refund', report: SAID.reason, reported_by: by, resolved_at: null }
  const change = await service.changeOf(reference)
  expect(change).toMatchObject({
    ...{ noun: 'debit', verb: 'fail-refund' },
    changed: {
      refund_status: { from: 'processing', to: 'failed' },
      refund: { from: null, to: failed.uuid },
      error_message: { from: null, to: SAID.reason },
    },
  })
  expect(await service.refusal('debit', 'fail-refund', options)).toBe('the refund is failed')
  expect(await service.changeOf(reference)).toEqual(change)
  expect(await service.exceptions(reference)).toMatchObject([exception])
  expect(bank.requestsFor(failed.uuid)).toHaveLength(1)
  const resolution = { reference, kind: 'refund', note: 'Repaid in cash' }
  await service.call('exception', 'resolve', resolution)
  const types = (await entriesOf(debit)).map(({ type }) => type)
  expect(types.toSorted()).toEqual(['repayment', 'reversal'])
  const date = real.now().toISOString().slice(0, 10)
  const { invariants } = await service.call('reconciliation', 'run', { date })
  expect(JSON.stringify(invariants)).not.toContain(reference)
  const { open } = await service.call('day', 'close', { date })
  expect(JSON.stringify(open)).not.toContain(reference)
  // A row of the bank would be a second payment.
  const second = { reference, reason: 'the refund is failed here' }
  expect((await stated(failed.uuid)).differs.examples).toMatchObject([second])
})

test('a retry after an operator has failed a refund first queries its bank, and an operator can fail the retry too', async () => {
  const debit = await refused()
  const { reference } = debit
  await untilRefundWaits(reference)
  const { refund: failed } = await service.call('debit', 'fail-refund', { reference, ...SAID })
  bank.failsWith(503)
  const { uuid } = await refund(debit)
  await eventually(() => expect(bank.requestsFor(failed.uuid)).toHaveLength(2))
  expect(await refundOf(debit)).toMatchObject({ uuid, status: 'pending' })
  const again = await service.call('debit', 'fail-refund', { reference, ...SAID })
  expect(again.refund).toMatchObject({ uuid, status: 'failed' })
  bank.failsWith(undefined)
  await refund(debit)
  const done = await becomes(debit, 'completed')
  const asked = bank.requests.filter(({ path, raw }) => !raw && path.includes('/refunds/'))
  for (const one of [failed.uuid, uuid]) {
    expect(asked.some(({ path }) => path.endsWith(one))).toBe(true)
  }
  expect(posts(debit).map(({ body }) => body.uuid)).toEqual([failed.uuid, done.uuid])
  expect(await service.refusal('debit', 'fail-refund', { reference, ...SAID })).toBe(
    'the refund is completed',
  )
})

const disconnect = () => service.call('connector', 'remove', { bank: 'HTB' })
const connect = () => {
  const url = { 'connector-url': bank.url(), 'connector-secret': bank.secret }
  return service.call('connector', 'set', { bank: 'HTB', connector: 'http', ...url })
}

test('a refund that its bank may have made waits for a new connector, and keeps its uuid', async () => {
  const debit = await completed('HTB')
  const { reference } = debit
  bank.failsWith(503)
  const { uuid } = await reverse(debit)
  await untilRefundWaits(reference)
  await disconnect()
  const reply = await service.runJob('refund-customer', { reference })
  expect(reply).toMatchObject({ batchItemFailures: [expect.anything()] })
  expect(await refundOf(debit)).toMatchObject({ uuid, status: 'processing' })
  await connect()
  bank.failsWith(undefined)
  await service.runJob('refund-customer', { reference })
  await becomes(debit, 'completed')
  expect(madeOf({ uuid })).toEqual([uuid])
})

test('a refund is an exception too when the bank has no connector', async () => {
  const debit = await completed('HTB')
  await disconnect()
  await reverse(debit)
  const { error_message } = await becomes(debit, 'failed')
  expect(error_message).toBe('the bank does not support refunds')
  await connect()
  await refund(debit)
  await becomes(debit, 'completed')
})

test('a refund is not sent again after a note resolves it', async () => {
  const debit = await completed('GCB', await customer('0000'))
  await reverse(debit)
  await becomes(debit, 'failed')
  const { reference } = debit
  const resolution = { reference, kind: 'refund', note: 'Repaid in cash' }
  await service.call('exception', 'resolve', resolution)
  expect(await service.refusal('exception', 'refund', { reference })).toBe(NONE)
  expect((await refundOf(debit)).status).toBe('failed')
})

test('a late completion that two operators refund concurrently is refunded once', async () => {
  const debit = await rejected()
  const { reference } = debit
  const late = { status: 'completed', bank_reference: 'LATE-78' }
  for (const _ of [1, 2]) await report(debit, late)
  const replies = await Promise.all(
    Array.from({ length: 4 }, () => service.operate('exception', 'refund', { reference })),
  )
  expect(replies.some((reply) => 'result' in reply)).toBe(true)
  const { uuid, reason } = await becomes(debit, 'completed')
  expect(reason).toBe('The bank debited the customer after the debit had ended without it')
  const exceptions = await service.exceptions(reference)
  expect(exceptions.map(({ resolved_at }) => resolved_at !== null)).toEqual([true, true])
  const read = await provider.get(statusPath(reference))
  expect(read.body.data).toMatchObject({ status: 'failed', refund: { status: 'completed' } })
  // Another reference may be that of another debit, which an approval must not close unpaid.
  await report(debit, { ...late, bank_reference: 'LATE-79' })
  expect(await service.refusal('exception', 'refund', { reference })).toBe(
    `its refund ${uuid} is completed: if LATE-79 is another debit, the bank returns it; resolve the exception with a note`,
  )
  const day = new Date().toISOString().slice(0, 10)
  const selection = { kind: 'late_completion', bank: 'HTB', from: day, to: day }
  const { skipped } = await service.call('exception', 'refund', selection)
  expect(skipped).toMatchObject([{ reference, reason: expect.stringContaining('LATE-79') }])
  const open = (await service.exceptions(reference)).filter((one) => !one.resolved_at)
  expect(open).toMatchObject([{ report: expect.stringContaining('LATE-79') }])
  expect(madeOf({ uuid })).toHaveLength(1)
  const sent = posts(debit).map(({ body }) => [body.uuid, body.bank_reference])
  expect(sent).toEqual([[uuid, 'LATE-78']])
})

/** Returns the entries of today's ledger about a debit. */
const entriesOf = async ({ reference }: Debit): Promise<Shown[]> => {
  const date = new Date().toISOString().slice(0, 10)
  const { entries } = await service.call('ledger', 'show', { date })
  return entries.filter(({ source }: Shown) => source.reference === reference)
}

/** Compares today's statement of HTB with rows of these refunds. */
const stated = async (...uuids: string[]): Promise<Shown> => {
  const date = new Date().toISOString().slice(0, 10)
  const rows = uuids.map((uuid) => `${uuid},-80.00,GHS,${date}`)
  const statement = ['uuid,amount,currency,completed_at', ...rows].join('\n')
  const options = { bank: 'HTB', date, statement }
  const reply = await operateFully({ noun: 'reconciliation', verb: 'statement', options }, (call) =>
    service.operate(call.noun, call.verb, call.options),
  )
  if ('error' in reply) throw new Error(reply.error)
  return reply.result as Shown
}

const CONTRADICTED =
  'the bank reported a failure of this completed debit: resolve the exception, or reverse with --refund none'

test('a contradicted debit is reversed without a refund, and its customer is paid nothing', async () => {
  const debit = await completed('HTB')
  const { reference } = debit
  expect(codeOf(await report(debit, { ...DECLINED, status: 'failed' }))).toBe('422/3001')
  const reversal = { reference, reason: 'HTB debited nothing' }
  expect(await service.refusal('debit', 'reverse', reversal)).toBe(CONTRADICTED)
  expect(await service.refusal('exception', 'refund', { reference })).toBe(CONTRADICTED)
  const reversed = await service.call('debit', 'reverse', { ...reversal, refund: 'none' })
  expect(reversed).toMatchObject({ status: 'reversed', refund: null })
  const read = await provider.get(statusPath(reference))
  expect(read.body.data).toMatchObject({ status: 'reversed', refund: null })
  const [sent] = await receiver.events(reference, 1)
  expect(sent?.body.data).toMatchObject({ previous_status: 'completed', refund: null })
  const [entry, ...others] = await entriesOf(debit)
  expect([entry.type, others]).toEqual(['reversal', []])
  const accounts = entry.lines.map(({ account }: Shown) => account)
  expect(accounts).toEqual([`provider_payable:${provider.id}`, 'bank_receivable:HTB'])
  await service.call('exception', 'resolve', { reference, note: 'HTB debited nothing' })
  expect(await service.refusal('exception', 'refund', { reference })).toBe(NONE)
  expect(posts(debit)).toEqual([])
})

const MINUTE_MS = 60_000
const begunAgo = (minutes: number) => (refund: Refund) => {
  const at = new Date(Date.now() - minutes * MINUTE_MS)
  return { ...sendRefund(refund, at), processedAt: at }
}

/** Returns a reversed debit with a refund, whose bank has reported that it never debited. */
const contradicted = async (
  began: (refund: Refund) => Refund,
  { bank = 'HTB', before = async () => {} } = {},
): Promise<Debit> => {
  const debit = await completed(bank)
  await before()
  await report(debit, { ...DECLINED, status: 'failed' })
  return reversed(debit, began)
}

/** Reverses a debit as an operator's call does that read its exceptions before the bank's reports. */
const reversed = async (debit: Debit, began: (refund: Refund) => Refund): Promise<Debit> => {
  const [at, changes] = [new Date(), { metadata: { reversal_reason: 'x' } }]
  await transition(
    (await findDebit(debit.reference as Reference)) as StoredDebit,
    (current) =>
      advance(current, { at, by: 'operator:ama', requestId: 'r', to: 'reversed', changes }),
    real,
    (_, reversed) => [refundCreation(began(reversalRefund(reversed)))],
  )
  return debit
}

test('a contradiction does not fail a refund that may have been made by a bank without a query', async () => {
  const debit = await contradicted(begunAgo(2), { bank: 'GCB' })
  await becomes(debit, 'completed')
})

test.each([
  ['pending', (refund: Refund) => refund],
  ['begun', begunAgo(2)],
])(
  'a contradiction that arrives after the reversal fails a %s refund that no bank has seen',
  async (_, began) => {
    const debit = await contradicted(began)
    const { reference } = debit
    const error_message = 'the bank reported a failure of the debit'
    expect(await becomes(debit, 'failed')).toMatchObject({ error_message })
    const open = (await service.exceptions(reference)).map(({ kind }) => kind)
    expect([open.toSorted(), posts(debit)]).toEqual([['contradiction', 'refund'], []])
    expect(await service.refusal('exception', 'refund', { reference })).toBe(CONTRADICTED)
    for (const kind of ['contradiction', 'refund'])
      await service.call('exception', 'resolve', { reference, kind, note: 'HTB debited nothing' })
    expect(posts(debit)).toEqual([])
    const types = (await entriesOf(debit)).map(({ type }) => type)
    expect(types.toSorted()).toEqual(['repayment', 'reversal'])
  },
)

test('a note on a contradiction never closes the refund that failed, which is retried', async () => {
  const debit = await contradicted((refund) => refund)
  await becomes(debit, 'failed')
  const resolution = { reference: debit.reference, note: 'HTB erred' }
  const unclear = '--kind: is required: the debit has contradiction and refund'
  expect(await service.refusal('exception', 'resolve', resolution)).toBe(unclear)
  await service.call('exception', 'resolve', { ...resolution, kind: 'contradiction' })
  // A colleague repeats the call without its kind.
  expect(await service.refusal('exception', 'resolve', resolution)).toBe(unclear)
  await refund(debit)
  await becomes(debit, 'completed')
  const types = (await entriesOf(debit)).map(({ type }) => type)
  expect(types.toSorted()).toEqual(['refund', 'reversal'])
})

test('a refund that a worker may be sending waits despite a contradiction', async () => {
  const debit = await contradicted(begunAgo(0))
  const { uuid, status } = await refundOf(debit)
  const queried = () =>
    bank.requests.some(({ method, path }) => method === 'GET' && path.endsWith(`/refunds/${uuid}`))
  await eventually(() => expect(queried()).toBe(true))
  expect([status, (await refundOf(debit)).status]).toEqual(['processing', 'processing'])
  expect(posts(debit)).toEqual([])
})

test('a refund that a worker repeats is not failed by another one when a contradiction arrives', async () => {
  const debit = await completed('HTB')
  const { reference } = debit
  const uuid = derivedUuid(`refund#${reference}#1`)
  let queries = 0
  bank.outcomes.set(uuid, async () => {
    queries += 1
    if (queries > 1) return undefined
    await report(debit, { ...DECLINED, status: 'failed' })
    await service.invoke('refund-customer', sqsEvent('refunds', [{ reference }]))
    return undefined
  })
  await reversed(debit, begunAgo(3))
  await becomes(debit, 'completed')
  expect([queries, madeOf({ uuid })]).toEqual([2, [uuid]])
  expect((await service.exceptions(reference)).map(({ kind }) => kind)).toEqual(['contradiction'])
})

test('a contradiction that an operator resolved prevents no refund', async () => {
  const debit = await completed('HTB')
  await report(debit, { ...DECLINED, status: 'failed' })
  await service.call('exception', 'resolve', { reference: debit.reference, note: 'HTB erred' })
  await report(debit, { ...DECLINED, status: 'failed' })
  const { uuid } = await reverse(debit)
  await becomes(debit, 'completed')
  expect(madeOf({ uuid })).toEqual([uuid])
})

test('a repeated report of a late completion with a note stays resolved, and is refunded only despite it', async () => {
  const debit = await rejected()
  const { reference } = debit
  const late = { status: 'completed', bank_reference: 'LATE-80' }
  await report(debit, late)
  await service.call('exception', 'resolve', { reference, note: 'HTB returned it' })
  await report(debit, { ...late, fee: '1.00' })
  const exceptions = await service.exceptions(reference)
  const decided = { note: 'HTB returned it', resolved_at: exceptions[0]?.resolved_at }
  expect(exceptions).toMatchObject([decided, decided])
  const noted =
    'a note says that the customer has the money of a late completion: if not, --despite-note true refunds it'
  expect(await service.refusal('exception', 'refund', { reference })).toBe(noted)
  // Another transaction of the bank is a new case.
  await report(debit, { ...late, bank_reference: 'LATE-81' })
  expect(await service.exceptions(reference)).toContainEqual(
    expect.objectContaining({ resolved_at: null }),
  )
  expect(await service.refusal('exception', 'refund', { reference })).toBe(noted)
  const { uuid } = await refund(debit, { 'despite-note': 'true' })
  await becomes(debit, 'completed')
  expect(madeOf({ uuid })).toEqual([uuid])
})

test('a contradiction fails a refund that a restore may have undone, if its bank has no query', async () => {
  const before = async () => {
    const { generation } = await service.call('restore', 'show')
    await service.call('restore', 'begin', { generation: String(generation + 1) })
    await service.call('restore', 'release')
  }
  const debit = await contradicted((refund) => refund, { bank: 'GCB', before })
  const error_message = 'the bank reported a failure of the debit'
  expect(await becomes(debit, 'failed')).toMatchObject({ error_message })
})

test('the bank of a refund whose debit the table has lost is queried first after a restore', async () => {
  const debit = await rejected()
  const reference = debit.reference as Reference
  await report(debit, { status: 'completed', bank_reference: 'LATE-82' })
  const { generation } = await service.call('restore', 'show')
  await service.call('restore', 'begin', { generation: String(generation + 1) })
  const { uuid } = await refund(debit)
  await remove(keys.debit(reference))
  await service.call('restore', 'release')
  await service.runJob('refund-customer', { reference })
  await eventually(() => expect(madeOf({ uuid })).toEqual([uuid]))
  expect(bank.requestsFor(uuid)[0]?.method).toBe('GET')
})
