import { expect, test } from 'vitest'
import {
  checkTransition,
  isOpen,
  type Status,
  statuses,
} from '../../../shared/domain/debits/lifecycle.ts'

const checks = `
  from        pending    processing  completed  failed     reversed
  pending     unchanged  allowed     allowed    allowed    refused
  processing  refused    unchanged   allowed    allowed    refused
  completed   refused    refused     unchanged  refused    allowed
  failed      refused    refused     refused    unchanged  refused
  reversed    refused    refused     refused    refused    unchanged
`

const [head = [], ...rows] = checks
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))

test('every pair of statuses has its published result', () => {
  const actual = rows.map(([from]) => [
    from,
    ...head.slice(1).map((to) => checkTransition(from as Status, to as Status)),
  ])
  expect(actual).toEqual(rows)
  expect(rows.map(([from]) => from).sort()).toEqual([...statuses].sort())
})

test('timeouts apply to pending and processing debits only', () => {
  expect(statuses.filter(isOpen)).toEqual(['pending', 'processing'])
})
