import { expect, test } from 'vitest'
import type { ShownEvent } from '../../cli/listener/event.ts'
import { newSequenceTracker } from '../../cli/listener/sequence-tracker.ts'

/** What the listener notes about the order of events. */

const event = (id: number, sequence: number): ShownEvent => ({
  event: 'transaction.x',
  eventId: `evt_${id}`,
  reference: 'DCS-20250102-00000A',
  status: 'x',
  amount: '100.00 GHS',
  sequence,
})

test('an event that follows a later one is noted, and one that comes again is counted', () => {
  const journal = newSequenceTracker()
  expect(journal(event(1988055307469803, 3))).toEqual({ attempt: 1, notes: [] })
  expect(journal(event(1988055307469802, 2)).notes).toEqual([
    'out of order: sequence 3 arrived first',
  ])
  expect(journal(event(1988055307469803, 3))).toEqual({ attempt: 2, notes: ['duplicate'] })
})

test('events of a restored table begin an order of their own', () => {
  const journal = newSequenceTracker()
  journal(event(1988055307469803, 3))
  expect(journal(event(1988055307469812, 2))).toEqual({ attempt: 1, notes: [] })
  expect(journal(event(1988055307469813, 3))).toEqual({ attempt: 1, notes: [] })
})
