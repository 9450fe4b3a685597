import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Debit } from '../../../shared/domain/debits/debit.ts'
import { checkTransition, type Status, statuses } from '../../../shared/domain/debits/lifecycle.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import type { PagePlace } from '../../../shared/domain/page.ts'
import type { PhoneNumber } from '../../../shared/domain/phone.ts'
import type { ProviderId } from '../../../shared/domain/providers/provider.ts'
import {
  countDebits,
  createdPages,
  createdWithin,
  listByCustomer,
  listDebits,
  sumByCustomer,
} from '../../../shared/store/debits/debit-lists.ts'
import { rethrow } from '../../../shared/store/debits/debits.ts'
import { followOpen } from '../../../shared/store/debits/open-debits.ts'
import { transition } from '../../../shared/store/debits/transitions.ts'
import { putSweepProgress } from '../../../shared/store/sweep-progress.ts'
import {
  bankMove,
  gcb,
  inSeconds,
  pendingDebit,
  providerId,
  still,
} from '../../support/examples.ts'
import { granted } from '../../support/refused.ts'
import { storeDebit } from '../../support/settings.ts'
import { useFreshTable } from '../../support/tables.ts'

beforeAll(useFreshTable)

let created = 0

const newDebit = (status: Status, provider: ProviderId, phone: PhoneNumber): Debit => {
  created += 1
  const at = inSeconds(created)
  const debit = pendingDebit({ provider, phone, amount: pesewas(100) }, at)
  if (status === 'pending') return debit
  const isDirect = checkTransition('pending', status) === 'allowed'
  const next = granted(bankMove(isDirect ? status : 'completed', { at })(debit))
  return isDirect ? next : granted(bankMove(status, { at })(next))
}

type Page = Awaited<ReturnType<typeof listDebits>>

/** Reads all pages by cursor. */
const readAll = async (read: (place: PagePlace) => Promise<Page>): Promise<string[]> => {
  const found: string[] = []
  let before: string | undefined
  for (;;) {
    const { debits, next } = await read({ slice: { skip: 0, limit: 3 }, before })
    found.push(...debits.map(({ facts }) => facts.reference))
    if (next === null) return found
    before = next
  }
}

const drawnStatuses = fc.array(fc.constantFrom(...statuses), { minLength: 1, maxLength: 30 })
const share = fc.double({ min: 0, max: 1, noNaN: true })

test('each list has the debits in its status, newest first, wherever the sweep is', async () => {
  await fc.assert(
    fc.asyncProperty(drawnStatuses, share, share, async (drawn, swept, until) => {
      const provider = providerId(`listed-${created}`)
      const phone = `+2332450${String(created).padStart(6, '0')}` as PhoneNumber
      const debits = drawn.map((status) => newDebit(status, provider, phone))
      const middle = Math.floor(debits.length * swept)
      for (const [index, debit] of debits.entries()) {
        await storeDebit(debit)
        if (index < middle) await followOpen(debit, () => inSeconds(created))
      }
      const reached = debits[middle]?.history[0]?.at ?? inSeconds(created + 1)
      await putSweepProgress({ until: inSeconds(1e9), behind: new Map([[provider, reached]]) })
      const end = Math.floor(debits.length * until)
      // Undefined after the last one.
      const to = debits[end]?.history[0]?.at
      for (const status of [...statuses, undefined]) {
        const matching = (some: readonly Debit[]) =>
          some
            .filter((debit) => status === undefined || debit.status === status)
            .map(({ facts }) => facts.reference)
            .reverse()
        const expected = matching(debits.slice(0, end))
        const filter = { status, to }
        const list = (place: PagePlace) => listDebits(provider, filter, place, rethrow)
        expect(await readAll(list)).toEqual(expected)
        const second = await list({ slice: { skip: 3, limit: 3 } })
        expect(second.debits.map(({ facts }) => facts.reference)).toEqual(expected.slice(3, 6))
        const count = { count: expected.length, isAtLeast: false }
        expect(await countDebits(provider, filter, rethrow)).toEqual(count)
        if (status === 'reversed') continue
        const customer = { bank: gcb.identifier, phone, status: status ?? ('all' as const) }
        const listed = await readAll((place) => listByCustomer(customer, place, rethrow))
        const all = matching(debits)
        expect(listed).toEqual(all)
        const sum = { count: all.length, isAtLeast: false, amount: all.length * 100 }
        expect(await sumByCustomer(customer, rethrow)).toEqual(sum)
      }
    }),
    { numRuns: 40 },
  )
}, 60_000)

test.each([0, 1, 2, 3])('a read misses no debit that moves to `open`: page %s', async (page) => {
  const provider = providerId(`moving-${page}`)
  const phone = '+233245000000' as PhoneNumber
  const debits = [1, 2, 3].map(() => newDebit('processing', provider, phone))
  for (const debit of debits) await storeDebit(debit)
  const from = inSeconds(created - 2)
  await putSweepProgress({ until: from, behind: new Map() })
  const moves = [
    () => Promise.all(debits.map((debit) => followOpen(debit, () => inSeconds(created)))),
    () => Promise.all(debits.map((debit) => transition(debit, bankMove('completed'), still()))),
  ]
  const span = { from, before: inSeconds(created + 1), pageSize: 1 }
  const found: string[] = []
  let pages = 0
  for await (const references of createdWithin(provider, span, new Set())) {
    found.push(...references)
    if (pages >= page) await moves.shift()?.()
    pages += 1
  }
  expect(found.sort()).toEqual(debits.map(({ facts }) => facts.reference).sort())
})

test('the pages after a place have only the later debits', async () => {
  const provider = providerId('continued')
  const span = { from: inSeconds(created), before: inSeconds(created + 5), pageSize: 2 }
  const pagesAfter = (after?: string) =>
    Array.fromAsync(createdPages(provider, { ...span, lists: ['open', 'main'], after }, new Set()))
  expect(await pagesAfter()).toEqual([])
  const debits = [1, 2, 3, 4].map(() =>
    newDebit('completed', provider, '+233245000001' as PhoneNumber),
  )
  for (const debit of debits) await storeDebit(debit)
  const references = debits.map(({ facts }) => facts.reference)
  const pages = await pagesAfter()
  expect(pages.map((page) => page.references)).toEqual([
    references.slice(0, 2),
    references.slice(2),
  ])
  const rests = await Promise.all(pages.map(({ place }) => pagesAfter(place)))
  expect(rests.map((rest) => rest.flatMap((page) => page.references))).toEqual([
    references.slice(2),
    [],
  ])
})
