import { expect, test } from 'vitest'
import type { PrintedEvent } from '../../commands/listener/event.ts'
import { newSequenceTracker } from '../../commands/listener/sequence-tracker.ts'

const event = (id: number, sequence: number): PrintedEvent => ({
  event: 'transaction.x',
  eventId: `evt_${id}`,
  reference: 'DCS-20250102-00000A',
  status: 'x',
  amount: '100.00 GHS',
  sequence,
})

test('the events after a restore have a separate order', () => {
  const track = newSequenceTracker()
  track(event(1988055307469803, 3))
  expect(track(event(1988055307469812, 2))).toEqual({ attempt: 1, notes: [] })
  expect(track(event(1988055307469813, 3))).toEqual({ attempt: 1, notes: [] })
})
