import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test, vi } from 'vitest'
import { functionRows } from '../../infra/definitions/functions.ts'
import type { Table as MemoryTable } from '../../sandbox/aws/table/table.ts'
import { recordRejection } from '../../shared/banks/rejected-report.ts'
import type { CustomerAccount } from '../../shared/domain/banks/bank.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { dayAfter, secondsAfter } from '../../shared/domain/time.ts'
import { type Delivery, newDelivery, recordAttempt } from '../../shared/domain/webhooks/delivery.ts'
import { entriesWithin } from '../../shared/ledger/facts.ts'
import { debitsOf } from '../../shared/operator/customer-debits.ts'
import { eraseCustomer } from '../../shared/operator/customer-erasure.ts'
import { putAccount } from '../../shared/store/banks/banks.ts'
import type { WholeDebit } from '../../shared/store/debits/erasure.ts'
import { findExceptions } from '../../shared/store/debits/exceptions.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { listDeliveries, replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { sweepErasure, WORKERS_SECONDS } from '../../shared/sweep/erasure.ts'
import { debitEvent } from '../../shared/views/webhook-payload.ts'
import {
  at,
  DAY_AFTER,
  differencesOn,
  exampleDay,
  objects,
  resolveLate,
  TODAY,
  TOMORROW,
} from '../reconciliation/one-day.ts'
import { gcb, pendingDebit, still } from '../support/examples.ts'
import { granted, refused } from '../support/refused.ts'
import { storeDebit } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useTable } from '../support/tables.ts'

/** An erasure that ends after any of its writes. */

const PHONE = '+233241234567' as PhoneNumber
const NAME = 'CanaryCrashedZq'
const NOW = at(DAY_AFTER, '12:00:00')
const runtime = still({ now: () => NOW })

let memory: MemoryTable
beforeEach(async () => {
  vi.stubEnv('SEALING_KEY', 'a key of this test')
  process.env.TABLE_NAME = `test-${randomUUID()}`
  objects.clear()
  memory = useTable()
  const { declined } = await exampleDay()
  const account: CustomerAccount = {
    customerName: NAME,
    accountNumber: '1041001001',
    accountType: 'mobile_money',
    status: 'active',
  }
  await putAccount(PHONE, gcb.identifier, account, noWrites, still())
  await resolveLate(declined, at(TODAY, '15:00:00'))
})

const erase = (clock: { now: () => Date } = runtime) => {
  const author = { id: randomUUID(), at: NOW, by: 'local:ama', noun: 'customer', verb: 'erase' }
  return eraseCustomer({ phone: PHONE, reason: 'Request 1' }, author, { ...runtime, ...clock })
}

const isWrite = (name: string): boolean => /^(?:Put|Update|Delete|TransactWrite)$/.test(name)

/** Erases with a worker that ends after some writes. @returns whether it ended early */
const eraseUntil = async (writes: number): Promise<boolean> => {
  let count = 0
  const restore = aroundTableCalls((name, next) => {
    count += Number(isWrite(name))
    return count > writes ? Promise.reject(new Error('The worker has ended')) : next()
  })
  try {
    expect(await erase()).not.toBeInstanceOf(Refusal)
    return false
  } catch (error) {
    expect(String(error)).toContain('The worker has ended')
    return true
  } finally {
    restore()
  }
}

type Stored = { pk: string; sk: string; due?: string }
const items = () => memory.items() as unknown as Stored[]
const pages = () => items().filter(({ pk }) => pk.startsWith('ERASURE#'))
/** Returns the items with a text or number of the customer, or with a hash of their request. */
const found = () =>
  items().filter((item) => /233241234567|CanaryCrashedZq|"request":/.test(JSON.stringify(item)))

/** Looks at each debit twice, after the workers that were in flight. */
const sweep = async (): Promise<void> => {
  for (const look of [1, 2]) {
    const now = () => secondsAfter(NOW, look * WORKERS_SECONDS)
    for (const { pk, sk, due = '' } of pages())
      await sweepErasure({ key: { pk, sk }, due, about: undefined }, still({ now }))
  }
}

const journal = async (): Promise<string> => {
  const span = { from: new Date(0), before: at(DAY_AFTER, '23:00:00') }
  return JSON.stringify(await Array.fromAsync(entriesWithin(span)))
}

/** An example of two accounts, six debits, their exceptions and refunds. */
const WRITES = Array.from({ length: 18 }, (_, n) => n)

test.each(WRITES)(
  'an erasure whose worker ends after %d writes is completed by the sweep, or by a repeated call',
  async (writes) => {
    const before = await journal()
    const hasEnded = await eraseUntil(writes)
    if (writes === WRITES.length - 1) expect(hasEnded).toBe(false)
    // The accounts go first: only a call that ended before its record leaves them.
    if (hasEnded && pages().length === 0) expect(await erase()).toMatchObject({ later: 0 })
    await sweep()
    expect(found()).toEqual([])
    expect(pages()).toEqual([])
    expect(await journal()).toBe(before)
    expect(await differencesOn(TODAY)).toEqual([])
  },
)

test('an erasure whose time is up leaves the other debits to the sweep', async () => {
  // Each look at the clock is eleven seconds later than the one before.
  let looks = 0
  const now = () => new Date(NOW.getTime() + 11_000 * looks++)
  const { erased, later } = granted(await erase({ now }))
  expect(later).toBeGreaterThan(0)
  expect(erased + later).toBe(6)
  expect(found()).not.toEqual([])
  const [page] = pages()
  // After this call, which can still be at work.
  expect(Date.parse(page?.due ?? '')).toBeGreaterThan(NOW.getTime() + 30_000)
  await sweep()
  expect([found(), pages()]).toEqual([[], []])
})

test('an erasure of younger debits names the day on which the last one is erased', async () => {
  vi.stubEnv('ERASE_AFTER_DAYS', '10')
  expect(granted(await erase())).toEqual({ erased: 0, later: 6, last_on: dayAfter(TOMORROW, 10) })
})

test('the refusal of an erasure names ten of the open debits, and counts the others', async () => {
  for (let n = 0; n < 12; n += 1) await storeDebit(pendingDebit())
  const { code, details } = refused(await erase())
  expect(code).toBe('409/1409')
  expect(details).toMatch(/^(?:DCS-\S+ is pending; ){10}2 others$/)
})

/** Does some work after an erasure has read the debits, before it writes about them. */
const beforeErasures = (work: () => Promise<unknown>): void => {
  const restore = aroundTableCalls(async (_, next, command) => {
    if (command().includes('"pk":"ERASURE#')) {
      restore()
      await work()
    }
    return next()
  })
}

const answered = async (debit: Debit, previous: Delivery | undefined): Promise<void> => {
  const timing = { id: 'dlv_1', at: NOW, milliseconds: 5, address: '127.0.0.1', sentAs: 'x' }
  const response = { kind: 'answered', code: 500, body: NAME } as const
  const delivery = previous ?? newDelivery(debitEvent(debit, 0), {})
  await replaceDelivery(previous, recordAttempt(delivery, response, timing, 0))
}

const reportedLate = ({ debit }: WholeDebit): Promise<void> =>
  recordRejection(debit, {
    kind: 'late_completion',
    refusal: new Refusal(3001, { details: NAME }),
    report: JSON.stringify({ status: 'completed', bank_reference: 'B-9', metadata: { x: NAME } }),
    cause: { at: NOW, by: 'bank:GCB', requestId: randomUUID() },
    status: 'failed',
  })

test('an erasure also removes what workers write about a debit after it was read, but no later note', async () => {
  const all = await debitsOf(PHONE)
  const [{ debit }] = all as [WholeDebit]
  const failed = all.find((one) => one.debit.status === 'failed') as WholeDebit
  let read: Delivery | undefined
  beforeErasures(async () => {
    await reportedLate(failed)
    await answered(debit, undefined)
    read = (await listDeliveries(debit.facts.reference))[0]
  })
  expect(await erase()).toMatchObject({ erased: 6, later: 0 })
  expect(found()).toEqual([])
  await reportedLate(failed)
  await answered(debit, read)
  expect(found()).toHaveLength(3)
  await resolveLate(failed.debit, secondsAfter(NOW, 60))
  await sweep()
  expect([found(), pages()]).toEqual([[], []])
  const [late] = (await findExceptions(failed.debit.facts.reference)).slice(-1)
  const report = JSON.stringify({ status: 'completed', bank_reference: 'B-9' })
  expect(late).toMatchObject({ kind: 'late_completion', report, note: 'Returned' })
})

test('the last look at an erased debit follows the end of each function that writes texts', () => {
  const writers = functionRows.filter(({ name }) => /webhook|report|refund-customer/.test(name))
  expect(writers.length).toBeGreaterThan(3)
  for (const { timeoutSeconds } of writers) expect(timeoutSeconds).toBeLessThan(WORKERS_SECONDS)
})
