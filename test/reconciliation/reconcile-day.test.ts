import { beforeEach, expect, test } from 'vitest'
import { reconcileDay } from '../../functions/jobs/reconcile-day.ts'
import { reconcilePart } from '../../functions/jobs/reconcile-part.ts'
import { findSealed } from '../../shared/audit/sealed-day.ts'
import { defined } from '../../shared/domain/complete.ts'
import { openRequest } from '../../shared/domain/debits/reversal-request.ts'
import { type Day, dayAfter } from '../../shared/domain/time.ts'
import { startRun } from '../../shared/reconciliation/runs.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { keys } from '../../shared/store/keys.ts'
import { findClosing } from '../../shared/store/settlement/ledger-days.ts'
import {
  findPart,
  findRun,
  partsOf as listParts,
} from '../../shared/store/settlement/reconciliations.ts'
import { remove } from '../../shared/store/table.ts'
import { sweepOverdue } from '../../shared/sweep/overdue.ts'
import { gathered, take, useQueues } from '../settlement/messages-sent.ts'
import { still } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'
import {
  at,
  completed,
  DAY_AFTER,
  exampleDay,
  objects,
  other,
  overwrite,
  putProviders,
  TODAY,
  TOMORROW,
} from './one-day.ts'

process.env.AWS_LAMBDA_LOG_LEVEL = 'INFO'
process.env.METRICS_DISABLED = 'false'

const { clear, lines } = captureOutput()
useQueues()
beforeEach(useFreshTable)

const runtime = still({ now: () => at(TOMORROW, '02:00:05') })

const deliver = async (queue: Parameters<typeof take>[1], body: object = {}) => {
  const job = queue === 'reconciliations' ? reconcileDay(runtime) : reconcilePart(runtime)
  expect(await take(job, queue, body)).toEqual({ batchItemFailures: [] })
}

const perform = (part?: string) => deliver('reconciliation-parts', defined({ run: TODAY, part }))

/** Runs the jobs of a night, delivers each message twice, and returns the log records and metrics. */
const logged = async () => {
  clear()
  for (const _ of [1, 2]) await deliver('reconciliations')
  for (const part of ['other', 'demo', undefined, '*', undefined, 'demo']) {
    for (const _ of [1, 2]) await perform(part)
  }
  return lines()
}

test('the jobs log each broken invariant and count the differences, once for each day', async () => {
  const { done } = await exampleDay()
  await overwrite(keys.debit(done.facts.reference), { narration: 'Order 2' })
  expect(await logged()).toMatchObject([
    { SettlementUnfinished: 0, OpenExceptions: 1, OverduePayouts: 0 },
    { SettlementUnfinished: 0, OpenExceptions: 1, OverduePayouts: 0 },
    {
      level: 'ERROR',
      message: 'reconciliation difference',
      date: '2026-11-21',
      invariant: 1,
      checked: 6,
      differences: 1,
      examples: [
        {
          provider: 'demo',
          subject: done.facts.reference,
          difference: 'its facts differ from the accepted request',
        },
      ],
    },
    { message: 'day reconciled', differences: 1, ReconciliationDifferences: 1 },
    { DaysSealed: 1 },
  ])
  expect(await findRun(TODAY)).toMatchObject({
    ...{ openParts: 0, endedAt: runtime.now() },
    sealed: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
})

test('the differences are logged before the run ends, so that no crash loses them', async () => {
  await exampleDay()
  await deliver('reconciliations')
  for (const part of ['other', 'demo', '*']) await perform(part)
  clear()
  const isLogged: boolean[] = []
  const restore = aroundTableCalls((name, next) => {
    const isDone = lines().some(({ message }) => message === 'day reconciled')
    if (name === 'Update') isLogged.push(isDone)
    return next()
  })
  await perform()
  restore()
  // The end, and the digest of the seal.
  expect(isLogged).toEqual([true, true])
})

test('a repeated end of a run seals the day, and stores no balances again', async () => {
  await exampleDay()
  await logged()
  expect((await findClosing(TODAY))?.day).toBe(TODAY)
  await remove(keys.ledger(TODAY))
  await overwrite(keys.reconciliation(TODAY), { sealed: '' })
  await perform()
  expect(await findClosing(TODAY)).toBeUndefined()
  expect((await findRun(TODAY))?.sealed).toMatch(/^[0-9a-f]{64}$/)
})

test('the night counts open exceptions, and the payouts of earlier days alone', async () => {
  await exampleDay()
  const counted = async (day: Day) => {
    clear()
    await take(reconcileDay(still({ now: () => at(day, '02:00:05') })), 'reconciliations', {})
    return lines()[0]
  }
  const none = { OverduePayouts: 0, RequestsOverdue: 0 }
  expect(await counted(DAY_AFTER)).toMatchObject({ OpenExceptions: 1, ...none })
  expect(await counted(dayAfter(DAY_AFTER))).toMatchObject({
    OverduePayouts: 2,
    PayoutsDue: 2,
    PayoutsLate: 2,
  })
})

test('the night logs and counts the providers that its runs have not settled', async () => {
  await exampleDay()
  await completed({ provider: other })
  clear()
  await deliver('reconciliations')
  const found = { date: TOMORROW, unfinished: [other], SettlementUnfinished: 1 }
  const record = { message: 'settlement unfinished', ...found }
  expect(lines()).toContainEqual(expect.objectContaining(record))
})

test('a night reconciles each day since the last run, and completes one that was interrupted', async () => {
  await putProviders()
  const next = dayAfter(DAY_AFTER)
  const nightOf = (day: Day) =>
    take(reconcileDay(still({ now: () => at(day, '02:00:05') })), 'reconciliations', {})
  await nightOf(TOMORROW)
  await remove(keys.reconciliationPart(TODAY, 'demo'))
  // The worker discards the message of a part that does not exist.
  await perform('demo')
  await nightOf(dayAfter(next))
  const runs = await Promise.all(
    [dayAfter(TODAY, -1), TODAY, TOMORROW, DAY_AFTER, next].map(findRun),
  )
  expect(runs.map((run) => run?.date)).toEqual([undefined, TODAY, TOMORROW, DAY_AFTER, next])
  expect(await findPart(TODAY, 'demo')).toBeDefined()
  const last = dayAfter(next, 31)
  await nightOf(dayAfter(last))
  expect(await findRun(dayAfter(next, 1))).toBeDefined()
  const later = dayAfter(last, 32)
  await nightOf(dayAfter(later))
  expect(await findRun(later)).toBeDefined()
  expect(await findRun(dayAfter(later, -1))).toBeUndefined()
})

test('the later one of two runs of a night waits for the earlier one, and each day is sealed with its result', async () => {
  objects.clear()
  await putProviders()
  const night = still({ now: () => at(DAY_AFTER, '02:00:05') })
  for (const day of [TODAY, TOMORROW]) await startRun(day, day, night)
  const partsOf = async (run: Day) => (await Array.fromAsync(listParts(run))).map(({ id }) => id)
  let updates = 0
  /** Each of two runs is ended, then sealed. */
  const failLastSeal = (name: string, next: () => Promise<unknown>) => {
    updates += name === 'Update' ? 1 : 0
    return updates === 4 ? Promise.reject(new Error('throttled')) : next()
  }
  const end = (run: Day, part?: string) =>
    take(reconcilePart(night), 'reconciliation-parts', defined({ run, part }))
  for (const day of [TOMORROW, TODAY]) {
    for (const part of await partsOf(day)) await end(day, part)
    // A seal that fails is repeated with the message of the earlier run.
    if (day === TODAY) {
      const stop = aroundTableCalls(failLastSeal)
      expect(await end(day)).toMatchObject({ batchItemFailures: [{}] })
      stop()
    }
    await end(day)
    const sealed = await Promise.all([TODAY, TOMORROW].map(findSealed))
    const marked = await Promise.all([TODAY, TOMORROW].map(findRun))
    expect(marked.every((run) => run?.sealed !== undefined)).toBe(day === TODAY)
    expect(sealed.map((one) => one?.content?.reconciliation !== null && one !== undefined)).toEqual(
      day === TOMORROW ? [false, false] : [true, true],
    )
  }
})

test('the night counts the requests of providers whose fifth working day has passed', async () => {
  const { done } = await exampleDay()
  const cause = { at: at(TODAY, '12:00:00'), by: 'provider:demo', requestId: 'r-1' }
  const asked = { kind: 'refund', reason: 'Cancelled', cause, holidays: new Set<Day>() } as const
  const request = openRequest(done, asked)
  await putException(request)
  const last = request.request.respondBy
  for (const [day, count] of [
    [last, 0],
    [dayAfter(last), 1],
  ] as const) {
    clear()
    await take(reconcileDay(still({ now: () => at(day, '02:00:05') })), 'reconciliations', {})
    expect(lines()[0]).toMatchObject({ RequestsOverdue: count })
  }
})

/** Sweeps at a time. Returns the messages sent, and whether a run was measured as unfinished. */
const sweptAt = async (time: string, day: Day = TOMORROW) => {
  clear()
  const sweeper = still({ now: () => at(day, time) })
  const sent = await gathered(() =>
    sweepOverdue({ runtime: sweeper, restore: undefined, timeIsUp: () => false }),
  )
  const unfinished = lines().some((line) => line.ReconciliationUnfinished === 1)
  return { bodies: sent.map(({ body }) => body), unfinished }
}

test('the sweep requests lost messages, and measures a run that takes longer than six hours', async () => {
  await putProviders()
  await deliver('reconciliations')
  expect(await sweptAt('02:16:00')).toEqual({ bodies: [], unfinished: false })
  const { bodies } = await sweptAt('02:18:00')
  const parts = ['*', 'demo', 'other']
  expect(bodies.map(({ part }) => part).sort()).toEqual(parts)
  expect(bodies[0]).toMatchObject({ run: TODAY })
  for (const part of parts) await perform(part)
  for (const time of ['02:35:00', '08:00:05'])
    expect(await sweptAt(time)).toEqual({ bodies: [{ run: TODAY }], unfinished: false })
  expect(await sweptAt('08:16:00')).toEqual({ bodies: [{ run: TODAY }], unfinished: true })
  await perform()
  expect(await sweptAt('20:00:00')).toEqual({ bodies: [], unfinished: false })
})

/** Ends the run of today, of which the seal fails. */
const failSeal = async () => {
  let updates = 0
  const stop = aroundTableCalls((name, next) => {
    updates += name === 'Update' ? 1 : 0
    return updates > 1 ? Promise.reject(new Error('throttled')) : next()
  })
  const failed = await take(reconcilePart(runtime), 'reconciliation-parts', { run: TODAY })
  stop()
  expect(failed).toMatchObject({ batchItemFailures: [{}] })
}

const sealedWithResult = { content: { reconciliation: { differences: expect.any(Number) } } }

test.each([
  [{ time: '02:18:00' }, 'requests it'],
  [{ time: '09:00:00' }, 'requests it'],
  [{ time: '02:18:00', day: DAY_AFTER }, 'leaves it to the night'],
] as const)(
  'an ended run of which the seal failed is swept at %o: the sweep %s',
  async (swept, does) => {
    objects.clear()
    await putProviders()
    await deliver('reconciliations')
    for (const part of ['*', 'demo', 'other']) await perform(part)
    await failSeal()
    expect(await findRun(TODAY)).toMatchObject({ endedAt: runtime.now() })
    const { time, day } = { day: TOMORROW, ...swept }
    const bodies = does === 'requests it' ? [{ run: TODAY }] : []
    expect(await sweptAt(time, day)).toEqual({ bodies, unfinished: false })
    await perform()
    expect(await findSealed(TODAY)).toMatchObject(sealedWithResult)
    expect(await sweptAt('23:00:00')).toEqual({ bodies: [], unfinished: false })
  },
)

test('a run waits for an earlier one of its night that has ended and is not sealed', async () => {
  objects.clear()
  await putProviders()
  for (const day of [TODAY, TOMORROW]) {
    await startRun(day, day, runtime)
    for (const { id: part } of await Array.fromAsync(listParts(day)))
      await deliver('reconciliation-parts', { run: day, part })
  }
  await failSeal()
  await deliver('reconciliation-parts', { run: TOMORROW })
  const sealed = () => Promise.all([TODAY, TOMORROW].map(findSealed))
  expect(await sealed()).toEqual([undefined, undefined])
  await perform()
  expect(await sealed()).toMatchObject([sealedWithResult, sealedWithResult])
})
