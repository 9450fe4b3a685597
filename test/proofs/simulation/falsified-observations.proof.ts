import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { invariants, violationsOf } from '../../../proofs/simulation/invariants/all.ts'
import { expectations } from '../../../proofs/simulation/invariants/lifecycle.ts'
import {
  indexObservations,
  type ObservationIndex,
} from '../../../proofs/simulation/invariants/observation-index.ts'
import { differing } from '../../../proofs/simulation/invariants/payload.ts'
import type { Check } from '../../../proofs/simulation/invariants/rules.ts'
import { dayOf, uuidOf } from '../../../proofs/simulation/invariants/time-and-money.ts'
import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { ExceptionKind } from '../../../shared/domain/debits/exception.ts'
import { observe } from './observe.ts'
import {
  type Any,
  append,
  batch,
  call,
  changesOf,
  charges,
  chunk,
  completedPost,
  debit,
  entry,
  failedAttempt,
  itemOf,
  itemsOf,
  payout,
  type Run,
  remove,
  rewrite,
} from './observed-run.ts'

/** The invariants accept a correct run and reject each falsified copy of its observations. */

let observed: () => Run

beforeAll(async () => {
  observed = await observe()
}, 120_000)

/** Returns a debit in a status, as it is compared with the statement of its bank. */
const compared = (run: Run, status: string): Any => {
  const isRead = ({ reply, sent }: Any) => sent?.verb === 'statement' && reply.body.result.debits
  const read = run.calls.filter(isRead).flatMap(({ reply }: Any) => reply.body.result.debits)
  return read.find((one: Any) => one.status === status)
}

/** Changes of the observations, by the number of the invariant and its violation. */
const falsifications: Record<string, (run: Run) => unknown> = {
  '1 the amount of a debit changes': (run) => append(run, debit(run, 'settled'), { amount: 1 }),
  '1 an unsettled debit has an expiry': (run) => {
    const changes = changesOf(run, debit(run, 'settled'))
    changes.find(({ after }) => after.status === 'completed').after.expiresAt = 1
  },
  '2 a claim has no debit': (run) =>
    run.items.push({ ...itemOf(run, { sk: 'PARTNER_REFERENCE' }), pk: 'PROVIDER#amber#x' }),
  '3 a replay returns another debit': (run) => {
    const { reference } = debit(run, 'settled')
    const isReply = ({ reply }: Any) => reply.body.data?.reference === reference
    charges(run).find(isReply).reply.body.data.reference = debit(run, 'failed').reference
  },
  '3 an accepted debit disappears': (run) => remove(run, debit(run, 'settled')),
  '4 a debit is pending at the end': (run) => {
    const item = debit(run, 'next')
    rewrite(run, item, { status: 'pending', history: item.history.slice(0, 2) })
  },
  '5 a status has no entry': (run) => Object.assign(debit(run, 'settled'), { status: 'reversed' }),
  '6 a move keeps the version': (run) => {
    const changes = changesOf(run, debit(run, 'settled'))
    changes.find(({ after }) => after.status === 'completed').after.version -= 1
  },
  '7 a repeated status is refused': (run) => {
    const uuid = uuidOf(debit(run, 'settled').reference)
    const reports = run.calls.filter(({ path }: Any) => path.uuid === uuid)
    Object.assign(reports.at(-1).reply, { status: 422, body: { error: { code: 3001 } } })
  },
  '1 a debit is read with the whole number of an account': (run) => {
    const isRead = ({ name, reply }: Any) => name === 'get-debit-request' && reply.status === 200
    call(run, isRead).reply.body.data.customer.account_number = '1041009010'
  },
  '1 a bank reads a debit with a masked account': (run) => {
    const { data } = call(run, bankList).reply.body
    data.transactions[0].customer.account_number = null
  },
  '1 a bank reads another account than the debited one': (run) => {
    const { transactions } = call(run, bankList).reply.body.data
    transactions.find(({ customer }: Any) => customer.account_number).account.account_number = '1'
  },
  '1 a refund is read with another time': (run) => {
    const isRead = ({ name, reply }: Any) =>
      name === 'get-debit-request' && reply.body.data?.refund?.completed_at
    run.calls.findLast(isRead).reply.body.data.refund.completed_at = '2026-01-01T00:00:00.000Z'
  },
  '1 a delivery is read with another response': (run) =>
    Object.assign(listed(run, 'manage-delivery')[0], { response_code: 418 }),
  '1 an exception is read with another amount': (run) =>
    Object.assign(listed(run, 'manage-exception')[0], { amount: '1.00' }),
  '8 a timeout has another message': (run) =>
    Object.assign(entry(run, 'expired', 'failed').set, { errorMessage: 'Timeout' }),
  '9 a debit has the day of another charge': (run) => {
    const item = debit(run, 'next')
    rewrite(run, item, { reference: item.reference.replace(/-\d{8}-/, '-20010101-') })
  },
  '11 a bank acts twice': ({ bankPosts }) => bankPosts.push({ ...bankPosts[0] }),
  '12 a history is rewritten': (run) => {
    const item = debit(run, 'settled')
    const [first, ...others] = item.history
    append(run, item, { history: [{ ...first, by: 'operator:local:ama' }, ...others] })
  },
  '13 a post has another event id': (run) =>
    Object.assign(completedPost(run).headers, { 'x-svc-event-id': 'evt_1' }),
  '14 the feed lacks an event': (run) => {
    const { reference } = debit(run, 'settled')
    for (const page of itemsOf(run, { entity: 'feed-page' })) {
      page.entries = page.entries.filter((key: string) => key !== `${reference}#3`)
    }
  },
  '14 a feed has an event only from before it happened': (run) => {
    for (const page of itemsOf(run, { entity: 'feed-page' }))
      for (const change of changesOf(run, page)) change.at = -1
  },
  '14 a feed repeats an event of its last page': (run) => {
    const page = itemsOf(run, { entity: 'feed-page' }).at(-1)
    append(run, page, { entries: [...page.entries, page.entries[0]] })
  },
  '14 the newest page of a feed expires': (run) => {
    for (const page of itemsOf(run, { entity: 'feed-page' })) page.expiresAt = 1
  },
  '15 a delivery never ends': (run) => Object.assign(completedDelivery(run), { status: 'failed' }),
  '15 a redelivery makes nothing due': (run) => {
    const { reference } = debit(run, 'settled')
    operate(run, 'delivery', 'redeliver', {}, { reference, id: 3 })
  },
  '16 a retry is due one second after the attempt': (run) => {
    const after = failedAttempt(run)
    after.nextAttemptAt = new Date(Date.parse(after.last.at) + 1_000).toISOString()
  },
  '17 a record names a response that no receiver sent': (run) =>
    Object.assign(failedAttempt(run).last, { responseCode: 599 }),
  '18 the bytes differ from those that were signed': (run) => {
    completedPost(run).raw += ' '
  },
  '19 a post reaches the receiver of another provider': (run) =>
    Object.assign(completedPost(run), { url: run.setup.providers[1].webhook.url }),
  '20 a day total is not the sum': (run) => {
    const [total] = run.items.filter(({ sk }: Item) => sk.startsWith('DAY#'))
    changesOf(run, total).at(-1).after.amountTotal = 1
  },
  '21 a charge within the limit is refused': ({ setup }) =>
    Object.assign(setup.providers[1], { dailyLimit: 2_000_00 }),
  '23 a line is written without its mark': (run) => {
    changesOf(run, chunk(run, 'settled'))[0].transaction += 10_000
  },
  '25 no bank paid a batch': (run) => {
    run.books = run.books.filter(({ type }: Any) => type !== 'payout')
  },
  '26 the sums of a sealed batch change': (run) =>
    append(run, batch(run), { totals: { ...batch(run).totals, net: 0 } }),
  '26 the amount of a payout in progress changes': (run) => {
    const steps = changesOf(run, batch(run))
    steps.find(({ after }) => after.status === 'completed').after.paid += 1
  },
  '28 a debit is settled on its own day': (run) =>
    rewrite(run, batch(run), { date: dayOf(entry(run, 'settled', 'completed').at) }),
  '29 a debit has a fee that its bank did not report': (run) => {
    entry(run, 'settled', 'completed').set.fee = 64
  },
  '30 an amount has one decimal': (run) => {
    const post = completedPost(run)
    post.raw = post.raw.replace(/"amount":(\d+\.\d)0/, '"amount":$1')
  },
  '31 a rejected report has no exception': (run) =>
    remove(run, itemOf(run, { entity: 'exception', kind: 'refused_report' })),
  '32 a provider reads the debit of another': (run) => {
    const { reference } = debit(run, 'settled')
    const isRead = ({ path, reply }: Any) => path.reference === reference && reply.status === 200
    Object.assign(call(run, isRead), { caller: { kind: 'provider', id: 'birch' } })
  },
  '33 a move has no actor': (run) => Object.assign(entry(run, 'settled', 'completed'), { by: '' }),
  '38 a bank is not queried before a timeout': (run) => Object.assign(run, { queries: [] }),
  '39 a reversed debit has no refund': (run) => remove(run, itemOf(run, { entity: 'refund' })),
  '41 a payout reaches the account of another provider': (run) => {
    payout(run).body.account_name = run.setup.providers[1].account.name
  },
  '41 a payout is early': (run) => {
    payout(run).at -= 3_600_000
  },
  '42 a due batch is not paid': (run) => rewrite(run, batch(run), { status: 'pending' }),
  '43 a POST is repeated without a query': ({ bankPosts }) =>
    bankPosts.push({ ...bankPosts[0], by: 0 }),
  '43 a further payout begins without a query about the rejected one': (run) => {
    append(run, batch(run), { status: 'failed' })
    append(run, batch(run), { status: 'processing', uuid: 'another' })
  },
  '43 a POST is repeated after a restore without a query': (run) => {
    const [post] = run.bankPosts
    operate(run, 'restore', 'begin', { generation: '2' })
    run.calls.at(-1).reply.at = post.at + 1
    run.invocations.set(-1, { startedAt: post.at + 2, payments: '', repeated: '' })
    run.bankPosts.push({ ...post, at: post.at + 2, by: -1 })
  },
  '43 a sidelined submission follows one without a reply, but no query': (run) => {
    run.invocations.set(-1, { name: 'submit-sidelined', startedAt: 1, payments: '', repeated: '' })
    run.bankPosts.push({ ...run.bankPosts[0], by: -1 })
  },
  '43 a debit is submitted after ten minutes': ({ bankPosts }) => {
    bankPosts[0].at += 700_000
  },
  '43 a processing debit was not submitted': (run) => {
    run.bankPosts = run.bankPosts.filter(({ path }: Any) => path !== '/submissions')
  },
  '43 a debit with a status that excludes a submission was submitted': () => {
    const { submitted } = expectations.failed
    onTestFinished(() => void Object.assign(expectations.failed, { submitted }))
    expectations.failed.submitted = 'never'
  },
  '45 no bank completed a debit': (run) => {
    const uuid = uuidOf(debit(run, 'settled').reference)
    run.calls = run.calls.filter(({ path }: Any) => path.uuid !== uuid)
  },
  '45 a debit completes at a bank that rejects all debits': (run) => {
    const bank = debit(run, 'settled').bank.identifier
    operate(run, 'bank', 'behave', { bank, as: 'rejecting' })
  },
  '46 an operator reverses a debit without the approval that a stage requires': (run) => {
    run.setup.approvals = true
  },
  '47 a statement is not compared with all debits': (run) => {
    const isRead = ({ reply, sent }: Any) =>
      sent?.verb === 'statement' && reply.body.result.debits.length > 0
    call(run, isRead).reply.body.result.debits.pop()
  },
  '47 the reconciliation finds a difference': (run) => {
    const { result } = call(run, ({ name }) => name === 'manage-reconciliation').reply.body
    result.invariants[0].examples.push({ subject: 'amber', difference: 'is missing' })
  },
  '47 a falsified batch is not named': (run) => {
    const items = [{ subject: 'STL-20261120-AAAAAA', name: 'a batch has another net' }]
    run.falsified = { date: '2026-11-20', items, result: { invariants: [] } }
  },
  '47 a reconciliation counts fewer differences than it names': (run) => {
    const examples = [{ subject: 'amber', difference: 'is missing' }]
    const result = { invariants: [{ differences: 0, examples }] }
    run.falsified = { date: '2026-11-20', items: [], result }
  },
  '48 a charge within the request limit is rejected': (run) => {
    charges(run)[0].reply.status = 429
  },
  '49 an operator reads a debit of another day': (run) => {
    const isDated = ({ name, sent, reply }: Any) =>
      name === 'manage-debit' && sent?.verb === 'list' && sent.options.from && reply?.body.result
    for (const { reply } of run.calls.filter(isDated)) reply.body.result.push({})
  },
  '53 a debit that its bank did not make is compared with a statement': (run) => {
    compared(run, 'failed').completed_at = '2026-11-20T10:00:00.000Z'
  },
  '53 a reversal without a refund is compared with a statement': (run) => {
    const { reference } = compared(run, 'reversed')
    const refund = itemOf(run, { pk: `DEBIT#${reference}`, sk: 'REFUND' })
    rewrite(run, refund, { status: 'waived' })
  },
  '49 a list lacks a debit': (run) => {
    call(run, ({ name }) => name === 'list-debit-requests').reply.body.data.pop()
  },
  '49 a feed lacks an event': (run) => {
    const isRead = ({ name, reply }: Any) => name === 'list-events' && reply.body.data.length > 0
    call(run, isRead).reply.body.data.pop()
  },
  '49 a bank reads a part of its sum': (run) => {
    call(run, bankList).reply.body.data.total_amount = 0.01
  },
  '50 two events of a debit have one sequence': (run) => {
    const post = completedPost(run)
    post.raw = post.raw.replace(/"sequence":\d/, '"sequence":2')
  },
  '50 two events have one id': (run) => {
    const [first, second] = run.posts
    Object.assign(second.headers, { 'x-svc-event-id': first.headers['x-svc-event-id'] })
  },
  '51 a reconciliation does not end': (run) => {
    Object.assign(itemOf(run, { entity: 'reconciliation' }), { endedAt: null })
  },
  '51 a part of a reconciliation is counted twice': (run) => {
    itemOf(run, { entity: 'reconciliation' }).openParts -= 1
  },
  '52 a bank returns an amount twice': ({ books }) =>
    books.push({ ...books.find(({ type }: Any) => type === 'refund') }),
  '53 a bank did not debit what it reported': (run) => {
    const uuid = uuidOf(debit(run, 'settled').reference)
    run.books = run.books.filter(({ of }: Any) => of !== uuid)
  },
  '54 a stored balance is not what a bank owes': (run) => {
    itemOf(run, { entity: 'ledger' }).balances['bank_receivable:HBA'] += 1
  },
  '54 a closing lacks the money that a bank moved': (run) => {
    const isMoved = ({ statement, debits }: Any) => statement && debits !== '0.00'
    const isClosing = ({ sent, reply }: Any) =>
      sent?.verb === 'close' && reply.body.result.banks.some(isMoved)
    call(run, isClosing).reply.body.result.banks.find(isMoved).debits = '0.00'
  },
  '54 a journal shows debits as credits': (run) => {
    const isShown = ({ name, sent }: Any) => name === 'manage-ledger' && sent.verb === 'show'
    const accounts: Any[] = call(run, isShown).reply.body.result.accounts
    for (const one of accounts) Object.assign(one, { debit: one.credit, credit: one.debit })
  },
  '54 the cash is not what payouts leave': (run) => {
    itemOf(run, { entity: 'funds' }).cash += 1
  },
  '55 a granted request takes effect twice': (run) => grantReversals(run, { doneAt: 'T' }),
  '55 a call about many changes a debit twice': (run) => decideMany(run, 1, 2),
  '55 a call about many changes another debit': (run) =>
    Object.assign(decideMany(run, 1), { rows: '[]' }),
  '55 an outcome of a call about many has no record': (run) => {
    const { reference: object } = debit(run, 'settled')
    const after = { pk: 'BULK#B', sk: 'OUTCOME', entity: 'bulk-outcome', outcome: 'done', object }
    run.changes.push({ ...run.changes.at(-1), before: undefined, after })
  },
  '56 a closed exception is open': (run) => {
    const item = itemOf(run, { entity: 'exception', kind: 'contradiction' })
    append(run, item, { resolvedAt: '2026-11-20T12:00:00.000Z' })
    append(run, item, { resolvedAt: undefined })
  },
  '56 a report is closed as it arrives, though no operator has decided it': (run) => {
    const item = itemOf(run, { entity: 'exception', kind: 'contradiction' })
    const [{ after }] = changesOf(run, item)
    Object.assign(after, { resolvedAt: after.at })
  },
  '57 a provider has another limit': (run) =>
    append(run, itemOf(run, { entity: 'provider', id: 'amber' }), { dailyLimit: 1 }),
  '57 a webhook is owed only later events': (run) =>
    append(run, itemOf(run, { entity: 'webhook' }), { since: '2026-11-20T12:00:00.000Z' }),
  '57 a revoked credential is accepted': (run) =>
    operate(run, 'credential', 'revoke', { token: charges(run)[0].token }),
  '57 a disabled provider charges': (run) =>
    operate(run, 'provider', 'disable', { provider: 'amber' }),
  '57 a request that needs no signature is refused while no sealing key is found': (run) => {
    const [{ at, reply }] = charges(run)
    reply.status = 401
    run.strikes.push({ at, name: 'sealing key missing', by: 'charge', about: '' })
  },
  '57 an inactive bank is charged': (run) => operate(run, 'bank', 'disable', { bank: 'HBA' }),
  '57 a charge is above the maximum of its bank': (run) =>
    operate(run, 'bank', 'update', { bank: 'HBA', maximum: '0.01' }),
  '57 a charge within the maximum of its bank is refused': (run) => {
    const body = { error: { code: 3005 }, details: { amount: ["exceeds the bank's maximum"] } }
    Object.assign(charges(run)[0].reply, { status: 400, body })
  },
  '57 a bank is queried at another URL': ({ queries }) =>
    Object.assign(queries[0], { url: 'https://hbb.simulated.example' }),
  '57 a bank gets another account': ({ bankPosts }) =>
    Object.assign(bankPosts[0].body, { account_number: '1' }),
  '58 an event has no delivery': (run) => remove(run, completedDelivery(run)),
  '59 the sweep sends a message that no fault lost': (run) => {
    const body = JSON.stringify({ reference: debit(run, 'settled').reference })
    run.repairs.push({ at: run.setup.healedAt, queue: 'submissions', body })
  },
  '59 the sweep sends a timeout whose timer was not lost': (run) => {
    const body = JSON.stringify({ reference: debit(run, 'expired').reference, phase: 'approval' })
    run.repairs.push({ at: run.setup.healedAt, queue: 'expiries', body })
  },
  '59 the sweep repairs an event after a second': (run) => {
    const { at } = entry(run, 'settled', 'completed')
    const [created] = changesOf(run, completedDelivery(run))
    run.changes.push({ ...created, at: at + 1_000, by: { name: 'sweep', invocation: 0 } })
  },
  '59 the sweep passes a debit whose event has no delivery': (run) => {
    for (const change of changesOf(run, completedDelivery(run))) change.at += 3_600_000
  },
  '59 the sweep passes a debit whose event is not in the feed': (run) => {
    for (const page of itemsOf(run, { entity: 'feed-page' }))
      for (const change of changesOf(run, page)) change.at += 3_600_000
  },
  '60 a payout of nothing is sent': (run) =>
    Object.assign(payout(run), { body: { ...payout(run).body, amount: '0.00' } }),
  '61 a paid batch has no report': (run) => {
    run.reports = run.reports.filter(({ key }: Any) => !key.endsWith('.csv'))
  },
  '62 a submission takes three seconds': ({ bankPosts }) => {
    bankPosts[0].at += 3_000
  },
  '62 a timeout takes half a minute': (run) => {
    entry(run, 'expired', 'failed').at += 30_000
  },
  '63 an exception is not measured': (run) => {
    run.measurements = run.measurements.filter(({ name }: Any) => name !== 'Contradiction')
  },
  '63 a sweep is not measured': (run) => {
    const { by } = run.measurements.find(({ name }: Any) => name === 'SweepRuns')
    run.measurements = run.measurements.filter((measurement: Any) => measurement.by !== by)
  },
  '63 a report is measured as refused, but is not': ({ measurements }) =>
    measurements.push({ name: 'BankRequestsLimited', value: 1, by: 1 }),
  '63 an alarm rings for a bank that is not down': ({ measurements }) =>
    measurements.push({ name: 'BankDown', value: 1, by: 1 }),
  '63 a batch that cannot be paid rings no alarm': (run) => {
    const { id } = batch(run)
    run.invocations.set(-1, { isFinished: true, payments: `{"batch":"${id}"}`, startedAt: 1 })
    const [{ after, ...created }] = changesOf(run, batch(run))
    run.changes.unshift({ ...created, at: 0, after: { ...after, status: 'pending' } })
  },
  '63 a payout rings an alarm': ({ measurements, invocations }) => {
    const [by] = [...invocations].find(([, { payments }]) => payments)
    measurements.push({ name: 'SettlementNotPaid', value: 1, by })
  },
  '63 unwanted prompts ring no alarm': (run) => countUses(run, { unwantedPrompts: 20 }),
  '63 usual prompts ring an alarm': ({ measurements }) => {
    const { by } = measurements.find(({ name }: Any) => name === 'SweepRuns')
    measurements.push({ name: 'UnwantedPrompts', value: 1, by })
  },
  '63 unusual use rings no alarm': (run) => countUses(run, { charges: 500 }),
  '64 a bank is down after one failure': (run) => breakDown(run, 'ECO', 1),
  '64 a bank that is down gets a submission': (run) => {
    const { bank } = run.bankPosts.find(({ path }: Any) => path === '/submissions')
    breakDown(run, bank, 5)
  },
  '65 a customer gets a second prompt of a provider that may cause one': ({ setup }) =>
    Object.assign(setup, { openPromptsMax: 1 }),
  '65 a debit is refused below the cap': (run) => refuse(run),
  '66 a bank has another account for a number': (run) =>
    Object.assign(lookup(run, 'found').account, { account_number: '1' }),
  '66 an account of a number is inactive at its bank': (run) =>
    Object.assign(lookup(run, 'found').account, { active: false }),
  '66 a bank is asked again for a number without an account': (run) => {
    const miss = lookup(run, 'nothing')
    run.queries.push({ ...miss, at: miss.at + 60_000, by: 0 })
  },
  '66 a number is refused that its bank was not asked for': (run) =>
    Object.assign(lookup(run, 'nothing'), { answer: 'none' }),
  '66 a bank is asked that operators have not chosen': ({ setup }) =>
    Object.assign(setup, { lookups: [] }),
  '67 an update drops a member of another release': (run) => {
    const item = debit(run, 'settled')
    append(run, item, { addedLater: true })
    append(run, item, { addedLater: undefined })
    delete run.changes.at(-1).after.addedLater
  },
  '68 a batch names a day before its bank pays': (run) => {
    const seal = changesOf(run, batch(run)).find(({ after }) => after.sealedAt)
    seal.after.payOn = seal.after.date
  },
  '68 a payout begins on a holiday': (run) => {
    const { after, at } = changesOf(run, batch(run)).find(
      ({ after }) => after.status === 'processing',
    )
    run.setup.workingBanks = [after.paidTo.bank]
    operate(run, 'calendar', 'add', { date: dayOf(at), name: 'x' })
  },
  '69 a request that was accepted with 202 is missing': (run) => remove(run, request(run)),
  '69 a debit names another request': (run) =>
    rewrite(run, itemOf(run, { reference: request(run).reference, entity: 'debit' }), {
      reversalRequest: { rid: 'x' },
    }),
  '69 a request of a reversed debit is open': (run) =>
    rewrite(run, request(run), { resolvedAt: undefined }),
  '69 a request is declined in the transaction of its reversal': (run) => {
    const { after } = changesOf(run, request(run)).find(({ after }) => after.resolvedAt)
    after.isAccepted = false
  },
  '70 a sealed day differs': (run) => {
    const [sealed] = call(run, ({ sent }) => sent?.verb === 'verify').reply.body.result
    sealed.result = 'removed: changes C-1'
  },
  '70 a record is not in the file of its day': (run) => {
    sealed(run, /changes.ndjson$/).text = ''
  },
  '70 a day is sealed with the result of another one': (run) => {
    const file = sealed(run, /^[0-9-]+.json$/)
    file.text = file.text.replace('"checked_at":"2', '"checked_at":"1')
  },
  '70 a day is sealed hours after the end of its reconciliation, without its result': (run) => {
    const file = sealed(run, /^[0-9-]+.json$/)
    const { day, ...content } = JSON.parse(file.text)
    file.text = JSON.stringify({ ...content, day, reconciliation: null })
    itemOf(run, { entity: 'reconciliation', id: day }).endedAt = `${day}T00:00:00.000Z`
  },
  '72 a payout is made before the release': (run) =>
    operate(run, 'restore', 'begin', { generation: '2' }),
  '64 a webhook is failing after a success': (run) => {
    const [pk, entity] = ['PROVIDER#amber', 'webhook-health']
    const after = { pk, sk: 'H', entity, version: 1, recoveredAt: '2026', goneSince: '2025' }
    const by = { name: 'deliver-webhook', invocation: -1 }
    run.changes.push({ ...run.changes.at(-1), before: undefined, after, by })
  },
  '70 a sealed decision names no operator': (run) => {
    const file = sealed(run, /fundings.ndjson$/)
    file.text = file.text.replaceAll('"by"', '"of"').replaceAll(/local:\w+/g, '')
  },
  '73 a function replies before a write ends': ({ invocations }) => {
    const finished = [...invocations.values()].find(({ isFinished }: Any) => isFinished)
    finished.late = ['PutCommand']
  },
  '63 a night counts too few open exceptions': ({ measurements }) => {
    for (const one of measurements) if (one.name === 'OpenExceptions') one.value = -1
  },
  '71 an erasure waits without a reason': ({ erasures }) => {
    erasures[0].refused = ['+233200000000']
  },
  '74 a change by an operator has no record': (run) =>
    Object.assign(changeBy(run, 'funding').after, { entity: 'x' }),
  '74 an access to a customer has no record': (run) => {
    for (const { after } of run.changes) if (after?.entity === 'access') after.entity = 'x'
  },
  '74 uploaded rows stay after their import': (run) => {
    operate(run, 'customer', 'import', { bulk: 'B' }, { added: 1 })
    run.items.push({ ...run.items[0], pk: 'BULK#B#0', entity: 'bulk-rows' })
  },
  '26 a paid batch has failed': (run) =>
    Object.assign(changesOf(run, paidBatch(run)).at(-1).after, { failure: 'No' }),
  '46 a webhook follows a removed one without an approval': (run) => {
    run.setup.approvals = true
    const after = itemOf(run, { entity: 'webhook' })
    const last = run.changes.at(-1)
    run.changes.push({ ...last, before: after, after: undefined })
    const by = { name: '', invocation: 0 }
    run.changes.push({ ...last, before: undefined, after: { ...after }, by })
  },
  '49 a list of resolved exceptions has another one': (run) => {
    const isList = ({ sent }: Any) => sent?.options?.status === 'resolved'
    call(run, isList).reply.body.result.push({})
  },
  '63 a metric lacks its dimension': ({ measurements }) => {
    measurements.find(({ name }: Any) => name === 'SweepRuns').dimensions = {}
  },
  '70 a day is sealed with another balance': (run) => {
    const file = sealed(run, /^[0-9-]+.json$/)
    file.text = JSON.stringify({ ...JSON.parse(file.text), balances: { fee_income: 1 } })
  },
  '74 an operator reads a whole number': (run) =>
    Object.assign(listed(run, 'manage-debit')[0], { phone_number: debit(run, 'settled').phone }),
  '75 a batch is read with another net': (run) => {
    const isRead = ({ name, reply }: Any) => name === 'get-settlement' && reply.status === 200
    run.calls.findLast(isRead).reply.body.data.net = '1.00'
  },
  '75 a run shows a payout in progress as paid': (run) => {
    operate(run, 'settlement', 'run', {})
    const paid = [{ id: batch(run).id, payable_on: '2026-11-20' }]
    run.calls.at(-1).reply = { at: 0, body: { result: { paid } } }
  },
  '75 a report lacks a line': (run) => {
    const report = run.reports.find(
      ({ key, text }: Any) => key.endsWith('.csv') && text.includes('debit,'),
    )
    report.text = report.text.replace(/debit,.*\r\n/, '')
  },
  '75 a statement has another sum': (run) => {
    const isStatement = ({ name }: Any) => name === 'get-monthly-statement'
    call(run, isStatement).reply.body.data.paid = '1.00'
  },
  '1 a provider does not find its debit': (run) => {
    const isRead = ({ name, reply }: Any) => name === 'get-debit-request' && reply.status === 200
    call(run, isRead).reply.status = 404
  },
  '8 a failure has no message': (run) => delete entry(run, 'expired', 'failed').set.errorCode,
  '12 a debit is opened without an entry': (run) =>
    changesOf(run, debit(run, 'settled'))[0].after.history.pop(),
  '15 an attempt is due that its event does not allow': (run) =>
    Object.assign(failedAttempt(run), { attemptsMax: 1 }),
  '16 an attempt precedes its time': (run) =>
    Object.assign(failedAttempt(run), { nextAttemptAt: '2100-01-01T00:00:00.000Z' }),
  '20 a debit of a provider without a limit is counted': (run) =>
    rewrite(run, debit(run, 'settled'), { countedOn: '2001-01-01' }),
  '26 lines are written twice': (run) => append(run, chunk(run, 'settled'), {}),
  '26 a completed batch is paid again': (run) => {
    operate(run, 'settlement', 'process', { batch: paidBatch(run).id })
    run.calls.at(-1).at = 1e15
  },
  '28 a batch is opened before its day': (run) =>
    rewrite(run, batch(run), { createdAt: '2001-01-01T00:00:00.000Z' }),
  '29 a batch has the schedule of another': (run) =>
    rewrite(run, batch(run), { feeSchedule: { basisPoints: 1, fixed: 1 } }),
  '31 a valid report is rejected': (run) =>
    Object.assign(call(run, isReport).reply, { status: 422, body: { error: { code: 1007 } } }),
  '32 a bank changes the debit of another': (run) =>
    Object.assign(call(run, isReport), { caller: { kind: 'bank', id: 'GCB' } }),
  '39 a completed debit has a refund': (run) =>
    rewrite(run, debit(run, 'reversed'), { status: 'completed' }),
  '39 a refund in progress gets another uuid': (run) =>
    append(run, itemOf(run, { entity: 'refund' }), { uuid: 'another' }),
  '41 a payout reaches an account that has just changed': (run) => {
    run.setup.approvals = true
    const { at } = changesOf(run, paidBatch(run)).find(({ after }) => after.status === 'processing')
    const account = { 'settlement-bank': 'HBA', 'settlement-account': '1', 'settlement-name': 'A' }
    operate(run, 'provider', 'update', { provider: paidBatch(run).provider, ...account })
    Object.assign(run.calls.at(-1), { at: at - 3_600_000 }).reply.at = at - 3_000_000
  },
  '42 a payout ignores a batch below zero': (run) => {
    const { provider, id } = paidBatch(run)
    const other = itemsOf(run, { entity: 'batch' }).find((one) => one.id !== id)
    const owed = { totals: { net: -1 }, outstanding: -1, status: 'pending', reportedAt: '2001' }
    rewrite(run, other, { provider, createdAt: '2001', ...owed })
    changesOf(run, other)[0].at = 0
  },
  '56 an exception of a debit stays open after a note': (run) => {
    const { reference } = itemOf(run, { entity: 'exception', kind: 'contradiction' })
    operate(run, 'exception', 'resolve', { reference })
    Object.assign(run.calls.at(-1), { at: 1e14 }).reply.at = 1e14
  },
  '57 an active bank is refused': (run) =>
    Object.assign(charges(run)[0].reply, { status: 422, body: { error: { code: 1402 } } }),
  '64 a bank that is up refuses a charge': (run) => {
    const body = { error: { code: 2003 }, details: { retry_after: 1 } }
    Object.assign(charges(run)[0].reply, { status: 503, body })
  },
}

/** Other ones, whose name ends with the message: another check of the same invariant reports them as well. */
const named: typeof falsifications = {
  '6 of a debit, its bank received approved, which it was not': (run) => {
    for (const { after } of changesOf(run, debit(run, 'next'))) delete after.approval
  },
  '15 an event stays abandoned although its receiver responded later': (run) => {
    const abandoned = { status: 'abandoned', last: null, reason: 4001 }
    append(run, completedDelivery(run), abandoned)
    run.invocations.set(-1, {
      isFinished: true,
      startedAt: 0,
      endedAt: 0,
      payments: '',
      repeated: '',
    })
    Object.assign(run.changes.at(-1), { at: 0, by: { name: 'deliver-webhook', invocation: -1 } })
  },
  '15 an event stays abandoned although an operator recovered its provider': (run) => {
    const { reference, provider } = debit(run, 'settled')
    const item = itemOf(run, { entity: 'delivery', reference, n: 3 })
    append(run, item, { status: 'abandoned' })
    run.changes.at(-1).at = 0
    operate(run, 'delivery', 'recover', { provider, since: '1970' })
    run.calls.at(-1).at = 1e15
  },
  '26 a rejected payout is forgotten: another failed': (run) => {
    const { uuid, paid, paidTo } = batch(run)
    append(run, batch(run), { failed: [{ uuid, paid, paidTo }] })
    append(run, batch(run), { failed: [] })
  },
  '46 a call about many debits took effect without an approval': (run) => {
    run.setup.approvals = true
    decideMany(run, 1)
  },
  '48 of an address, 61 unmatched requests passed the general limit': (run) => {
    for (let n = 0; n < 61; n += 1) operate(run, '', '', {})
    for (const one of run.calls.slice(-61)) one.name = 'answer-unmatched'
  },
  '50 a debit of another life of the table was created with the sequence 10': (run) => {
    const isCreated = ({ raw }: Any) => raw.includes('"event":"transaction.created"')
    const post = run.posts.find(isCreated)
    post.raw = post.raw.replace('"sequence":0', '"sequence":10')
  },
  '53 of a completion that is read, its bank has 1.00, but owes 0.00 by the table': (run) => {
    const { reference, bank } = debit(run, 'expired')
    const of = uuidOf(reference)
    const [by] = [...run.invocations].find(([, { isFinished }]) => isFinished)
    run.books.push({ at: 1, type: 'debit', bank: bank.identifier, of, amount: 1_00 })
    run.queries.push({ ...run.queries[0], uuid: of, answer: 'completed', isHeard: true, by })
  },
  '55 a request took effect, but is refused': (run) =>
    grantReversals(run, { doneAt: 'T', refusal: 'Lost' }),
  '55 a request took effect, but has not ended': (run) => grantReversals(run, {}),
  '59 a submission was sent by the sweep, but asks for no query': (run) => {
    run.repairs.push({ at: 0, queue: 'submissions', body: '{}' })
  },
  '64 a bank whose failure a worker forgets has 2 failures after 3': (run) => {
    const health = { pk: 'BANK_HEALTH', sk: 'ECO', state: 'slow', failingSince: '2026-11-20' }
    const before = { ...health, failures: 3 }
    run.changes.push({ ...run.changes.at(-1), before, after: { ...health, failures: 2 } })
  },
  '64 a debit still waits 100000 ms after HBA has replied again': (run) => {
    const { reference, bank, history } = debit(run, 'expired')
    const at = history[0].at + 1_000
    const change = { before: undefined, by: undefined }
    const waiting = { pk: 'WAITING', sk: reference, entity: 'waiting', reference }
    const up = { pk: 'BANK_HEALTH', sk: bank.identifier, state: 'up', failures: 0 }
    run.bankPosts = run.bankPosts.filter(({ body }: Any) => body.reference !== reference)
    run.queries = []
    changesOf(run, debit(run, 'expired'))[1].at += 300_000
    run.changes.push({ ...change, at, after: waiting }, { ...change, at: at + 1_000, after: up })
  },
  '65 a debit was refused, but its bank has it': (run) => {
    refuse(run)
    const uuid = uuidOf(debit(run, 'expired').reference)
    for (const query of run.queries) if (query.uuid === uuid) query.answer = 'accepted'
  },
  '71 an item has the number of an erased customer': ({ erasures }) => {
    erasures.at(-1).after[0].note = erasures[0].phones[0]
  },
  '71 an erased debit has the narration of an erased customer': ({ erasures }) => {
    const { after, before, phones } = erasures.at(-1)
    const { pk } = before.find(({ phone }: Item) => phones.includes(phone))
    const isDebit = (item: Item) => item.pk === pk && item.entity === 'debit'
    after.find(isDebit).narration = 'Rent'
  },
  '71 an item of an erased debit has the "failure":"Ama died of an erased customer': ({
    erasures,
  }) => {
    const { after, before, phones } = erasures.at(-1)
    const { pk } = before.find(({ phone }: Item) => phones.includes(phone))
    for (const items of [before, after])
      items.find((item: Item) => item.pk === pk).failure = 'Ama died'
  },
  '71 an erased debit has other figures': ({ erasures }) => {
    erasures[0].after.find(({ entity }: Item) => entity === 'debit').amount += 1
  },
  '59 a debit no longer waits, but was not sent': (run) => {
    const before = { pk: 'WAITING#HBA', sk: 'A', entity: 'waiting', reference: 'A' }
    run.changes.push({ ...run.changes.at(-1), before, after: undefined })
  },
  '72 a released provider is held again': (run) => {
    const before = { pk: 'RESTORE', sk: 'RESTORE', generation: 2, released: ['amber'] }
    run.changes.push({ ...run.changes.at(-1), before, after: { ...before, released: ['birch'] } })
  },
  '73 a function succeeded, though SQS refused {}': ({ invocations }) => {
    const isJob = ({ name, isFinished }: Any) => isFinished && name === 'submit-to-bank'
    const job = [...invocations.values()].find(isJob)
    job.refused = ['{}']
  },
  '1 a debit has ended, but never expires': (run) => delete debit(run, 'failed').expiresAt,
  '1 a settled debit is completed in the list SETTLE#amber#0': (run) =>
    Object.assign(debit(run, 'settled'), { work: 'SETTLE#amber#0' }),
  '46 a guarded call was carried out without an approval': (run) => {
    run.setup.approvals = true
    operate(run, 'connector', 'set', { bank: 'HBA' })
  },
  '55 a granted call ran, but can run again': (run) => {
    operate(run, 'debit', 'reverse', {})
    const { sent } = Object.assign(run.calls.at(-1), { invocation: -1 })
    sent.approval = 'A'
    const after = { pk: 'APPROVALS', sk: 'A', claim: 'C' }
    run.changes.push({ ...run.changes.at(-1), after, by: { name: 'manage-debit', invocation: -1 } })
  },
  '55 a request ended twice': (run) => {
    const item = { pk: 'APPROVALS', sk: 'A', entity: 'approval', id: 'A' }
    append(run, item, { doneAt: '2026-11-20T12:00:00.000Z' })
    append(run, item, { doneAt: '2026-11-20T12:00:01.000Z' })
  },
  '56 an exception was closed twice': (run) => {
    const item = itemOf(run, { entity: 'exception', kind: 'contradiction' })
    append(run, item, { resolvedAt: '2026-11-20T12:00:00.000Z' })
    append(run, item, { resolvedAt: '2026-11-20T12:00:01.000Z' })
  },
  '56 a debit has an open contradiction after a call about its day': (run) => {
    const { kind, bank, at } = itemOf(run, { entity: 'exception', kind: 'contradiction' })
    const day = at.slice(0, 10)
    operate(run, 'exception', 'resolve', { kind, bank, from: day, to: day })
    const { reply } = Object.assign(run.calls.at(-1), { at: 1e14 })
    reply.at = 1e14
  },
  '55 a debit of many is changed without an outcome in the same transaction': (run) =>
    decideMany(run, 1),
  '49 a list of a bank continues after its last page': (run) => {
    const pages = run.calls.filter(bankList)
    const last = structuredClone(pages.at(-1))
    last.reply.body.data.transactions = []
    run.calls.push(last)
  },
  '57 a request was served with a timestamp of another time': (run) => {
    const options = { provider: 'amber', 'grace-seconds': '0' }
    operate(run, 'provider', 'rotate-request-secret', options, { request_secret: 'S' })
    for (const one of run.calls)
      if (one.caller?.id === 'amber') Object.assign(one, { secret: 'S', drift: 400_000 })
  },
  '64 a bank has failures since 1970-01-01T00:00:00.000Z, but has replied since': (run) => {
    const failingSince = new Date(0).toISOString()
    const after = { pk: 'BANK_HEALTH', sk: 'HBA', state: 'slow', failures: 1, failingSince }
    const last = run.changes.at(-1)
    run.changes.push({ ...last, before: undefined, after, by: undefined })
    const isSubmission = ([, one]: Any) => one.isFinished && one.name === 'submit-to-bank'
    const [by] = [...run.invocations].find(isSubmission) as Any
    const { reference } = debit(run, 'expired')
    const { at } = changesOf(run, debit(run, 'expired'))[0]
    const reply = { bank: 'HBA', uuid: uuidOf(reference), answer: 'accepted', isHeard: true, by }
    run.queries.push({ ...run.queries[0], ...reply, at: at + 1 })
  },
}

const isReport = ({ name, reply }: Any) =>
  name === 'update-debit-transaction' && reply.status === 200

const bankList = ({ name, reply }: Any) =>
  name === 'list-debit-transactions' && reply.body.data?.transactions.length > 0

/** Returns the rows of a list that operators read. */
const listed = (run: Run, name: string) =>
  call(run, (one: Any) => one.name === name && one.reply.body.result?.length > 0).reply.body.result

const paidBatch = (run: Run) =>
  itemsOf(run, { entity: 'batch' }).find(({ status }: Any) => status === 'completed')

const completedDelivery = (run: Run) =>
  itemOf(run, { entity: 'delivery', reference: debit(run, 'settled').reference, n: 3 })

/** Finds the record of the change that wrote an item of a kind. */
const changeBy = ({ changes }: Run, entity: string) => {
  const { transaction } = changes.find(({ after }: Any) => after?.entity === entity)
  return changes.find((one: Any) => one.transaction === transaction && one.after.noun === entity)
}

/** Finds a file of the audit with records. */
const sealed = ({ reports }: Run, key: RegExp) =>
  reports.find((one: Any) => key.test(one.key) && one.text !== '')

const request = (run: Run) => itemOf(run, { entity: 'exception', kind: 'reversal_request' })

/** Finds the query about the account of a number. */
const lookup = ({ queries }: Run, answer: string) =>
  queries.find((one: Any) => one.uuid.startsWith('+') && one.answer === answer)

function countUses({ changes }: Run, uses: object): void {
  for (const { after } of changes) if (after?.sk.startsWith('DAY#')) Object.assign(after, uses)
}

/** Makes a timeout a refusal of a debit below the cap. */
function refuse(run: Run): void {
  run.setup.openPromptsMax = 1_000
  const errorMessage = 'Too many approval requests for this customer'
  const refusal = entry(run, 'expired', 'failed')
  Object.assign(refusal, { by: 'job:submit-to-bank', set: { ...refusal.set, errorMessage } })
}

/** Makes a bank down before all observations. */
function breakDown(run: Run, sk: string, failures: number): void {
  const failingSince = new Date(-300_000).toISOString()
  const after = { pk: 'BANK_HEALTH', sk, state: 'down', failures, failingSince }
  run.changes.unshift({ at: 0, before: undefined, after, by: undefined } as Any)
}

/** Adds calls about an uploaded file, each with the record of its effect on a debit. */
function decideMany(run: Run, ...invocations: number[]): { rows: string } {
  const { reference: target } = debit(run, 'settled')
  const options = { rows: JSON.stringify([target]) }
  operate(run, 'exception', 'upload', options, { bulk: 'B' })
  for (const invocation of invocations) {
    operate(run, 'exception', 'resolve', { file: 'F', bulk: 'B' })
    run.calls.at(-1).invocation = -invocation
    const [pk, sk] = ['CHANGES', `${invocation}`]
    const after = { pk, sk, entity: 'change', noun: 'exception', target }
    const by = { name: 'manage-exception', invocation: -invocation }
    run.changes.push({ ...run.changes.at(-1), before: undefined, after, by })
  }
  return options
}

/** Adds a call of an operator before all others. */
function grantReversals(run: Run, end: object): void {
  run.items.push({ pk: 'A', sk: 'A', entity: 'approval', id: 'A', decision: 'granted', ...end })
  const reversals = run.calls.filter(({ sent }: Any) => sent?.verb === 'reverse')
  for (const { sent } of reversals) sent.approval = 'A'
}

function operate(run: Run, noun: string, verb: string, options: object, result = {}): void {
  const reply = { at: 1, status: 200, headers: {}, body: { result } }
  const call = { at: 0, path: {}, sent: { verb, options }, reply, received: true, invocation: 0 }
  run.calls.push({ ...call, name: `manage-${noun}` })
}

const invariantOfKind: Record<ExceptionKind, number> = {
  late_completion: 31,
  refused_report: 31,
  contradiction: 31,
  refund: 39,
  reversal_request: 69,
}

/** The message of a falsification that another check of the same invariant reports as well. */
const patterns: Record<string, RegExp> = {
  '43 a further payout begins without a query about the rejected one':
    /^follows .+, but HB. was not asked$/,
}

const reports = (check: Check, index: ObservationIndex): boolean => {
  let isReported = false
  try {
    check(index, () => {
      isReported = true
    })
  } catch {
    // `violationsOf` reports a malformed item, whatever the check.
  }
  return isReported
}

const numberIn = (name: string) => Number(name.split(' ')[0])

test('the invariants accept a run of the real functions without faults', () => {
  expect(violationsOf(observed())).toEqual([])
})

test.each(Object.entries(falsifications))('the invariant %s is reported', (name, falsify) => {
  const run = observed()
  falsify(run)
  const message = patterns[name] ? expect.stringMatching(patterns[name]) : expect.any(String)
  const violation = expect.objectContaining({ invariant: numberIn(name), message })
  expect(violationsOf(run)).toContainEqual(violation)
})

test.each(Object.entries(named))('the violation %s is reported', (name, falsify) => {
  const run = observed()
  falsify(run)
  const own = violationsOf(run).filter(({ invariant }) => invariant === numberIn(name))
  const messages = own.map(({ message }) => message)
  expect(messages).toContain(messages.find((message) => name.endsWith(` ${message}`)) ?? name)
})

test.each(Object.entries(invariantOfKind))(
  'the loss of an exception of kind %s is reported by invariant %i',
  (kind, number) => {
    const run = observed()
    remove(run, itemOf(run, { entity: 'exception', kind }))
    expect(violationsOf(run).map(({ invariant }) => invariant)).toContain(number)
  },
)

test('each check of each invariant reports a falsification', () => {
  const silent = new Set(
    invariants.flatMap(([number, , ...checks]) =>
      checks.map((check, index) => ({ check, name: `${number}.${index + 1} ${check.name}` })),
    ),
  )
  for (const falsify of Object.values({ ...falsifications, ...named })) {
    const run = observed()
    falsify(run)
    const index = indexObservations(run)
    for (const one of silent) if (reports(one.check, index)) silent.delete(one)
  }
  expect([...silent].map(({ name }) => name)).toEqual([])
  expect(invariants.filter(([, , check]) => !check)).toEqual([])
})

test.each([
  ['an unknown', { data: { known: 1, another: 1 } }, 'another'],
  ['an unknown undefined', { data: { known: 1 }, absent: 1 }, 'absent'],
  ['no known', { data: {} }, 'known'],
  ['another known', { data: { known: 2 } }, 'known'],
  ['each known', { data: { known: 1 } }, undefined],
])('a payload with %s member is compared by all members', (_, actual, wrong) => {
  expect(differing(actual, { data: { known: 1 }, absent: undefined })).toBe(wrong)
})
