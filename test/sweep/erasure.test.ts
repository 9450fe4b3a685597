import { beforeEach, expect, test, vi } from 'vitest'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { DAY_SECONDS, secondsAfter } from '../../shared/domain/time.ts'
import { eraseCustomer } from '../../shared/operator/customer-erasure.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { findLaterErasure, putLaterErasures } from '../../shared/store/debits/later-erasures.ts'
import { keys } from '../../shared/store/keys.ts'
import { type Item, put, read } from '../../shared/store/table.ts'
import { listDue, shards } from '../../shared/store/work-index.ts'
import { sweepErasure, WORKERS_SECONDS } from '../../shared/sweep/erasure.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { bankMove, gcb, inSeconds, pendingDebit, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { storeBank, storeDebit } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'

/** Debits that the sweep erases on their days (docs/compliance.md#personal-data). */

useReportShelf()
beforeEach(async () => {
  vi.stubEnv('ERASE_AFTER_DAYS', '10')
  await useFreshTable()
})

const inDays = (days: number): Date => inSeconds(days * DAY_SECONDS)

const failedOn = async (day: number): Promise<Debit> => {
  const debit = granted(bankMove('failed', { at: inDays(day) })(pendingDebit({}, inDays(day))))
  await storeDebit(debit)
  return debit
}

/** Stores a page that is due on day 10. */
const putPage = (references: readonly Reference[]) =>
  putLaterErasures({ customer: 'hash', call: 'call', references }, inDays(10), still())

const due = async (now: Date) =>
  (await Promise.all(shards.map((shard) => listDue(shard, now, 10)))).flat()

test('a debit that another writer changes during its erasure keeps its claim until the next sweep erases it', async () => {
  const debit = await failedOn(0)
  const { reference, provider, partnerReference } = debit.facts
  const claim = keys.partnerReference(provider, partnerReference)
  await put(claim, 'claim', { reference, request: 'hash' })
  await putPage([reference])
  let change: Promise<unknown> | undefined
  for (const [seconds, open, request] of [
    [0, 1, 'hash'],
    [0, 1, undefined],
    [WORKERS_SECONDS, 0, undefined],
  ] as const) {
    const at = secondsAfter(inDays(10), seconds)
    const now = () => {
      change ??= storeDebit({ ...debit, version: debit.version + 1 })
      return at
    }
    const [item] = await due(at)
    if (!item) throw new Error('No page is due')
    await sweepErasure(item, still({ now }))
    await change
    expect((await read<Item>(claim))?.request).toBe(request)
    expect(await findLaterErasure(item.key)).toHaveLength(open)
  }
  expect((await findDebit(reference))?.facts.phone).toBeNull()
})

test('each debit of a page is erased on its day and leaves the page at the next look, and one that is gone leaves it at once', async () => {
  const debits = [await failedOn(0), await failedOn(5), await failedOn(2)]
  const references = debits.map(({ facts }) => facts.reference)
  const { reference: gone } = pendingDebit().facts
  await putPage([gone, ...references])
  const erased = async () => {
    const debits = await Promise.all(references.map(findDebit))
    return debits.filter((debit) => debit?.facts.phone === null).length
  }
  for (const [day, open, count] of [
    [10, 3, 1],
    [12, 2, 2],
    [15, 1, 3],
    [16, 0, 3],
  ] as const) {
    const [item, ...others] = await due(inDays(day))
    if (!item || others.length > 0) throw new Error(`Not one page is due on day ${day}`)
    await sweepErasure(item, still({ now: () => inDays(day) }))
    expect(await findLaterErasure(item.key)).toHaveLength(open)
    expect(await erased()).toBe(count)
  }
})

test('a lower age reaches erasures that were requested before', async () => {
  const debit = await failedOn(0)
  const { reference } = debit.facts
  await putPage([reference])
  vi.stubEnv('ERASE_AFTER_DAYS', '2')
  const [item] = await due(inDays(8))
  if (!item) throw new Error('No page is due')
  await sweepErasure(item, still({ now: () => inDays(8) }))
  expect((await findDebit(reference))?.facts.phone).toBeNull()
})

test.each([
  ['at the time from which its debit may be erased erases it', 0, { erased: 1, later: 0 }],
  ['a millisecond earlier leaves it to the sweep', -0.001, { erased: 0, later: 1 }],
])('a call %s', async (_, seconds, expected) => {
  vi.stubEnv('SEALING_KEY', 'a key of this test')
  await storeBank(gcb)
  const phone = (await failedOn(0)).facts.phone as PhoneNumber
  const at = secondsAfter(inDays(10), seconds)
  const author = { id: 'call', at, by: 'local:ama', noun: 'customer', verb: 'erase' }
  const erasing = eraseCustomer({ phone, reason: 'Request' }, author, still({ now: () => at }))
  expect(granted(await erasing)).toMatchObject(expected)
})
