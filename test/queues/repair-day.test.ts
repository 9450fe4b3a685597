import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, test } from 'vitest'
import { iso } from '../../shared/domain/time.ts'
import { real } from '../../shared/runtime.ts'
import { keys } from '../../shared/store/keys.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { findDeliveries } from '../../shared/store/webhooks/deliveries.ts'
import { listNewest } from '../../shared/store/webhooks/feed.ts'
import { changeWebhook } from '../../shared/store/webhooks/webhooks.ts'
import { repairDay } from '../../shared/sweep/day.ts'
import { gathered, useQueues } from '../settlement/messages-sent.ts'
import { at, completedDebits, dayAt, newProvider } from '../settlement/one-provider.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

/** A day whose stream was lost, and which the sweep no longer looks at. */

beforeAll(useFreshTable)
useQueues()

/** All of these debits are charged the day before they are completed. */
const CHARGED_ON = dayAt(-1)
const WEEK_LATER = still({ now: () => at('00:00:00', 7) })
const webhook = {
  url: 'https://receiver.example/webhooks',
  secret: 'whsec_c2VjcmV0',
  timeoutSeconds: 30,
  connectionTimeoutSeconds: 10,
}

test('tells each event of each debit of the day, to feed and webhook, and of no other day', async () => {
  process.env.SEALING_KEY = 'a text for tests'
  const provider = await newProvider()
  await changeWebhook(provider, () => webhook, noWrites, real)
  const ofDay = await completedDebits(provider, Array(30).fill(10_00), at('09:00:00'))
  const references = ofDay.map(({ facts }) => facts.reference).sort()

  let isOver = false
  const repaired = async (date = CHARGED_ON) => {
    let result: unknown
    const sent = await gathered(async () => {
      result = await repairDay(provider, date, WEEK_LATER, () => isOver)
    })
    return { result: result as Awaited<ReturnType<typeof repairDay>>, sent }
  }
  isOver = true
  expect((await repaired()).result).toMatchObject({ lookedAt: 0, repaired: [], isDone: false })
  isOver = false
  expect((await repaired(dayAt(0))).result).toMatchObject({ lookedAt: 0, isDone: true })
  const { result, sent } = await repaired()
  expect({ ...result, repaired: result.repaired.sort() }).toEqual({
    lookedAt: 30,
    repaired: references,
    unreadable: [],
    isDone: true,
  })
  const told = await listNewest(provider, 200)
  expect(new Set(told.map(({ reference }) => reference))).toEqual(new Set(references))
  expect(told).toHaveLength(30 * 3)
  // Attempts are on record as due: the stream has them made, and nothing else is sent.
  expect(sent).toEqual([])
  const due = await findDeliveries(told)
  expect(due).toHaveLength(30 * 3)
  expect(
    new Set(due.map(({ status, nextAttemptAt }) => `${status} ${iso(nextAttemptAt)}`)),
  ).toEqual(new Set([`pending ${WEEK_LATER.now().toISOString()}`]))

  // What is in the feed is not put there again, and what is due stays as it is.
  await repaired()
  expect(await listNewest(provider, 200)).toHaveLength(30 * 3)
})

test('a debit that is in no list is not made up', async () => {
  const provider = await newProvider()
  expect(await repairDay(provider, CHARGED_ON, WEEK_LATER, () => false)).toMatchObject({
    lookedAt: 0,
    repaired: [],
    isDone: true,
  })
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: keys.feedPage(provider, 0) }),
  )
  expect(Item).toBeUndefined()
})
