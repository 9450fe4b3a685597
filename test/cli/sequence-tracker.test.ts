import { expect, test } from 'vitest'
import type { PrintedEvent } from '../../cli/listener/event.ts'
import { newSequenceTracker } from '../../cli/listener/sequence-tracker.ts'

const event = (id: number, sequence: number): PrintedEvent => ({
  event: 'transaction.x',
  eventId: `evt_${id}`,
  reference: 'DCS-20250102-00000A',
  status: 'x',
  amount: '100.00 GHS',
  sequence,
})

test('the tracker reports events out of order and counts duplicates', () => {
  const track = newSequenceTracker()
  expect(track(event(1988055307469803, 3))).toEqual({ attempt: 1, notes: [] })
  expect(track(event(1988055307469802, 2)).notes).toEqual([
    'out of order: sequence 3 arrived first',
  ])
  expect(track(event(1988055307469803, 3))).toEqual({ attempt: 2, notes: ['duplicate'] })
})

test('events after a restore have a separate order', () => {
  const track = newSequenceTracker()
  track(event(1988055307469803, 3))
  expect(track(event(1988055307469812, 2))).toEqual({ attempt: 1, notes: [] })
  expect(track(event(1988055307469813, 3))).toEqual({ attempt: 1, notes: [] })
})
