import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Debit, stateAt } from '../../../shared/domain/debits/debit.ts'
import { newReference } from '../../../shared/domain/ids.ts'
import type { EventName } from '../../../shared/domain/webhooks/event-type.ts'
import { webhookBody } from '../../../shared/views/webhook-payload.ts'
import { at, completed, failed, moved, opened, processing, reversed } from '../debits/one-debit.ts'

/** Tests the advice to receivers in docs/webhooks.md with events in any order and repetition. */

type Arrived = {
  event: string
  event_id: string
  sequence: number
  data: { reference: string; status: string }
}

/** One row for each event_id, as a unique column keeps it. */
const kept = (arrivals: readonly string[]): Map<string, Arrived> =>
  new Map(
    arrivals.map((body) => {
      const event: Arrived = JSON.parse(body)
      return [event.event_id, event]
    }),
  )

/** The history of each debit: its rows by their sequence. */
const histories = (arrivals: readonly string[]): Record<string, string[]> => {
  const rows = [...kept(arrivals).values()].toSorted((a, b) => a.sequence - b.sequence)
  const grouped = Object.groupBy(rows, ({ data }) => data.reference)
  return Object.fromEntries(
    Object.entries(grouped).map(([reference, of]) => [reference, (of ?? []).map((e) => e.event)]),
  )
}

/** Returns the statuses that a receiver shows if it ignores events below the last sequence. */
const latest = (arrivals: readonly string[]): Record<string, string> => {
  const shown: Record<string, Arrived> = {}
  for (const body of arrivals) {
    const event: Arrived = JSON.parse(body)
    const { reference } = event.data
    if (event.sequence > (shown[reference]?.sequence ?? -1)) shown[reference] = event
  }
  return Object.fromEntries(
    Object.entries(shown).map(([reference, { data }]) => [reference, data.status]),
  )
}

const instant = moved(opened, 'failed', '10:00:02.000', { errorMessage: 'Account is closed' })
const unasked = moved(opened, 'completed', '10:00:02.000', {})
const lives = [opened, processing, completed, failed, reversed, instant, unasked]

/** Several debits, each with a life and a reference of its own. */
const debits: fc.Arbitrary<Debit[]> = fc
  .uniqueArray(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 6 })
  .chain((numbers) =>
    fc.tuple(
      ...numbers.map((number) =>
        fc.constantFrom(...lives).map((life) => {
          const reference = newReference('DCS', at('10:00:00.000'), number / 10_001)
          return { ...life, facts: { ...life.facts, reference } }
        }),
      ),
    ),
  )

/** All their events, some of them several times, in any order. */
const arrivalsOf = (owed: readonly string[]): fc.Arbitrary<string[]> =>
  fc
    .shuffledSubarray([...owed])
    .chain((again) =>
      fc.shuffledSubarray([...owed, ...again], { minLength: owed.length + again.length }),
    )

const told = ({ facts, history }: Debit): [string, EventName[]] => [
  facts.reference,
  history.map(({ type }) => type),
]

const cases = debits.chain((of) => {
  const owed = of.flatMap((debit) =>
    debit.history.map((_, n) => webhookBody(debit, n, { payload: 'reduced' })),
  )
  return fc.record({ of: fc.constant(of), arrivals: arrivalsOf(owed) })
})

describe('shuffled and repeated events', () => {
  test('a receiver rebuilds the history of every debit from event_id and sequence', () => {
    fc.assert(
      fc.property(cases, ({ of, arrivals }) => {
        const expected = of
          .map(told)
          .map(([reference, types]) => [reference, types.map((type) => `transaction.${type}`)])
        expect(histories(arrivals)).toEqual(Object.fromEntries(expected))
      }),
    )
  })

  test('a receiver that ignores earlier events shows the last status of every debit', () => {
    fc.assert(
      fc.property(cases, ({ of, arrivals }) => {
        const expected = of.map((debit) => [debit.facts.reference, stateAt(debit).status])
        expect(latest(arrivals)).toEqual(Object.fromEntries(expected))
      }),
    )
  })
})
