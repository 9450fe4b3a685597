import { expect, test } from 'vitest'
import {
  checkTransition,
  isOpen,
  type Status,
  statuses,
} from '../../../shared/domain/debits/lifecycle.ts'

const verdicts = `
  from        pending  processing  completed  failed  reversed
  pending     same     move        move       move    refuse
  processing  refuse   same        move       move    refuse
  completed   refuse   refuse      same       refuse  move
  failed      refuse   refuse      refuse     same    refuse
  reversed    refuse   refuse      refuse     refuse  same
`

const [head = [], ...rows] = verdicts
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))

test('every pair of statuses has one published verdict', () => {
  const judged = rows.map(([from]) => [
    from,
    ...head.slice(1).map((to) => checkTransition(from as Status, to as Status)),
  ])
  expect(judged).toEqual(rows)
  expect(rows.map(([from]) => from).sort()).toEqual([...statuses].sort())
})

test('the clocks run for pending and processing alone', () => {
  expect(statuses.filter(isOpen)).toEqual(['pending', 'processing'])
})
