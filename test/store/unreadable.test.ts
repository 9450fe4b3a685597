import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { sweep } from '../../functions/jobs/sweep.ts'
import { manageException } from '../../functions/operator/manage-exception.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { log } from '../../shared/log.ts'
import { buildBatch } from '../../shared/settlement/build.ts'
import { listDebits } from '../../shared/store/debits/debit-lists.ts'
import { findDebits } from '../../shared/store/debits/debits.ts'
import { putException } from '../../shared/store/debits/exceptions.ts'
import { keys } from '../../shared/store/keys.ts'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { read } from '../../shared/store/table.ts'
import { repairDay } from '../../shared/sweep/day.ts'
import { findEvents } from '../../shared/webhooks/find-events.ts'
import { lateCompletionOf, overwrite } from '../reconciliation/one-day.ts'
import { gathered, take, useQueues } from '../settlement/messages-sent.ts'
import { at, completedDebits, dayAt, newProvider, openedDebit } from '../settlement/one-provider.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { still } from '../support/examples.ts'
import { listNewest } from '../support/newest-events.ts'
import { useFreshTable } from '../support/tables.ts'

/** Tests that one debit whose item cannot be read hides no other, and is logged as a fault. */

beforeEach(useFreshTable)
useQueues()
useReportShelf()

const faults = vi.spyOn(log, 'error').mockImplementation(() => undefined)
beforeEach(() => void faults.mockClear())
afterAll(() => faults.mockRestore())

const logged = () =>
  faults.mock.calls.flatMap(([, details]) => (details as { subject: string[] }).subject)

/** Neither its metadata is JSON, nor can its history be replayed. */
const spoil = ({ facts }: Debit, values: Record<string, unknown> = { metadata: '{' }) =>
  overwrite(keys.debit(facts.reference), values)

const referenceOf = ({ facts }: Debit) => facts.reference

/** Thirty debits, more than are looked at together, and the first of them cannot be read. */
const thirty = async (complete: boolean) => {
  const provider = await newProvider()
  const debits = complete
    ? await completedDebits(provider, Array(30).fill(10_00), at('09:00:00'))
    : await Promise.all(Array.from({ length: 30 }, () => openedDebit(provider, 10_00)))
  const [bad, ...good] = debits
  if (!bad) throw new Error('No debit')
  await spoil(bad)
  return { provider, bad: referenceOf(bad), good: good.map(referenceOf) }
}

const unreadable = [{ metadata: '{' }, { history: [] }]
test.each(unreadable)('a debit with %j is reported, and others are returned', async (values) => {
  const provider = await newProvider()
  const [one, other] = [await openedDebit(provider, 10_00), await openedDebit(provider, 20_00)]
  await spoil(one, values)
  const unreadable: string[] = []
  const references = [referenceOf(one), referenceOf(other)]
  const found = await findDebits(references, (reference) => unreadable.push(reference))
  expect([[...found.keys()], unreadable]).toEqual([[referenceOf(other)], [referenceOf(one)]])
  await expect(findDebits(references)).rejects.toThrow()
})

test('an unreadable debit does not block the sweep, which retries it after an hour', async () => {
  const { bad, good } = await thirty(false)
  const run = (time: string) =>
    gathered(() => take(sweep(still({ now: () => at(time) })), 'sweeps', {}))
  // The first run follows the open debits, the second one sends their timeouts.
  await run('12:19:00')
  expect(logged()).toEqual([bad])
  const sent = await run('12:20:00')
  expect(sent.map(({ body }) => body.reference).sort()).toEqual(good.sort())
  expect(logged()).toEqual([bad])
  expect(await read(keys.debit(bad))).toMatchObject({ due: '2026-11-22T13:19:00.000Z' })
  await run('12:21:00')
  expect(logged()).toEqual([bad])
  await run('13:20:00')
  expect(logged()).toEqual([bad, bad])
})

test('an unreadable debit does not block the events of completed debits', async () => {
  const { provider, bad, good } = await thirty(true)
  await putSweepProgress({ until: at('08:58:00'), behind: new Map() })
  const run = sweep(still({ now: () => at('09:05:00') }))
  await gathered(() => take(run, 'sweeps', {}))
  const told = (await listNewest(provider, 200)).flatMap(({ reference, n }) =>
    n === 2 ? [reference] : [],
  )
  expect(told.sort()).toEqual(good.sort())
  expect(logged()).toContain(bad)
})

test('an unreadable debit does not block the settlement of others', async () => {
  const { provider, bad, good } = await thirty(true)
  const runtime = still({ now: () => at('00:00:01', 1) })
  await buildBatch({ provider, date: dayAt(1) }, runtime)
  const settled = [...(await findDebits(good)).values()].map(({ settledIn }) => settledIn)
  expect(new Set(settled).size).toBe(1)
  expect(settled[0]).toMatch(/^STL-/)
  expect(logged()).toEqual([bad])
})

test('the repair of a day reports an unreadable debit and repairs the others', async () => {
  const { provider, bad, good } = await thirty(true)
  const runtime = still({ now: () => at('00:00:00', 7) })
  const repair = (day: number, timeIsUp = false) =>
    repairDay({ provider, date: dayAt(day) }, runtime, () => timeIsUp)
  expect(await repair(-1, true)).toMatchObject({ lookedAt: 0, isDone: false })
  // The debits are charged on the day before they complete.
  expect(await repair(0)).toMatchObject({ lookedAt: 0, isDone: true })
  const result = await repair(-1)
  expect(result).toMatchObject({ lookedAt: 30, unreadable: [bad], isDone: true })
  expect(result.repaired.sort()).toEqual(good.sort())
})

test('the lists and the event pages omit an unreadable debit', async () => {
  const { provider, bad, good } = await thirty(true)
  const place = { slice: { skip: 0, limit: 50 } }
  const unreadable: string[] = []
  const { debits } = await listDebits(provider, {}, place, (one) => unreadable.push(one))
  expect(debits.map(referenceOf).sort()).toEqual(good.sort())
  expect(unreadable).toEqual([bad])
  const [first = bad] = good
  const events = await findEvents([bad, first], () => undefined)
  expect(new Set(events.map(({ reference }) => reference))).toEqual(new Set([first]))
})

test('an operator can read the exceptions of an unreadable debit', async () => {
  vi.stubEnv('SEALING_KEY', 'a key of this test')
  const debit = await openedDebit(await newProvider(), 10_00)
  await putException(lateCompletionOf(debit, at('10:00:00')))
  await spoil(debit)
  const call = { verb: 'show', options: { reference: referenceOf(debit) } }
  const reply = await manageException(still())(call as never)
  expect(reply).toMatchObject({ result: [{ kind: 'late_completion' }] })
})
