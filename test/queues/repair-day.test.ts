import { beforeAll, expect, test } from 'vitest'
import { repairDay } from '../../shared/sweep/day.ts'
import { useQueues } from '../settlement/messages-sent.ts'
import { at, completedDebits, dayAt, newProvider } from '../settlement/one-provider.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)
useQueues()

test('a repair looks at the debits of one day, until the time is up', async () => {
  const provider = await newProvider()
  // The debits are charged on the day before they complete.
  const ofDay = await completedDebits(provider, Array(30).fill(10_00), at('09:00:00'))
  const references = ofDay.map(({ facts }) => facts.reference).sort()
  const weekLater = still({ now: () => at('00:00:00', 7) })
  const repaired = async (day: number, timeIsUp: boolean) => {
    const result = await repairDay(provider, dayAt(day), weekLater, () => timeIsUp)
    return { ...result, repaired: result.repaired.toSorted() }
  }
  const none = { lookedAt: 0, repaired: [], unreadable: [] }
  expect(await repaired(-1, true)).toEqual({ ...none, isDone: false })
  expect(await repaired(0, false)).toEqual({ ...none, isDone: true })
  const all = { lookedAt: 30, repaired: references, unreadable: [], isDone: true }
  expect(await repaired(-1, false)).toEqual(all)
})
