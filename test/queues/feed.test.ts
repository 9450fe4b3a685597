import { marshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendFeed } from '../../functions/jobs/append-feed.ts'
import { relay } from '../../functions/jobs/relay.ts'
import { newAws } from '../../sandbox/aws/aws.ts'
import { startRealClock } from '../../sandbox/aws/clock.ts'
import { queueUrl } from '../../sandbox/aws/queues.ts'
import { answerCalls, perform } from '../../sandbox/aws/sdk.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { queueNames } from '../../shared/queues/messages.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { listFeed } from '../../shared/store/webhooks/feed.ts'
import { eventually } from '../support/eventually.ts'
import { bankMove, inSeconds, NOON, pendingDebit, providerId, still } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { granted } from '../support/refused.ts'

/** The feed of a provider whose debits are in many shards: real functions on the in-memory AWS. */

captureOutput()

const SHARDS = 32
const RECORDS = 100
const PAGE = 30
const provider = providerId('busy')
const clock = startRealClock()
afterAll(clock.stop)

const aws = newAws({
  clock,
  tableName: 'feed',
  invoke: async (name, event) => {
    if (name !== 'append-feed') return { kind: 'done', value: {} }
    return { kind: 'done', value: await appendFeed(still())(event as never) }
  },
})
const writes: string[] = []
let refused = 0

beforeAll(() => {
  process.env.TABLE_NAME = 'feed'
  for (const queue of queueNames) process.env[queueUrlVariable(queue)] = queueUrl(queue)
  answerCalls(({ constructor: { name }, input }) =>
    perform(() => {
      const key = JSON.stringify(input.Item ?? input.Key ?? '')
      if (/^(?:Put|Update)/.test(name) && key.includes('FEED#')) writes.push(name)
      try {
        return aws.perform(name, input)
      } catch (error) {
        if ((error as Error).name === 'ConditionalCheckFailedException') refused += 1
        throw error
      }
    }),
  )
})

const image = (debit: Debit) => marshall(toDebitItem(debit), { removeUndefinedValues: true })
const move = (debit: Debit, to: Status): Debit => granted(bankMove(to)(debit))

/** Relays one batch, as Lambda does for a shard. */
const relayBatch = async (changes: readonly [Debit, (Debit | undefined)?][]): Promise<void> => {
  const Records = changes.map(([next, old], index) => ({
    dynamodb: {
      SequenceNumber: String(index),
      NewImage: image(next),
      ...(old && { OldImage: image(old) }),
    },
  })) as DynamoDBRecord[]
  expect(await relay(still())({ Records })).toEqual({ batchItemFailures: [] })
}

const readFeed = async () =>
  (
    await listFeed(provider, {
      after: { page: 0, count: 0 },
      notBefore: inSeconds(-86_400),
      limit: 1_000_000,
    })
  ).map(({ entry }) => entry)

test('32 relays of one provider lose no race, write each page about once and keep the order', async () => {
  const shard = async () => {
    const debits = Array.from({ length: RECORDS }, () => pendingDebit({ provider }, NOON))
    await relayBatch(debits.map((debit) => [debit]))
    const processing = debits.map((debit) => move(debit, 'processing'))
    await relayBatch(processing.map((debit, index) => [debit, debits[index]]))
    const completed = processing.map((debit) => move(debit, 'completed'))
    await relayBatch(completed.map((debit, index) => [debit, processing[index]]))
  }
  await Promise.all(Array.from({ length: SHARDS }, shard))
  const events = SHARDS * RECORDS * 4
  await eventually(async () => expect(await readFeed()).toHaveLength(events))
  expect(refused).toBe(0)
  expect(writes.length / (events / PAGE)).toBeLessThanOrEqual(1.2)
  const byDebit = Map.groupBy(await readFeed(), ({ reference }) => reference)
  const orders = [...byDebit.values()].map((entries) => entries.map(({ n }) => n).join())
  expect(new Set(orders)).toEqual(new Set(['0,1,2,3']))
})
