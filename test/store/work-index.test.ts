import { beforeAll, expect, test } from 'vitest'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { createDebit } from '../../shared/store/debits/charges.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { keys } from '../../shared/store/keys.ts'
import { type Item, read } from '../../shared/store/table.ts'
import {
  dueAttributes,
  listDue,
  reschedule,
  SWEEP_GRACE_SECONDS,
  shards,
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

const move = async (debit: Debit, to: Status, at: Date): Promise<Debit> =>
  granted(await transition(debit, bankMove(to, { at }), still()))

const workOf = async ({ facts }: Debit): Promise<unknown> => {
  const item = await read<Item>(keys.debit(facts.reference))
  return item && { work: item.work, due: item.due }
}

const dueNow = async (now: Date): Promise<WorkItem[]> =>
  (await Promise.all(shards.map((shard) => listDue(shard, now, 1_000)))).flat()

/** The look at one debit that is due, if there is one. */
const lookAt = async ({ facts }: Debit, now = DUE): Promise<WorkItem | undefined> => {
  const due = await dueNow(now)
  return due.find(({ key }) => key.pk === keys.debit(facts.reference).pk)
}

test('a shard lists at most the limit, the most overdue first', async () => {
  // References with the same last character are in one shard.
  const references = ['A', 'B', 'C', 'D'].map((letter) => `DCS-20261121-${letter}${letter}SAME`)
  for (const [n, reference] of references.entries()) {
    const debit = await open({ reference: reference as Reference }, inSeconds(-900))
    await move(debit, 'failed', inSeconds(-100 * (n + 1)))
  }
  const { work } = dueAttributes('DCS-20261121-AASAME', NOON)
  const shard = Number(work.split('#')[1])
  const found = await listDue(shard, NOON, 3)
  const wanted = ['DDSAME', 'CCSAME', 'BBSAME'].map((end) => `DEBIT#DCS-20261121-${end}`)
  expect(found.map(({ key }) => key.pk)).toEqual(wanted)
  expect((await listDue(shard, NOON, 2)).map(({ key }) => key.pk)).toEqual(wanted.slice(0, 2))
})

test('items spread over all shards', () => {
  const letters = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const items = letters.map((letter) => dueAttributes(`DCS-20261121-00000${letter}`, NOON))
  expect(new Set(items.map(({ work }) => work))).toEqual(new Set(shards.map(keys.workShard)))
  expect(shards).toHaveLength(8)
})

test('a rescheduled item is due at its new time, and leaves the index without one', async () => {
  const debit = await open()
  const look = (await lookAt(debit)) as WorkItem
  expect(await reschedule(look, inSeconds(600))).toBe(true)
  expect(await reschedule(look, inSeconds(700))).toBe(false)
  expect(await lookAt(debit, inSeconds(599))).toBeUndefined()
  const next = (await lookAt(debit, inSeconds(600))) as WorkItem
  expect(next).toEqual({ ...look, due: inSeconds(600).toISOString() })
  expect(await reschedule(next, undefined)).toBe(true)
  expect(await workOf(debit)).toEqual({ work: undefined, due: undefined })
  expect((await move(debit, 'completed', inSeconds(700))).status).toBe('completed')
  expect(await workOf(debit)).toMatchObject({ work: 'SETTLE#demo' })
})

test.each(['completed', 'failed'] as const)('a %s debit is not rescheduled', async (to) => {
  const debit = await open()
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

test('debits of a span are listed by their completion, without the end of the span', async () => {
  const within = (from: number, before: number) =>
    waiting(provider, { from: inSeconds(from), before: inSeconds(before) })
  expect(await within(0, 100)).toEqual(inOrder())
  expect(await within(10, 30)).toEqual(inOrder().slice(0, 2))
  expect(await within(10, 30.001)).toEqual(inOrder().slice(0, 3))
  expect(await within(10.001, 30)).toEqual(inOrder().slice(1, 2))
})
