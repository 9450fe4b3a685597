import { expect, test } from 'vitest'
import type { ExceptionKind, ReportException } from '../../shared/domain/debits/exception.ts'
import {
  completeRefund,
  failRefund,
  newRefund,
  type Refund,
  retryRefund,
} from '../../shared/domain/debits/refund.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type {
  Account,
  EntryType,
  LedgerEntry,
} from '../../shared/domain/settlement/ledger-entry.ts'
import { adjustmentLine } from '../../shared/domain/settlement/line.ts'
import { dayAfter, dayOf, secondsAfter, startOf } from '../../shared/domain/time.ts'
import { caseEntries, feeEntries, fundingEntries } from '../../shared/ledger/entries.ts'
import { mayHaveLines } from '../../shared/ledger/facts.ts'
import { line, sealed } from '../settlement/report/one-batch.ts'
import { NOON, pendingDebit } from '../support/examples.ts'

const debit = pendingDebit({ amount: pesewas(80_00) })
const { provider, bank } = debit.facts
const owed: Account = `provider_payable:${provider}`
const collected: Account = `bank_receivable:${bank.identifier}`

const at = (minutes: number): Date => new Date(NOON.getTime() + minutes * 60_000)

const exception = (fields: Partial<ReportException>): ReportException => ({
  reference: debit.facts.reference,
  kind: 'late_completion',
  at: at(0),
  provider,
  bank: bank.identifier,
  amount: debit.facts.amount,
  by: 'bank:GCB',
  requestId: 'report-1',
  report: '{}',
  ...fields,
})

const refund = (origin: Refund['origin'], minutes = 10): Refund =>
  newRefund(debit, { origin, reason: 'Dispute', at: at(minutes) })

const failed = (open: Refund, minutes = 20) =>
  failRefund(open, { failure: 'No account', at: at(minutes) })

const completed = (open: Refund, minutes = 30) =>
  completeRefund(open, { bankReference: 'B-1', at: at(minutes) })

const failure = ({ uuid }: Refund, fields: Partial<ReportException> = {}) =>
  exception({ kind: 'refund', requestId: uuid, at: at(20), ...fields })

const summaryOf = (entries: readonly LedgerEntry[]) =>
  entries.map((entry) => {
    const minutes = (entry.at.getTime() - NOON.getTime()) / 60_000
    return [minutes, entry.type, entry.debit, entry.credit] as const
  })

const resolvedAt = (minutes: number) => ({ resolvedAt: at(minutes).toISOString(), note: 'By hand' })

type EntrySummary = ReturnType<typeof summaryOf>[number]

const reversed: EntrySummary = [10, 'reversal', owed, 'refunds_payable']
const repaid: EntrySummary = [25, 'repayment', 'refunds_payable', collected]
const refunded: EntrySummary = [30, 'refund', 'refunds_payable', collected]
const late: EntrySummary = [0, 'late_completion', collected, 'exceptions']
const resolved: EntrySummary = [7, 'resolution', 'exceptions', collected]

const rejected = failed(refund('reversal'))
const note = failure(refund('reversal'), resolvedAt(25))

const cases: [name: string, Refund | undefined, ReportException[], entries: EntrySummary[]][] = [
  ['a reversal whose refund is completed', completed(refund('reversal')), [], [reversed, refunded]],
  [
    'a refund that is rejected, retried and completed',
    completed(retryRefund(rejected)),
    [note],
    [reversed, refunded],
  ],
  ['an undecided rejected refund', rejected, [failure(refund('reversal'))], [reversed]],
  ['a rejected refund that an operator repaid by hand', rejected, [note], [reversed, repaid]],
  [
    'a refund that is rejected again after a retry',
    failed(retryRefund(rejected), 40),
    [note, failure(retryRefund(rejected), { at: at(40) })],
    [reversed],
  ],
  [
    'a late completion that is reported twice',
    undefined,
    [exception({ at: at(5) }), exception({})],
    [late],
  ],
  [
    'a late completion that is resolved by a note',
    undefined,
    [exception(resolvedAt(7))],
    [late, resolved],
  ],
  [
    'a late completion whose note has a time before it, by another clock',
    undefined,
    [exception({ at: at(8), ...resolvedAt(7) })],
    [
      [8, 'late_completion', collected, 'exceptions'],
      [8, 'resolution', 'exceptions', collected],
    ],
  ],
  [
    'a late completion whose refund resolves it',
    completed(refund('late_completion')),
    [exception(resolvedAt(11))],
    [late, [10, 'refund_opened', 'exceptions', 'refunds_payable'], refunded],
  ],
  [
    'a late completion that is refunded after a note and a second report',
    refund('late_completion'),
    [exception(resolvedAt(7)), exception({ at: at(8), ...resolvedAt(11) })],
    [late, resolved, [10, 'refund_opened', collected, 'refunds_payable']],
  ],
]

test.each(cases)('the entries are right for %s', (_, refund, exceptions, entries) => {
  expect(summaryOf(caseEntries({ refund, exceptions }))).toEqual(entries)
})

type KindEntries = { open: EntryType[]; noted: EntryType[]; repays: boolean }

/** The entries of an exception that is open or noted, and whether a note ends a failed refund. */
const entriesOfKind: Record<ExceptionKind, KindEntries> = {
  late_completion: {
    open: ['late_completion'],
    noted: ['late_completion', 'resolution'],
    repays: false,
  },
  refused_report: { open: [], noted: [], repays: false },
  contradiction: { open: [], noted: [], repays: false },
  refund: { open: [], noted: [], repays: true },
  reversal_request: { open: [], noted: [], repays: false },
}

test.each(Object.entries(entriesOfKind))(
  'an exception of kind %s has its own entries, and only a note about a refund repays it',
  (kind, expected) => {
    const typesOf = (refund: Refund | undefined, fields: Partial<ReportException>) =>
      caseEntries({ refund, exceptions: [exception({ kind, ...fields })] }).map(({ type }) => type)
    const ofRefund = typesOf(rejected, { requestId: rejected.uuid, ...resolvedAt(25) })
    expect({
      open: typesOf(undefined, {}),
      noted: typesOf(undefined, resolvedAt(7)),
      repays: ofRefund.includes('repayment'),
    }).toEqual(expected)
  },
)

test('a case has no entries for a kind and an origin that only a later version knows', () => {
  const kind = 'later_kind'
  const opened = completed(refund(kind as Refund['origin']))
  const exceptions = [exception({ kind, ...resolvedAt(11) })]
  expect(caseEntries({ refund: opened, exceptions })).toEqual([])
  const items = { refund: rejected, exceptions: [exception({ kind }), note] }
  expect(summaryOf(caseEntries(items))).toEqual([reversed, repaid])
})

test('a retried refund keeps the uuid of its first request as id', () => {
  const first = refund('reversal')
  const [entry] = caseEntries({ refund: retryRefund(failed(first)), exceptions: [] })
  expect(entry?.source).toMatchObject({ id: first.uuid, reference: debit.facts.reference })
})

const adjustment = adjustmentLine(line())

test('a sealed batch earns the fees of its debits less those of its adjustments', () => {
  const settled = line({ fee: pesewas(2_00), net: pesewas(98_00) })
  expect(feeEntries(sealed([settled]), [])).toMatchObject([
    { debit: owed, credit: 'fee_income', amount: 2_00 },
  ])
  expect(feeEntries(sealed([settled, adjustment]), [adjustment])).toMatchObject([
    { debit: owed, credit: 'fee_income', amount: 50 },
  ])
  expect(feeEntries(sealed([adjustment]), [adjustment])).toMatchObject([
    { debit: 'fee_income', credit: owed, amount: 1_50 },
  ])
  expect(feeEntries(sealed([line(), adjustment]), [adjustment])).toEqual([])
})

test('a correction of a remittance is an entry of its own time, but not before the arrival', () => {
  const date = dayAfter(dayOf(NOON))
  const arrived = startOf(date)
  const later = secondsAfter(arrived, 1)
  const correctedAt = (when: Date, amount: number) => ({
    ...{ amount: pesewas(amount), reason: 'Typing error', at: when.toISOString(), by: 'ama' },
  })
  const funding = { bank: bank.identifier, reference: 'R-1', amount: pesewas(10_00), date }
  const entries = fundingEntries({
    ...{ ...funding, recordedAt: NOON, recordedBy: 'ama' },
    corrections: [correctedAt(NOON, 12_00), correctedAt(later, 9_00)],
  })
  expect(entries.map((entry) => [entry.at, entry.debit, entry.amount])).toEqual([
    [arrived, 'cash', 10_00],
    [arrived, 'cash', 2_00],
    [later, collected, 3_00],
  ])
})

const [day, dayBefore] = [dayOf(NOON), dayAfter(dayOf(NOON), -1)]

test.each([
  ['a batch of that day, which has only older lines', { date: day, completedFrom: null }, false],
  ['a later batch without sums', { date: dayAfter(day), completedFrom: null }, true],
  [
    'a later batch with lines since the day before',
    { date: dayAfter(day), completedFrom: dayBefore },
    true,
  ],
  [
    'a batch with later lines only',
    { date: dayAfter(day, 2), completedFrom: dayAfter(day) },
    false,
  ],
])('the ledger of a day reads the lines of %s: %j', (_, { date, completedFrom }, isRead) => {
  const span = { from: startOf(day), before: startOf(dayAfter(day)) }
  expect(mayHaveLines({ ...sealed([]), date, completedFrom }, span)).toBe(isRead)
})

test('the first entry of a refund keeps its id, however often the refund is retried', () => {
  let retried = refund('reversal')
  const ids = [1, 2, 3].map(() => {
    const [opening] = caseEntries({ refund: retried, exceptions: [] })
    retried = retryRefund(failed(retried))
    return opening?.source.id
  })
  const { uuid } = refund('reversal')
  expect(ids).toEqual([uuid, uuid, uuid])
})
