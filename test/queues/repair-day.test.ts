import { beforeAll, expect, test } from 'vitest'
import { iso } from '../../shared/domain/time.ts'
import { keys } from '../../shared/store/keys.ts'
import { read } from '../../shared/store/table.ts'
import { findDeliveries } from '../../shared/store/webhooks/deliveries.ts'
import { listNewest } from '../../shared/store/webhooks/feed.ts'
import { repairDay } from '../../shared/sweep/day.ts'
import { gathered, useQueues } from '../settlement/messages-sent.ts'
import { at, completedDebits, dayAt, newProvider } from '../settlement/one-provider.ts'
import { still, webhook } from '../support/examples.ts'
import { storeWebhook } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)
useQueues()

/** The debits are charged on the day before they complete. */
const CHARGED_ON = dayAt(-1)
const WEEK_LATER = still({ now: () => at('00:00:00', 7) })

test('a repair publishes the events of the debits of one day to feed and webhook', async () => {
  process.env.SEALING_KEY = 'a text for tests'
  const provider = await newProvider()
  await storeWebhook(provider, webhook)
  const ofDay = await completedDebits(provider, Array(30).fill(10_00), at('09:00:00'))
  const references = ofDay.map(({ facts }) => facts.reference).sort()

  let timeIsUp = false
  const repaired = async (date = CHARGED_ON) => {
    let result: unknown
    const sent = await gathered(async () => {
      result = await repairDay(provider, date, WEEK_LATER, () => timeIsUp)
    })
    return { result: result as Awaited<ReturnType<typeof repairDay>>, sent }
  }
  timeIsUp = true
  expect((await repaired()).result).toMatchObject({ lookedAt: 0, repaired: [], isDone: false })
  timeIsUp = false
  expect((await repaired(dayAt(0))).result).toMatchObject({ lookedAt: 0, isDone: true })
  const { result, sent } = await repaired()
  expect({ ...result, repaired: result.repaired.sort() }).toEqual({
    lookedAt: 30,
    repaired: references,
    unreadable: [],
    isDone: true,
  })
  const feed = await listNewest(provider, 200)
  expect(new Set(feed.map(({ reference }) => reference))).toEqual(new Set(references))
  expect(feed).toHaveLength(30 * 3)
  // The relay sends the attempts from the records.
  expect(sent).toEqual([])
  const due = await findDeliveries(feed)
  expect(due).toHaveLength(30 * 3)
  const states = due.map(({ status, nextAttemptAt }) => `${status} ${iso(nextAttemptAt)}`)
  expect(new Set(states)).toEqual(new Set([`pending ${WEEK_LATER.now().toISOString()}`]))

  // A repeat appends nothing.
  await repaired()
  expect(await listNewest(provider, 200)).toHaveLength(30 * 3)
})

test('a repair of a day without debits writes nothing', async () => {
  const provider = await newProvider()
  expect(await repairDay(provider, CHARGED_ON, WEEK_LATER, () => false)).toMatchObject({
    lookedAt: 0,
    repaired: [],
    isDone: true,
  })
  expect(await read(keys.feedPage(provider, 0))).toBeUndefined()
})
