import { beforeEach, expect, test } from 'vitest'
import { manageReconciliation } from '../../functions/operator/manage-reconciliation.ts'
import { statementGroups } from '../../shared/domain/banks/statement.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { type AskStatement, compareFile } from '../../shared/operator/statement-file.ts'
import { closeDay } from '../../shared/reconciliation/close-day.ts'
import { listStatements } from '../../shared/store/banks/statements.ts'
import { putSweepProgress } from '../../shared/store/sweep-progress.ts'
import { dayView } from '../../shared/views/operator/day.ts'
import {
  at,
  complete,
  completedDebit,
  dayAt,
  newProvider,
  openedDebit,
  reverse,
  runtimeAt,
} from '../settlement/one-provider.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { useFreshTable } from '../support/tables.ts'

/** Statements of adjacent days: a bank books before midnight what it reports after it. */

useReportShelf()
beforeEach(useFreshTable)
// The debits of these tests are older than the sweep's progress.
beforeEach(() => putSweepProgress({ until: at('23:59:00', 9), behind: new Map() }))

/**
 * Compares a statement with rows of debits.
 * @param beforeEnd is done before the result is stored, a minute after the first call
 * @returns the counts of its groups
 */
const compare = async (
  day: number,
  debits: readonly Debit[],
  { amount = '100.00', beforeEnd = async (): Promise<unknown> => undefined } = {},
) => {
  const ask: AskStatement = async (request) => {
    const isLast = 'result' in request
    if (isLast) await beforeEnd()
    const manage = manageReconciliation(runtimeAt(isLast ? '05:01:00' : '05:00:00', 5))
    const options = { bank: 'GCB', date: dayAt(day), statement: JSON.stringify(request) }
    const reply = await manage({ verb: 'statement', options } as never)
    if ('error' in reply) throw new Error(reply.error)
    return reply.result as never
  }
  const rows = debits.map(({ facts }) => `${facts.uuid},${amount},GHS,${dayAt(day)}`)
  const file = [Buffer.from(['uuid,amount,currency,completed_at', ...rows, ''].join('\n'))]
  const { report } = await compareFile({ file, date: dayAt(day) }, ask)
  return statementGroups.map((name) => report[name].count).join(' ')
}

test('the time of a comparison is that of its first page, and never one that is still to come', async () => {
  const date = dayAt(0)
  const ask = async (request: object) => {
    const options = { bank: 'GCB', date, statement: JSON.stringify(request) }
    const reply = await manageReconciliation(runtimeAt('05:01:00', 5))({
      ...{ verb: 'statement', options },
    } as never)
    return (reply as { result: object }).result
  }
  const provider = await newProvider()
  expect(await ask({ cursor: null })).toHaveProperty('read_at', at('05:01:00', 5).toISOString())
  const cursor = { provider, list: 'open', after: null }
  expect(await ask({ cursor })).not.toHaveProperty('read_at')
  const none = { matched: 0, missing_here: 0, missing_at_bank: 0, differs: 0 }
  const names = { missing_here: [], missing_at_bank: [], differs: [] }
  const result = { covers: [], digest: '0'.repeat(64), counts: none, names }
  for (const [named, stored] of [
    ['05:00:00', '05:00:00'],
    ['05:02:00', '05:01:00'],
  ] as const) {
    await ask({ result: { ...result, read_at: at(named, 5) } })
    expect((await listStatements(date))[0]?.at).toEqual(at(stored, 5))
  }
})

const reasonsOf = async (day: number) => {
  const { open, banks } = dayView(await closeDay(dayAt(day), at('06:00:00', 5)))
  return [banks[0]?.statement, ...open.map(({ reason }) => reason)]
}

/** Charged on day 0, and reported on a later day. */
const crossing = async (day = 1) =>
  complete(await openedDebit(await newProvider(), 100_00), at('00:00:01', day))

const [MATCHED, MISSING_AT_BANK, DIFFERS] = ['1 0 0 0', '0 0 1 0', '0 0 0 1']
const NONE = '0 0 0 0'
const EARLY = 'the statement was compared before that of an earlier day: compare it again'

test('a debit that its bank booked before midnight and reported after it leaves both days clean', async () => {
  const debit = await crossing()
  expect([await compare(0, [debit]), await compare(1, [])]).toEqual([MATCHED, NONE])
  expect([await reasonsOf(0), await reasonsOf(1)]).toEqual([['agrees'], ['agrees']])
})

test('a debit that its bank books on the day of its report matches on that day alone', async () => {
  const debit = await crossing()
  expect([await compare(0, []), await compare(1, [debit])]).toEqual([NONE, MATCHED])
})

test('a debit without a row on either day is missing at the bank on the day of its completion', async () => {
  await crossing()
  expect([await compare(0, []), await compare(1, [])]).toEqual([NONE, MISSING_AT_BANK])
})

test('a day that was compared before an earlier one is open until it is compared again', async () => {
  const debit = await crossing()
  expect([await compare(1, []), await compare(0, [debit])]).toEqual([MISSING_AT_BANK, MATCHED])
  expect((await reasonsOf(1)).slice(0, 2)).toEqual(['early', EARLY])
  expect(await compare(1, [])).toBe(NONE)
  expect(await reasonsOf(1)).toEqual(['agrees'])
  // The same rows again do not open the later day.
  expect([await compare(0, [debit]), await reasonsOf(1)]).toEqual([MATCHED, ['agrees']])
  // A corrected file does.
  expect([await compare(0, []), await reasonsOf(1)]).toEqual([NONE, ['early', EARLY]])
  expect(await compare(1, [])).toBe(MISSING_AT_BANK)
})

test('a debit with a row on both days differs on the second, in any order', async () => {
  const debit = await crossing()
  expect([await compare(0, [debit]), await compare(1, [debit])]).toEqual([MATCHED, DIFFERS])
  const again = await crossing()
  expect(await compare(1, [debit, again])).toBe('1 0 0 1')
  expect(await compare(0, [debit, again])).toBe('2 0 0 0')
  expect((await reasonsOf(1)).slice(0, 2)).toEqual(['early', EARLY])
  expect(await compare(1, [debit, again])).toBe('0 0 0 2')
})

test('a row with another amount names its debit on both days', async () => {
  const debit = await crossing()
  expect([await compare(0, [debit], { amount: '90.00' }), await compare(1, [])]).toEqual([
    DIFFERS,
    NONE,
  ])
})

test('a row matches at most three days before the completion, and never before the charge', async () => {
  const [debit, late] = [await crossing(3), await crossing(4)]
  expect(await compare(-1, [debit])).toBe(DIFFERS)
  expect(await compare(0, [debit, late])).toBe('1 0 0 1')
  expect(await compare(2, [debit])).toBe(DIFFERS)
  expect([await compare(3, []), await compare(4, [])]).toEqual([NONE, NONE])
})

test('a debit that is reversed without a refund during the comparison leaves its day open', async () => {
  const debit = await completedDebit(await newProvider(), 100_00, at('09:00:00'))
  const { reference } = debit.facts
  const beforeEnd = () => reverse(reference, at('05:00:30', 5), { refund: 'none' })
  expect(await compare(0, [debit], { beforeEnd })).toBe(MATCHED)
  const reason = `the statement was compared before ${reference} was reversed without a refund`
  expect(await reasonsOf(0)).toEqual(['early', reason])
})

test('a debit of one day has no row on the next', async () => {
  const debit = await completedDebit(await newProvider(), 100_00, at('23:59:59'))
  expect([await compare(0, [debit]), await compare(1, [debit])]).toEqual([MATCHED, DIFFERS])
  expect(await compare(1, [])).toBe(NONE)
})
