import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { refuseCalls } from '../../sandbox/aws/sdk.ts'
import type { Changes, Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { type Batch, openBatch } from '../../shared/domain/settlement/batch.ts'
import { dayAfter, dayOf, startOf } from '../../shared/domain/time.ts'
import { newDelivery, redeliver } from '../../shared/domain/webhooks/delivery.ts'
import { automaticRecoveries } from '../../shared/domain/webhooks/recovery.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import { startRun } from '../../shared/reconciliation/runs.ts'
import { real } from '../../shared/runtime.ts'
import { toDebitItem, workAfter } from '../../shared/store/debits/debit-item.ts'
import { findExceptions } from '../../shared/store/debits/exceptions.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { findBatch } from '../../shared/store/settlement/batches.ts'
import { acquireLanes, findBuild, releaseLanes } from '../../shared/store/settlement/build-lease.ts'
import { findRun } from '../../shared/store/settlement/reconciliations.ts'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { findRecovery, openRecovery } from '../../shared/store/webhooks/recoveries.ts'
import { dueAttributes } from '../../shared/store/work-index.ts'
import { eventually } from '../support/eventually.ts'
import { bankMove, pendingDebit, providerId } from '../support/examples.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createPayee, nightAfter, type Payee, settlementAccount } from '../support/payee.ts'
import { createProvider } from '../support/provider.ts'
import { useReceiver } from '../support/receiver.ts'
import { granted } from '../support/refused.ts'
import { type Shown, testInProcess, useService } from '../support/running-service.ts'
import { sqsEvent } from '../support/sqs-event.ts'

/** Jobs that are started by their messages alone, and the sweep and repair of lost messages. */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank(service)

const TODAY = dayOf(new Date())
const first = nightAfter(0)
const DONE = { batchItemFailures: [] }

const createHtbPayee = (id: string): Promise<Payee> =>
  createPayee(service, id, settlementAccount('7001007001', 'HTB'))

const htb = { identifier: 'HTB', name: 'Test Bank' } as Debit['facts']['bank']

const moved = (debit: Debit, to: Status, at: Date, changes: Changes = {}): Debit =>
  granted(bankMove(to, { changes, at })(debit))

/** Writes a debit under an entity that the relay skips, as a restore does. */
const writeDebit = async (debit: Debit, more: object = {}) => {
  const Item = { ...toDebitItem(debit), entity: 'restored', ...more }
  await table.send(new PutCommand({ TableName: tableName(), Item }))
  return debit
}

/** Writes a debit whose timeout is due. */
const writeOverdue = (facts: Partial<Debit['facts']> = { bank: htb }) => {
  const chargedAt = new Date(Date.now() - 700_000)
  const debit = moved(pendingDebit(facts, chargedAt), 'processing', chargedAt)
  const { reference, provider } = debit.facts
  const open = { byStatus: keys.debits(provider, 'open') }
  return writeDebit(debit, { ...open, ...dueAttributes(keys.debit(reference), chargedAt) })
}

const writeCompletedYesterday = async (payee: Payee, count: number): Promise<void> => {
  const noon = new Date(startOf(TODAY).getTime() - 12 * 3_600_000)
  const write = () => {
    const debit = moved(pendingDebit({ provider: providerId(payee.id) }, noon), 'completed', noon)
    return writeDebit(debit, { entity: 'debit', ...workAfter(debit) })
  }
  await Promise.all(Array.from({ length: count }, write))
}

/** Runs work with a clock on which it takes hours. */
const withFastClock = <T>(work: () => Promise<T>): Promise<T> => {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  const timer = setInterval(() => vi.setSystemTime(Date.now() + 3_600_000), 1)
  return work().finally(() => {
    clearInterval(timer)
    vi.useRealTimers()
  })
}

/** Runs a write under an entity that the relay skips. */
const unrelayed = async (work: () => Promise<unknown>): Promise<void> => {
  const send = table.send.bind(table) as (command: { input: { Item?: object } }) => unknown
  vi.spyOn(table, 'send').mockImplementation(((command: Parameters<typeof send>[0]) => {
    if (command.input.Item) Object.assign(command.input.Item, { entity: 'restored' })
    return send(command)
  }) as never)
  await work()
  vi.restoreAllMocks()
}

const batchesOf = ({ id }: Payee): Promise<Shown[]> =>
  service.call('settlement', 'list', { provider: id })

const isBuilt = (payee: Payee, count: number) =>
  eventually(async () => {
    const [batch] = await batchesOf(payee)
    expect(batch).toMatchObject({ count, gross: `${count}00.00`, sealed_at: expect.any(String) })
    return batch
  })

testInProcess.each(['job', 'operator'])(
  'the function build-batch continues, once, the run of a %s whose time is up',
  async (caller) => {
    const payee = await createHtbPayee(`left-by-${caller}`)
    await writeCompletedYesterday(payee, 100)
    const message = { provider: payee.id, date: TODAY }
    const build = () => service.runJob('build-batch', message)
    if (caller === 'job') await withFastClock(build)
    else expect((await withFastClock(() => payee.run(TODAY))).in_work).toEqual([payee.id])
    const { id } = await isBuilt(payee, 100)
    // Its reports follow the seal.
    await eventually(async () => {
      expect(await build()).toEqual(DONE)
      expect((await payee.batch('report', id)).lines).toHaveLength(100)
    })
    expect(await batchesOf(payee)).toHaveLength(1)
    if (caller === 'job') return
    // The job continues the payouts of a run, too.
    const { in_work } = await withFastClock(() => payee.run(dayAfter(TODAY)))
    expect(in_work).toContain(id)
    await eventually(async () => expect((await batchesOf(payee))[0].status).toBe('completed'))
  },
)

test('`open-settlement` starts the builds of completed debits and the payouts that are due', async () => {
  const payee = await createHtbPayee('opened')
  // Two chunks of lines.
  await writeCompletedYesterday(payee, 100)
  const [due] = (await payee.run(TODAY)).built
  await writeCompletedYesterday(payee, 2)
  const ahead = (startOf(first).getTime() - Date.now()) / 1000
  expect(await service.runJob('open-settlement', {}, ahead)).toEqual(DONE)
  await eventually(async () => {
    const batches = await batchesOf(payee)
    expect(batches.find(({ id }) => id === due.id)).toMatchObject({ status: 'completed' })
    expect(batches.find(({ id }) => id !== due.id)).toMatchObject({ count: 2 })
  })
  // Without unsettled debits, the job reads the batches. The test records the permissions of the calls of each round.
  for (const completes of [false, true]) {
    if (completes) await payee.complete('5.00')
    expect(await service.runJob('reconcile-day', {}, ahead + 7_200)).toEqual(DONE)
  }
})

test('the sweep queries the bank, also a disabled one, before it fails a debit whose timers never fired', async () => {
  const { reference, uuid } = (await writeOverdue()).facts
  const outcome = { uuid, amount: '100.00', bank_reference: 'HTB-LATE', status: 'completed' }
  bank.outcomes.set(uuid, outcome)
  await service.call('bank', 'disable', { bank: 'HTB' })
  await service.runJob('sweep')
  const { history } = await service.until(reference, 'completed')
  await service.call('bank', 'enable', { bank: 'HTB' })
  expect(history.at(-1).by).toBe('bank:HTB')
})

type Job = (reference: string) => Promise<unknown>

const expireDebit: Job = (reference) =>
  service.runJob('expire-debit', { reference, phase: 'processing' })
const resubmit =
  (job: 'submit-to-bank' | 'submit-sidelined'): Job =>
  (reference) =>
    service.runJob(job, { reference, resubmission: true })

const writePending = () => writeDebit(pendingDebit({ bank: htb }, new Date()))

/** The jobs that query a bank, each with a debit about which it queries. */
const queries: [string, Job, () => Promise<Debit>][] = [
  ['expire-debit', expireDebit, writeOverdue],
  ['submit-to-bank', resubmit('submit-to-bank'), writePending],
  ['submit-sidelined', resubmit('submit-sidelined'), writePending],
]

/** How another worker ends a debit, and what its bank replies to the query. */
const LATE = { ends: ['failed'], status: 'completed', kind: 'late_completion' } as const
const WITHDRAWN = { ends: ['completed'], status: 'failed', kind: 'contradiction' } as const
const REVERSED = { ...WITHDRAWN, ends: ['completed', 'reversed'] } as const
type Race = typeof LATE | typeof WITHDRAWN | typeof REVERSED

const races: [string, Race][] = [
  ['completion of a failed debit', LATE],
  ['failure of a completed debit', WITHDRAWN],
  ['failure of a reversed debit', REVERSED],
]

/** The fields that the bank adds to its reply, and those that the report of the exception has. */
const [FEE, message] = [{ fee: '1.50' }, 'Too little money']
const details = {
  completed: { reply: FEE, report: FEE },
  failed: { reply: { code: 'insufficient_funds', message }, report: { error_message: message } },
}

/** Starts a job for a debit that another worker ends, usually while the bank replies otherwise. */
const overtake = async (
  { ends, status }: Race = LATE,
  start = expireDebit,
  { write = writeOverdue, isEarlier = false, reply = details[status].reply as object } = {},
) => {
  const open = await write()
  const { reference, uuid } = open.facts
  const end = (debit: Debit, to: Status) =>
    granted(bankMove(to, { at: new Date(), by: 'operator:ama' })(debit))
  const endDebit = () => writeDebit(ends.reduce(end, open))
  if (isEarlier) await endDebit()
  bank.outcomes.set(uuid, async () => {
    if (!isEarlier) await endDebit()
    return { uuid, amount: '100.00', bank_reference: 'HTB-LOST', status, ...reply }
  })
  await start(reference)
  await service.until(reference, ends.at(-1) ?? '')
  return reference
}

const expectException = async (reference: string, { kind, ends, status }: Race = LATE) => {
  const [exception, ...others] = await findExceptions(reference as Reference)
  expect(exception).toMatchObject({ kind, by: 'bank:HTB', status: ends.at(-1) })
  const report = { status, bank_reference: 'HTB-LOST', ...details[status].report }
  expect(JSON.parse(exception?.report ?? '')).toMatchObject(report)
  expect(others).toEqual([])
}

describe.each(queries)('a query of %s', (_, start, write) => {
  test.each(races)(
    'a %s, which its bank replies just after another worker, becomes an exception',
    async (_, race) => {
      await expectException(await overtake(race, start, { write }), race)
    },
  )
})

test('a completion that a repeated submission finds for a failed debit is refunded', async () => {
  const late = { write: writePending, isEarlier: true, reply: {} }
  const reference = await overtake(LATE, resubmit('submit-to-bank'), late)
  const [exception] = await findExceptions(reference as Reference)
  const report = { status: 'completed', bank_reference: 'HTB-LOST' }
  expect(JSON.parse(exception?.report ?? '')).toEqual(report)
  await service.call('exception', 'refund', { reference })
  await eventually(async () =>
    expect(await service.show(reference)).toMatchObject({ refund: { status: 'completed' } }),
  )
})

/** Refuses the first write of an exception. */
const refuseException = () => {
  let isRefused = false
  refuseCalls(({ input }) => {
    const { sk = '' } = (input.Item ?? {}) as { sk?: string }
    if (isRefused || !sk.startsWith('EXCEPTION#')) return undefined
    isRefused = true
    return new Error('No exception is written')
  })
  onTestFinished(() => refuseCalls(() => undefined))
}

testInProcess(
  'a late completion that an expiry of the sweep cannot store is queried again',
  async () => {
    refuseException()
    const reference = await overtake(LATE, () => service.runJob('sweep'))
    await service.pass(5)
    await eventually(() => expectException(reference))
  },
)

testInProcess.each(races)(
  'a %s is queried again until the bank answers, if it could not be stored',
  async (_, race) => {
    refuseException()
    const reference = await overtake(race)
    const { uuid } = await service.show(reference)
    const reply = await bank.outcomes.get(uuid)
    bank.outcomes.set(uuid, { status: 'completed' })
    const again = sqsEvent('expiries', [{ reference, phase: 'processing' }], () => 2)
    const retried = { batchItemFailures: [{ itemIdentifier: 'message-1' }] }
    expect(await service.invoke('expire-debit', again)).toEqual(retried)
    bank.outcomes.set(uuid, reply ?? {})
    expect(await service.invoke('expire-debit', again)).toEqual(DONE)
    await expectException(reference, race)
  },
)

testInProcess('a bank that has reported a completion is not queried about it again', async () => {
  const processing = moved(pendingDebit({ bank: htb }), 'processing', new Date())
  const { facts } = await writeDebit(moved(processing, 'completed', new Date()))
  const again = sqsEvent('expiries', [{ reference: facts.reference, phase: 'processing' }], () => 2)
  expect(await service.invoke('expire-debit', again)).toEqual(DONE)
  expect(bank.requestsFor(facts.uuid)).toEqual([])
})

testInProcess(
  'a late completion is queried again also while a restore holds its provider',
  async () => {
    refuseException()
    const reference = await overtake()
    await service.call('restore', 'begin', { generation: '2' })
    onTestFinished(async () => void (await service.call('restore', 'release')))
    const again = sqsEvent('expiries', [{ reference, phase: 'processing' }], () => 2)
    expect(await service.invoke('expire-debit', again)).toEqual(DONE)
    await expectException(reference)
  },
)

testInProcess('a timeout that the sweep sent is repeated if it cannot be stored', async () => {
  const { reference } = (await writeOverdue({})).facts
  let isRefused = false
  refuseCalls(({ constructor: { name }, input }) => {
    const text = JSON.stringify(input)
    const isExpiry = [reference, 'history'].every((part) => text.includes(part))
    if (isRefused || !isExpiry || !/^(?:Update|TransactWrite)/.test(name)) return undefined
    isRefused = true
    return new Error('No timeout is written')
  })
  onTestFinished(() => refuseCalls(() => undefined))
  await service.runJob('sweep')
  await service.pass(5)
  const { history } = await service.until(reference, 'failed')
  expect(isRefused).toBe(true)
  expect(history.at(-1).by).toBe('job:expire-debit')
})

test('the sweep continues an abandoned build, also when its stream record was lost', async () => {
  for (const isContinued of [true, false]) {
    const { id } = await createHtbPayee(`continued-${isContinued}`)
    const turn = await acquireLanes({ provider: providerId(id), date: TODAY }, real)
    if (!turn) throw new Error('No turn')
    await releaseLanes(turn, { isContinued }, real)
    if (!isContinued) await service.runJob('sweep', {}, 3_600)
    const build = () => findBuild(turn.provider, TODAY)
    await eventually(async () => expect(await build()).toBeUndefined())
  }
})

test('the sweep completes an abandoned batch and queries an abandoned payout', async () => {
  const builder = await createHtbPayee('left-building')
  const abandoned = openBatch({
    ...{ id: 'STL-20261122-LEFT01' as Batch['id'], uuid: crypto.randomUUID() as Batch['uuid'] },
    ...{ provider: providerId(builder.id), date: TODAY, n: 1 },
    ...{ createdAt: new Date(), feeSchedule: null },
  })
  await table.send(new PutCommand({ TableName: tableName(), Item: toBatchItem(abandoned) }))
  const payee = await createHtbPayee('left-paying')
  await writeCompletedYesterday(payee, 1)
  bank.conducts.push('take its time')
  await payee.run(TODAY)
  const {
    paid,
    in_work: [underway],
  } = await payee.run(first)
  expect(paid).toEqual([])
  expect(await payee.batch('show', underway)).toMatchObject({ status: 'processing' })
  await service.runJob('sweep', {}, 3_600)
  await eventually(async () => {
    expect(await findBatch(abandoned.id)).toMatchObject({ reportedAt: expect.any(Date) })
    expect(await payee.batch('show', underway)).toMatchObject({ status: 'completed' })
  })
})

testInProcess('the sweep continues a reconciliation whose messages were lost', async () => {
  const { id } = await createProvider(service, 'reconciled')
  const date = dayAfter(TODAY, -20)
  await unrelayed(() => startRun(date, date, real))
  const open = async () => (await findRun(date))?.openParts ?? 0
  const parts = await open()
  // Its time is up after the first task; the stream requests the rest.
  await withFastClock(() => service.runJob('reconcile-part', { run: date, part: id }))
  await eventually(async () => expect(await open()).toBe(parts - 1))
  await service.runJob('sweep', {}, 3_600)
  await eventually(async () => expect(await open()).toBe(0))
  await service.runJob('sweep', {}, 7_200)
  await eventually(async () => {
    expect(await findRun(date)).toMatchObject({ endedAt: expect.any(Date) })
  })
})

testInProcess('the sweep repairs lost events, submissions, attempts and recoveries', async () => {
  const { id, webhook } = await createProvider(service, 'swept')
  await webhook('set', { url: receiver.url() })
  const provider = providerId(id)
  // Earlier tests of this file moved the clock of the webhook, from whose setting on events are owed.
  const chargedAt = service.sandbox().control.clock.now()
  for (const _ of ['first event of the feed', 'later event']) {
    // Earlier sweeps of this file ran at later times.
    await putSweepProgress({ until: new Date(), behind: new Map() })
    const { reference } = (await writeDebit(pendingDebit({ provider }, chargedAt))).facts
    // A pending debit has no five-minute timeout.
    await service.runJob('expire-debit', { reference, phase: 'approval' }, 400)
    expect((await service.show(reference)).status).toBe('pending')
    await service.runJob('sweep', {}, 180)
    // The attempts are due at the time of the sweep, which is ahead of the relay's.
    for (const n of [0, 1]) {
      await service.runJob('deliver-webhook', { reference, n, attempt: 1 }, 180)
    }
    await receiver.events(reference, 2)
    await service.until(reference, 'processing')
  }
  await putSweepProgress({ until: new Date(), behind: new Map() })
  const processing = moved(pendingDebit({ provider }, chargedAt), 'processing', chargedAt)
  const { facts, history } = await writeDebit(moved(processing, 'completed', chargedAt))
  for (const [n, { type, at }] of history.entries()) {
    const delivery = newDelivery({ reference: facts.reference, n, provider, type, at }, {})
    await unrelayed(() => replaceDelivery(undefined, redeliver(delivery, at)))
  }
  const [recovery] = automaticRecoveries({ provider, id: 'automatic-1', now: new Date() })
  await unrelayed(() => openRecovery(recovery))
  await service.runJob('sweep', {}, 180)
  expect(await receiver.events(facts.reference, 4)).toHaveLength(4)
  await eventually(async () => {
    expect(await findRecovery(provider, recovery.id)).toMatchObject({ status: 'done' })
  })
})

test('`submit-to-bank` fails a debit after its ten minutes without a submission', async () => {
  const { reference } = (await writeDebit(pendingDebit({}, new Date()))).facts
  // The outcome of a bank waits until the submission is recorded.
  const outcome = { reference, outcome: 'completed' }
  const retried = { batchItemFailures: [{ itemIdentifier: 'message-1' }] }
  expect(await service.runJob('report-sandbox-outcome', outcome)).toEqual(retried)
  await service.runJob('submit-to-bank', { reference }, 601)
  const error_message = 'Bank processing timeout'
  const { error_code, history, ...shown } = await service.show(reference)
  expect(shown).toMatchObject({ status: 'failed', error_message })
  expect([error_code, history.length]).toEqual(['timeout', 3])
})

test('the repair publishes each event of each debit of the day in the feed once', async () => {
  const date = dayAfter(TODAY, -10)
  const noon = new Date(startOf(date).getTime() + 12 * 3_600_000)
  const { id, get } = await createProvider(service, 'restored')
  const provider = providerId(id)
  const opened = () => pendingDebit({ provider }, noon)
  const processing = () => moved(opened(), 'processing', noon)
  const declined = { errorMessage: 'Declined', errorCode: 'timeout' } as const
  const debits: [Debit, string][] = [
    [opened(), 'created pending'],
    [processing(), 'created pending processing'],
    [moved(processing(), 'completed', noon), 'created pending processing completed'],
    [moved(opened(), 'failed', noon, declined), 'created pending failed'],
  ]
  for (const [debit] of debits) await writeDebit(debit, workAfter(debit))
  const repair = () => service.call('debit', 'repair', { provider, date })
  expect(await repair()).toMatchObject({ looked_at: 4, is_done: true })
  await repair()
  const { body } = await get('/api/v1/payment-providers/events?per_page=100')
  const feed = body.data.map(
    ({ event, data }: Shown) => `${data.transaction.reference} ${event.split('.')[1]}`,
  )
  const expected = debits.flatMap(([{ facts }, names]) =>
    names.split(' ').map((name) => `${facts.reference} ${name}`),
  )
  expect(feed.sort()).toEqual(expected.sort())
})

test('the command repeats the repair of a day to its end, and adds the results', async () => {
  const options = { provider: 'demo', date: '2026-01-01' }
  const part = { ...options, looked_at: 2, unreadable: [] }
  const replies = [
    { result: { ...part, repaired: ['A'], is_done: false }, next_cursor: 'place' },
    { result: { ...part, repaired: ['B'], is_done: true } },
  ]
  const calls: object[] = []
  const reply = await operateFully({ noun: 'debit', verb: 'repair', options }, async (call) => {
    calls.push(call.options)
    return replies.shift() ?? { error: 'a call too many' }
  })
  expect(reply).toEqual({ result: { ...part, looked_at: 4, repaired: ['A', 'B'], is_done: true } })
  expect(calls).toEqual([options, { ...options, cursor: 'place' }])
})

test.each([
  ['fails', () => Promise.reject(new Error('throttled'))],
  ['is refused', async () => ({ error: 'throttled' })],
])(
  'a repair of a day whose second call %s returns the first part, its cursor and the reason',
  async (_, second) => {
    const options = { provider: 'demo', date: '2026-01-01' }
    const result = { ...options, looked_at: 2, repaired: ['A'], unreadable: [], is_done: false }
    const call = { noun: 'debit', verb: 'repair', options }
    const reply = await operateFully(call, async ({ options: { cursor } }) =>
      cursor ? second() : { result, next_cursor: 'place' },
    )
    expect(reply).toEqual({ result, next_cursor: 'place', fault: 'throttled' })
    await expect(operateFully(call, () => Promise.reject(new Error('throttled')))).rejects.toThrow()
  },
)

test('the repair makes the sweep end an overdue debit that an index showed too late', async () => {
  const { id } = await createProvider(service, 'unlisted')
  const at = new Date(Date.now() - 3_600_000)
  const { reference } = (await writeDebit(pendingDebit({ provider: providerId(id) }, at))).facts
  const sweepFrom = async (until: Date) => {
    await putSweepProgress({ until, behind: new Map() })
    await service.runJob('sweep', {}, 180)
  }
  await sweepFrom(new Date())
  expect((await service.show(reference)).status).toBe('pending')
  await service.call('debit', 'repair', { provider: id, date: dayOf(at) })
  await sweepFrom(new Date())
  await service.until(reference, 'failed')
})

test('the repair submits a pending debit that was never submitted', async () => {
  const { id } = await createProvider(service, 'unsubmitted')
  const debit = pendingDebit({ provider: providerId(id) }, new Date(Date.now() - 180_000))
  const { reference } = (await writeDebit(debit, workAfter(debit))).facts
  const day = { provider: id, date: dayOf(debit.history[0]?.at ?? new Date()) }
  expect((await service.call('debit', 'repair', day)).repaired).toEqual([reference])
  await service.until(reference, 'processing')
})
