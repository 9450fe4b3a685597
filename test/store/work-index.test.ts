import { beforeAll, expect, test } from 'vitest'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { failRefund, newRefund, retryRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { createDebit } from '../../shared/store/debits/charges.ts'
import { followOpen } from '../../shared/store/debits/open-debits.ts'
import { refundReplacement } from '../../shared/store/debits/refunds.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { keys } from '../../shared/store/keys.ts'
import { type Item, read } from '../../shared/store/table.ts'
import {
  dueAttributes,
  listDue,
  reschedule,
  SWEEP_GRACE_SECONDS,
  shards,
  unsettledAttributes,
  unsettledPages,
  type WorkItem,
} from '../../shared/store/work-index.ts'
import { bankMove, inSeconds, NOON, pendingDebit, providerId, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)

/** Lists the unsettled debits in pages of two. */
const waiting = async (provider: ProviderId, span: { from: Date; before: Date }) =>
  (await Array.fromAsync(unsettledPages(provider, { ...span, pageSize: 2 }))).flat()

/** The due time of an item that was expected at noon. */
const DUE = inSeconds(SWEEP_GRACE_SECONDS)

const open = async (facts: Partial<Debit['facts']> = {}, at = NOON): Promise<Debit> => {
  const debit = pendingDebit(facts, at)
  await createDebit({ debit, fingerprint: 'text', dailyLimit: undefined }, still())
  return debit
}

/** The sweep follows a debit that is still open. */
const openAndFollowed = async (): Promise<Debit> => {
  const debit = await open()
  await followOpen(debit, () => DUE)
  return debit
}

const move = async (debit: Debit, to: Status, at: Date): Promise<Debit> =>
  granted(await transition(debit, bankMove(to, { at }), still()))

const workOf = async ({ facts }: Debit): Promise<unknown> => {
  const item = await read<Item>(keys.debit(facts.reference))
  return item && { work: item.work, due: item.due }
}

const dueNow = async (now: Date): Promise<WorkItem[]> =>
  (await Promise.all(shards.map((shard) => listDue(shard, now, 1_000)))).flat()

const dueOf = (reference: string) => dueAttributes(keys.debit(reference as Reference), NOON)

/** The look at one debit that is due, if there is one. */
const lookAt = async ({ facts }: Debit, now = DUE): Promise<WorkItem | undefined> => {
  const due = await dueNow(now)
  return due.find(({ key }) => key.pk === keys.debit(facts.reference).pk)
}

test('a shard lists at most the limit, the most overdue first', async () => {
  const { work } = dueOf('DCS-20261121-000000')
  const references = Array.from(
    { length: 500 },
    (_, n) => `DCS-20261121-${String(n + 1).padStart(6, '0')}`,
  )
    .filter((reference) => dueOf(reference).work === work)
    .slice(0, 4)
  for (const [n, reference] of references.entries()) {
    const debit = await open({ reference: reference as Reference }, inSeconds(-900))
    await move(debit, 'failed', inSeconds(-100 * (n + 1)))
  }
  const shard = Number(work.split('#')[1])
  const found = await listDue(shard, NOON, 3)
  const wanted = references
    .slice(1)
    .reverse()
    .map((reference) => `DEBIT#${reference}`)
  expect(found.map(({ key }) => key.pk)).toEqual(wanted)
  expect((await listDue(shard, NOON, 2)).map(({ key }) => key.pk)).toEqual(wanted.slice(0, 2))
})

test('the items spread evenly over 32 shards, whatever their references end with', () => {
  const items = Array.from({ length: 6_400 }, (_, n) =>
    dueOf(`DCS-20261121-${n.toString(36).toUpperCase().padStart(5, '0')}1`),
  )
  const counts = Map.groupBy(items, ({ work }) => work)
  expect([...counts.keys()].sort()).toEqual(shards.map(keys.workShard).sort())
  for (const shard of counts.values()) expect(Math.abs(shard.length - 200)).toBeLessThan(70)
  expect(shards).toHaveLength(32)
})

test('a rescheduled item is due at its new time, and leaves the index without one', async () => {
  const debit = await openAndFollowed()
  const look = (await lookAt(debit)) as WorkItem
  expect(await reschedule(look, inSeconds(600))).toBe(true)
  expect(await reschedule(look, inSeconds(700))).toBe(false)
  expect(await lookAt(debit, inSeconds(599))).toBeUndefined()
  const next = (await lookAt(debit, inSeconds(600))) as WorkItem
  expect(next).toEqual({ ...look, due: inSeconds(600).toISOString() })
  expect(await reschedule(next, undefined)).toBe(true)
  expect(await workOf(debit)).toEqual({ work: undefined, due: undefined })
  expect((await move(debit, 'completed', inSeconds(700))).status).toBe('completed')
  expect(await workOf(debit)).toMatchObject({ work: expect.stringMatching(/^SETTLE#demo#[0-7]$/) })
})

test.each(['completed', 'failed'] as const)('a %s debit is not rescheduled', async (to) => {
  const debit = await openAndFollowed()
  const look = (await lookAt(debit)) as WorkItem
  await move(debit, to, inSeconds(130))
  const work = await workOf(debit)
  for (const due of [undefined, inSeconds(600)]) expect(await reschedule(look, due)).toBe(false)
  expect(await workOf(debit)).toEqual(work)
})

const provider = providerId('settling')
const references: Reference[] = []
beforeAll(async () => {
  // Completed in another order than they were opened in.
  for (const seconds of [40, 10, 30, 20]) {
    const debit = await move(await open({ provider }), 'completed', inSeconds(seconds))
    references.push(debit.facts.reference)
  }
})
const inOrder = () => [1, 3, 2, 0].map((n) => references[n])

test('the debits of a span are listed by their completion, without the end of the span', async () => {
  const within = (from: number, before: number) =>
    waiting(provider, { from: inSeconds(from), before: inSeconds(before) })
  expect(await within(0, 100)).toEqual(inOrder())
  expect(await within(10, 30)).toEqual(inOrder().slice(0, 2))
  expect(await within(10, 30.001)).toEqual(inOrder().slice(0, 3))
  expect(await within(10.001, 30)).toEqual(inOrder().slice(1, 2))
})

test('a span that ends before it begins has no debits', async () => {
  const span = { from: inSeconds(30), before: inSeconds(10) }
  expect(await waiting(provider, span)).toEqual([])
})

test('the unsettled debits of a provider spread evenly over eight keys of the index', () => {
  const works = Array.from({ length: 4_000 }, (_, n) => {
    const reference = `DCS-20261121-${n.toString(36).toUpperCase().padStart(5, '0')}1` as Reference
    return unsettledAttributes({ provider, reference }, NOON).work
  })
  const shards = [...Map.groupBy(works, (work) => work).values()]
  expect(shards).toHaveLength(8)
  for (const shard of shards) expect(Math.abs(shard.length - 500)).toBeLessThan(80)
})

test('a retried refund is due after its retry, so that the sweep leaves it to its message', () => {
  const refund = newRefund(pendingDebit({}, NOON), { origin: 'reversal', reason: 'R', at: NOON })
  const failed = failRefund(refund, { failure: 'No', at: NOON })
  const retriedAt = inSeconds(3_600)
  const { Put } = refundReplacement(failed, retryRefund(failed), retriedAt)
  const key = keys.refund(refund.reference)
  expect(Put?.Item).toMatchObject(dueAttributes(key, retriedAt))
})
