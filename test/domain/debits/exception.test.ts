import { expect, test } from 'vitest'
import {
  bankReferenceIn,
  type ReportException,
  resolvedIfRepeated,
} from '../../../shared/domain/debits/exception.ts'

const reported = (bank_reference: string, decision: Partial<ReportException> = {}) =>
  ({
    kind: 'late_completion',
    report: JSON.stringify({ status: 'completed', bank_reference, at: decision.resolvedAt }),
    ...decision,
  }) as ReportException

const decided = { note: 'Returned', resolvedBy: 'ama', resolvedAt: '2026-11-22T12:00:00.000Z' }

test.each<[string, ReportException[], boolean]>([
  ['all earlier ones are resolved', [reported('B-1', decided), reported('B-1', decided)], true],
  ['one of them is open', [reported('B-1'), reported('B-1', decided)], false],
  ['another reference is resolved', [reported('B-2', decided)], false],
  ['another kind is resolved', [reported('B-1', { ...decided, kind: 'contradiction' })], false],
  ['an erased one is resolved', [reported('B-1', { ...decided, report: null })], false],
])('a repeated report has the decision of earlier ones: %s', (_, earlier, isResolved) => {
  const { resolvedAt } = resolvedIfRepeated(reported('B-1'), earlier)
  expect(resolvedAt).toBe(isResolved ? decided.resolvedAt : undefined)
})

test.each([
  [null, undefined],
  ['No such account', undefined],
  ['{"status":"failed"}', undefined],
  ['{"bank_reference":"B-1"}', 'B-1'],
])('the report %j has the bank reference %j', (report, expected) => {
  expect(bankReferenceIn(report)).toBe(expected)
})
