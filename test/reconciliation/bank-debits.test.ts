import { beforeAll, expect, test } from 'vitest'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type {
  BankDebitsCursor,
  BankDebitsPage,
  Movement,
  OutgoingPage,
} from '../../shared/domain/banks/statement.ts'
import { eraseRefund } from '../../shared/domain/debits/erasure.ts'
import type { ReportException } from '../../shared/domain/debits/exception.ts'
import {
  completeRefund,
  newRefund,
  type Refund,
  unsentRefunds,
} from '../../shared/domain/debits/refund.ts'
import type { BatchId } from '../../shared/domain/ids.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { type Day, iso } from '../../shared/domain/time.ts'
import { readBankDebits, readByUuid } from '../../shared/reconciliation/bank-debits.ts'
import { readOutgoing } from '../../shared/reconciliation/bank-outgoing.ts'
import { completeBatch } from '../../shared/settlement/complete.ts'
import { payBatch, retryBatch } from '../../shared/settlement/pay.ts'
import { findExceptions, resolutionWrite } from '../../shared/store/debits/exceptions.ts'
import { followOpen } from '../../shared/store/debits/open-debits.ts'
import { recordRefundFailure } from '../../shared/store/debits/refund-failures.ts'
import { findRefund, refundCreation, refundReplacement } from '../../shared/store/debits/refunds.ts'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { transact } from '../../shared/store/transactions.ts'
import { fakeBank, type PayoutBehaviour } from '../settlement/fake-bank.ts'
import {
  at,
  builtBatch,
  completedDebit,
  completedDebits,
  dayAt,
  newProvider,
  openedDebit,
  reverse,
  runtimeAt,
  updateProvider,
} from '../settlement/one-provider.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { gcb, pendingDebit, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { storeBank } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)
useReportShelf()

const bank = 'GCB' as BankIdentifier

const readAll = async (date = dayAt(0), examinedMax?: number) => {
  const debits: Movement[] = []
  let pages = 0
  let cursor: BankDebitsCursor | null = null
  do {
    const options = examinedMax ? { examinedMax } : {}
    const page: BankDebitsPage | undefined = await readBankDebits({ bank, date, cursor }, options)
    if (!page) throw new Error('The list of the cursor is missing')
    debits.push(...page.debits)
    cursor = page.next
    pages += 1
  } while (cursor)
  return { debits, pages }
}

// The debits of these tests are older than the sweep's progress.
beforeAll(() => putSweepProgress({ until: at('23:59:00', 9), behind: new Map() }))

test('each page continues the previous one, over statuses and providers', async () => {
  const [first, second] = [await newProvider(), await newProvider()]
  const done = [
    ...(await completedDebits(first, Array(230).fill(10_00), at('09:00:00'))),
    ...(await completedDebits(second, Array(20).fill(10_00), at('09:00:00'))),
  ]
  const open = await openedDebit(second, 10_00)
  await followOpen(open, () => at('12:10:00'))
  const uuids = [...done, open].map(({ facts }) => facts.uuid).sort()
  const { debits, pages } = await readAll(dayAt(0), 100)
  expect(debits.map(({ uuid }) => uuid).sort()).toEqual(uuids)
  expect(pages).toBeGreaterThan(2)
  expect((await readAll()).pages).toBe(1)
  // Outside the day and the three days before.
  expect((await readAll(dayAt(-2))).debits).toEqual([])
  expect((await readAll(dayAt(5))).debits).toEqual([])
})

test('a uuid names a debit of any day, and is absent if no debit or that of another bank has it', async () => {
  const { reference, uuid } = (await completedDebit(await newProvider(), 10_00, at('09:00:00', 3)))
    .facts
  const lost = pendingDebit().facts.uuid
  const read = (of: string) => readByUuid(of as BankIdentifier, [uuid, lost])
  const { debits, absent } = await read(bank)
  expect(debits).toMatchObject([{ reference, uuid, status: 'completed', amount: '10.00' }])
  expect(absent).toEqual([lost])
  expect(await read('ECO')).toEqual({ debits: [], next: null, absent: [uuid, lost] })
})

/** Returns the references of each page: of payouts one, of refunds those of a page of the index. */
const pagesOf = async (kind: 'refund' | 'payout', date: Day) => {
  const pages: string[][] = []
  for (let after: string | null = ''; after !== null && pages.length < 9; ) {
    const page: OutgoingPage = await readOutgoing(kind, { bank, date, after }, { pageSize: 1 })
    pages.push(page.outgoing.map(({ reference }) => reference))
    after = page.next
  }
  return pages
}

test('a page of refunds begins at the time of the last one of the page before, and the due ones are on the first', async () => {
  const provider = await newProvider()
  const refundOf = async (milliseconds?: number) => {
    const debit = await openedDebit(provider, 10_00)
    const cause = { origin: 'late_completion', reason: 'Late', at: at('09:00:00', 30) } as const
    const end = {
      bankReference: 'B-1',
      at: new Date(at('10:00:00', 30).getTime() + Number(milliseconds)),
    }
    const due = newRefund(debit, cause)
    const refund = milliseconds === undefined ? due : completeRefund(due, end)
    await transact([refundCreation(refund)], still())
    return refund.reference
  }
  // Each page of the index has a hundred; two of different pages have equal times.
  const done = await Promise.all(Array.from({ length: 250 }, (_, n) => refundOf(n + (n % 2))))
  const due = await refundOf()
  const pages = await pagesOf('refund', dayAt(30))
  expect(pages.map((page) => page.length)).toEqual([101, 100, 53, 1])
  expect(pages.flat().filter((reference) => reference === due)).toHaveLength(1)
  expect(new Set(pages.flat())).toEqual(new Set([due, ...done]))
  // A bank can make it weeks later.
  expect(await pagesOf('refund', dayAt(60))).toEqual([[due]])
})

test('a page of payouts continues with the next provider', async () => {
  const ids: BatchId[] = []
  for (const account of ['1041001001', '1041001002', '1041001003']) {
    const provider = await newProvider({ account })
    await completedDebit(provider, 10_00, at('09:00:00', 20))
    const { id } = await builtBatch(provider, 21)
    const runtime = runtimeAt('00:00:01', 22)
    granted(await payBatch(id, { runtime, connectors: fakeBank().connectors }))
    ids.push(id)
  }
  expect(await pagesOf('payout', dayAt(22))).toEqual([...ids.map((id) => [id]), []])
})

test('a payout in progress is compared with the statement of each later day', async () => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebit(provider, 10_00, at('09:00:00'))
  const { id } = await builtBatch(provider)
  const { connectors, behaviours } = fakeBank()
  behaviours.push('pay later')
  await payBatch(id, { runtime: runtimeAt('00:00:01', 2), connectors })
  const { outgoing } = await readOutgoing('payout', { bank, date: dayAt(9), after: '' })
  const movement = { reference: id, status: 'processing', amount: '10.00', completed_at: null }
  expect(outgoing).toMatchObject([movement])
})

/** Rejects the payout of a batch once; `prepare` precedes its retry, which has this behaviour. */
const retriedPayout = async (behaviour: PayoutBehaviour, prepare = async (_: ProviderId) => {}) => {
  const provider = await newProvider({ account: '1041001001' })
  await completedDebit(provider, 10_00, at('09:00:00'))
  const { id, uuid } = await builtBatch(provider)
  const { connectors, behaviours } = fakeBank()
  behaviours.push('reject', behaviour)
  const deps = { runtime: runtimeAt('00:00:01', 2), connectors }
  await payBatch(id, deps)
  await prepare(provider)
  await retryBatch(id, () => [], deps)
  return { id, uuid }
}

const payoutsOf = async (id: BatchId, at = bank) => {
  const { outgoing } = await readOutgoing('payout', { bank: at, date: dayAt(3), after: '' })
  return outgoing.filter(({ reference }) => reference === id)
}

test('a payout that an operator records has the uuids of its rejected attempts', async () => {
  const { id, uuid } = await retriedPayout('reject')
  await completeBatch(id, { bankReference: 'B-1', bank }, () => [], runtimeAt('09:00:00', 3))
  const [begun_at, completed_at] = [at('00:00:01', 1), at('09:00:00', 3)].map(iso)
  const times = { begun_at, completed_at }
  expect(await payoutsOf(id)).toMatchObject([{ status: 'completed', earlier: [uuid], ...times }])
})

test('a payout that another bank made is failed at the bank that rejected it', async () => {
  const eco = 'ECO' as BankIdentifier
  const { id, uuid } = await retriedPayout('pay', async (provider) => {
    await storeBank({ ...gcb, identifier: eco })
    const account = { bank: eco, accountNumber: '1041001002', accountName: 'Settled' }
    await updateProvider(provider, { settlementAccount: account })
  })
  const rejected = { uuid, amount: '10.00', status: 'failed', completed_at: null }
  expect(await payoutsOf(id)).toMatchObject([rejected])
  expect(await payoutsOf(id, eco)).toMatchObject([{ status: 'completed', earlier: [] }])
})

test('a failed refund that its bank has made matches from its note on, also after an erasure', async () => {
  const debit = await completedDebit(await newProvider(), 10_00, at('09:00:00'))
  const { reference } = debit.facts
  await reverse(reference, at('10:00:00'))
  const refund = (await findRefund(reference)) as Refund
  const unsent = { failure: unsentRefunds.paid, by: 'job:refund-customer' }
  const failed = (await recordRefundFailure(refund, unsent, [], still())) as Refund
  const [exception] = (await findExceptions(reference)) as [ReportException]
  const resolvedAt = iso(at('11:00:00'))
  const resolution = { note: 'By GCB', resolvedBy: 'local:ama', resolvedAt }
  const erasure = refundReplacement(failed, eraseRefund(failed))
  await transact([resolutionWrite(exception, resolution), erasure], still())
  const { outgoing } = await readOutgoing('refund', { bank, date: dayAt(0), after: '' })
  expect(outgoing).toMatchObject([{ reference, status: 'failed', completed_at: resolvedAt }])
})
