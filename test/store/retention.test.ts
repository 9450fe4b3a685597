import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test, vi } from 'vitest'
import { sizeOf } from '../../sandbox/aws/table/item-size.ts'
import type { Table } from '../../sandbox/aws/table/table.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { eraseRefund } from '../../shared/domain/debits/erasure.ts'
import type { ReportException } from '../../shared/domain/debits/exception.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import {
  failRefund,
  type Refund,
  retryRefund,
  reversalRefund,
  sendRefund,
} from '../../shared/domain/debits/refund.ts'
import { type Day, dayAfter, dayOf, startOf } from '../../shared/domain/time.ts'
import { spanOf } from '../../shared/ledger/day.ts'
import { entriesWithin } from '../../shared/ledger/facts.ts'
import { resolveExceptions } from '../../shared/operator/resolutions.ts'
import { exceptionWrite } from '../../shared/store/debits/exceptions.ts'
import { keepOpenMatters } from '../../shared/store/debits/open-matters.ts'
import { findRefund, refundCreation, refundReplacement } from '../../shared/store/debits/refunds.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { transact } from '../../shared/store/transactions.ts'
import {
  at,
  attempted,
  charged,
  demo,
  differencesOn,
  exampleDay,
  lateCompletionOf,
  objects,
  putProviders,
  resolveLate,
  settle,
  TODAY,
  transitioned,
} from '../reconciliation/one-day.ts'
import { bankMove, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { useTable } from '../support/tables.ts'

/** The expiry of debits and their records (docs/table.md#retention). */

const YEAR_DAYS = 366
let table: Table
beforeEach(() => {
  process.env.TABLE_NAME = `test-${randomUUID()}`
  objects.clear()
  table = useTable()
  vi.stubEnv('RETAIN_YEARS', '7')
})

type Stored = { pk: string; sk: string; entity?: string }
const items = () => table.items() as unknown as Stored[]
const itemsOf = ({ facts }: Debit) => items().filter(({ pk }) => pk === `DEBIT#${facts.reference}`)
const isOfDebit = ({ pk }: Stored): boolean => pk.startsWith('DEBIT#')

const EDGE = dayAfter(TODAY, 7 * YEAR_DAYS)
const expireAt = (day: Day): void => table.removeExpired(startOf(day).getTime())

test('the debits of a day, their deliveries, refunds and exceptions expire after the years, and the rest stays', async () => {
  const { declined } = await exampleDay()
  await resolveLate(declined, at(TODAY, '15:00:00'))
  const before = items().length
  expireAt(EDGE)
  expect(items().filter(isOfDebit)).not.toEqual([])
  const others = items().filter((item) => !isOfDebit(item))
  expireAt(dayAfter(EDGE, 3))
  const left = new Set(
    items()
      .filter(isOfDebit)
      .map(({ entity }) => entity),
  )
  expect([...left].sort()).toEqual(['delivery', 'exception'])
  expireAt(dayAfter(EDGE, 40))
  expect(items().filter(isOfDebit)).toEqual([])
  const kinds = (some: Stored[]) => some.map(({ pk, sk }) => `${pk} ${sk}`).filter(isLasting)
  expect(kinds(items())).toEqual(kinds(others))
  expect(before).toBeGreaterThan(items().length)
})

/** Day totals and pages of the feed have shorter lives of their own. */
const isLasting = (key: string): boolean => !/ DAY#|^FEED#/.test(key)

test('a stage without the setting keeps its debits for ever', async () => {
  vi.stubEnv('RETAIN_YEARS', undefined)
  await exampleDay()
  const before = items().filter(isOfDebit)
  table.removeExpired(Date.parse('2126-01-01'))
  expect(items().filter(isOfDebit)).toEqual(before.filter(({ entity }) => entity !== 'attempt'))
})

test('a debit that is open, unsettled or reversed without its adjustment has no expiry', async () => {
  await putProviders()
  const open = await charged()
  const unsettled = await transitioned(await charged(), 'completed', at(TODAY, '12:01:00'))
  const settled = await transitioned(await charged(), 'completed', at(TODAY, '12:01:00'))
  const [next, last] = [dayAfter(TODAY), dayAfter(TODAY, 2)]
  await settle(next, demo)
  const debit = (one: Debit) => itemsOf(one).find(({ sk }) => sk === 'DEBIT')
  expect(debit(settled)).toHaveProperty('expiresAt')
  await transitioned(settled, 'reversed', at(next, '09:00:00'))
  const late = await transitioned(await charged(), 'completed', at(next, '12:01:00'))
  for (const one of [open, settled, late]) expect(debit(one)).not.toHaveProperty('expiresAt')
  expect(debit(unsettled)).toHaveProperty('expiresAt')
  await settle(last, demo)
  for (const one of [settled, late]) expect(debit(one)).toHaveProperty('expiresAt')
  expect(debit(open)).not.toHaveProperty('expiresAt')
})

test('a debit with an open exception stays until it is resolved, and a year longer', async () => {
  const { declined, otherFailed } = await exampleDay()
  const nearly = dayAfter(TODAY, 7 * YEAR_DAYS - 200)
  await keepOpenMatters(startOf(dayAfter(TODAY, 5 * YEAR_DAYS)))
  await keepOpenMatters(startOf(nearly))
  expireAt(dayAfter(EDGE, 40))
  expect(itemsOf(otherFailed)).toEqual([])
  const left = itemsOf(declined).map(({ entity }) => entity)
  expect(left.sort()).toEqual(['debit', 'delivery', 'exception'])
  await resolveLate(declined, at(nearly, '10:00:00'))
  await keepOpenMatters(startOf(dayAfter(nearly, 1)))
  expireAt(dayAfter(nearly, 2 * YEAR_DAYS + 1))
  expect(itemsOf(declined).map(({ entity }) => entity)).toEqual(['exception'])
})

test('a debit with a refund that its bank has not made stays', async () => {
  await putProviders()
  const completed = await transitioned(await charged(), 'completed', at(TODAY, '12:01:00'))
  const move = bankMove('reversed', { at: at(TODAY, '18:00:00'), by: 'operator:local:ama' })
  const reversed = granted(await transition(completed, move, still()))
  await transact([refundCreation(reversalRefund(reversed))], still())
  await keepOpenMatters(startOf(dayAfter(TODAY, 7 * YEAR_DAYS - 200)))
  expireAt(dayAfter(EDGE, 40))
  expect(itemsOf(completed).map(({ entity }) => entity)).toContain('debit')
})

/** The bank rejected its refund, and an operator repaid the customer. */
const repaidByHand = async (noted = dayAfter(TODAY, 2)): Promise<Debit> => {
  const completed = await transitioned(await charged(), 'completed', at(TODAY, '12:01:00'))
  await attempted(completed, [204])
  const move = bankMove('reversed', { at: at(TODAY, '18:00:00'), by: 'operator:local:ama' })
  const reversed = granted(await transition(completed, move, still()))
  const rejected = { failure: 'Closed', at: at(dayAfter(TODAY, 2), '18:01:00') }
  const refund = failRefund(sendRefund(reversalRefund(reversed), rejected.at), rejected)
  const exception: ReportException = {
    ...lateCompletionOf(completed, rejected.at),
    ...{ kind: 'refund', by: 'job:refund-customer', status: 'reversed', requestId: refund.uuid },
  }
  await transact([refundCreation(refund), exceptionWrite(exception)], still())
  const resolution = { reference: completed.facts.reference, note: 'Returned' }
  const when = at(noted, '19:00:00')
  const author = { id: `note-${noted}`, at: when, by: 'local:ama' }
  const call = { ...author, noun: 'exception', verb: 'resolve' }
  expect(await resolveExceptions(resolution, call, still({ now: () => when }))).toBe(1)
  return completed
}

test('an erased refund that an operator repaid has its ledger entry, and expires seven years after the note', async () => {
  await putProviders()
  const noted = dayAfter(TODAY, 80)
  const { facts } = await repaidByHand(noted)
  const refund = (await findRefund(facts.reference)) as Refund
  await transact([refundReplacement(refund, eraseRefund(refund))], still())
  expireAt(dayAfter(noted, 7 * YEAR_DAYS))
  const entries = await Array.fromAsync(entriesWithin(spanOf(noted)))
  expect(entries).toMatchObject([{ type: 'repayment', source: { id: refund.uuid } }])
  expireAt(dayAfter(noted, 7 * YEAR_DAYS + 1))
  expect(await findRefund(facts.reference)).toBeUndefined()
})

test('a refund that fails again after a note expires seven years after that failure', async () => {
  await putProviders()
  const { facts } = await repaidByHand()
  const refund = (await findRefund(facts.reference)) as Refund
  const failure = { failure: 'Closed', at: at(dayAfter(TODAY, 80), '18:00:00') }
  const failed = failRefund(sendRefund(retryRefund(refund), failure.at), failure)
  await transact([refundReplacement(refund, failed)], still())
  expireAt(dayAfter(TODAY, 80 + 7 * YEAR_DAYS))
  expect(await findRefund(facts.reference)).toMatchObject({ status: 'failed' })
  expireAt(dayAfter(TODAY, 81 + 7 * YEAR_DAYS))
  expect(await findRefund(facts.reference)).toBeUndefined()
})

test('the reconciliation of each night finds nothing while the debits of a day expire', async () => {
  await exampleDay()
  await repaidByHand()
  const found = async (date: Day, now: Date) => {
    // No bank has paid the batches.
    const differences = (await differencesOn(date, now)).filter(({ number }) => number !== 26)
    expect([date, differences]).toEqual([date, []])
  }
  for (const n of [0, 1, 2]) await found(dayAfter(TODAY, n), at(dayAfter(TODAY, 3), '12:00:00'))
  for (let n = -2; n <= 40; n += 1) {
    const date = dayAfter(EDGE, n)
    await keepOpenMatters(startOf(date))
    expireAt(date)
    await found(date, at(dayAfter(date), '02:00:00'))
  }
})

/** A debit of each end in a year, with its records. */
const yearOf = async (year: number): Promise<void> => {
  const day = dayOf(new Date(Date.UTC(year, 2, 1)))
  const [next, last] = [dayAfter(day), dayAfter(day, 2)]
  const charge = () => charged({ countedOn: day }, at(day, '12:00:00'))
  const ended = async (to: Status) => transitioned(await charge(), to, at(day, '12:01:00'))
  const [completed, reversed] = [await ended('completed'), await ended('completed')]
  for (const one of [completed, reversed]) await attempted(one, [204])
  const declined = await ended('failed')
  await transact([exceptionWrite(lateCompletionOf(declined, at(day, '13:00:00')))], still())
  await resolveLate(declined, at(day, '15:00:00'))
  await settle(next, demo)
  await transitioned(reversed, 'reversed', at(next, '09:00:00'))
  await settle(last, demo)
}

test('the stored bytes of debits are level after the years in a decade', async () => {
  vi.stubEnv('RETAIN_YEARS', '3')
  await putProviders()
  const bytes: number[] = []
  for (let year = 2027; year < 2037; year += 1) {
    await yearOf(year)
    table.removeExpired(Date.UTC(year, 11, 31))
    bytes.push(
      items()
        .filter(isOfDebit)
        .reduce((sum, item) => sum + sizeOf(item), 0),
    )
  }
  expect(bytes[1]).toBeGreaterThan(Number(bytes[0]))
  const level = bytes.slice(3)
  expect(Math.max(...level) - Math.min(...level)).toBeLessThan(0.02 * Number(level[0]))
})
