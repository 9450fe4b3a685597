import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { Context, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { type Batch, openBatch } from '../../shared/domain/settlement/batch.ts'
import { messages } from '../../shared/queues/messages.ts'
import { sqs } from '../../shared/queues/send.ts'
import { queueUrlVariable } from '../../shared/runtime.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { NOON, pendingDebit, providerId, still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

/** What is counted of debits and batches, as they come by in the table's stream. */

process.env.POWERTOOLS_METRICS_DISABLED = 'false'
for (const queue of Object.keys(messages)) {
  process.env[queueUrlVariable(queue)] = `https://sqs.test/${queue}`
}

const written: string[] = []
const spy = vi
  .spyOn(process.stdout, 'write')
  .mockImplementation((part) => written.push(String(part)) > 0)
afterAll(() => spy.mockRestore())

beforeAll(async () => {
  mockClient(sqs).on(SendMessageBatchCommand).resolves({})
  await useFreshTable()
})

type Image = NonNullable<DynamoDBRecord['dynamodb']>['NewImage']
const image = (item: object): Image => marshall(item, { removeUndefinedValues: true }) as Image

/** The figures of one change, without what every line of them has. */
const figuresOf = async (next: object, old?: object) => {
  written.length = 0
  const { relay } = await import('../../functions/jobs/relay.ts')
  const dynamodb = { NewImage: image(next), ...(old ? { OldImage: image(old) } : {}) }
  const Records = [{ dynamodb: { ...dynamodb, SequenceNumber: '1' } }] as DynamoDBRecord[]
  const reply = await relay(still())({ Records } as DynamoDBStreamEvent, {} as Context)
  expect(reply).toEqual({ batchItemFailures: [] })
  return written
    .flatMap((part) => part.trim().split('\n'))
    .map((line) => {
      const { _aws, service, ...figures } = JSON.parse(line)
      expect(service).toBe('debit-collection-sandbox')
      return figures
    })
}

const moved = (debit: Debit, to: 'processing' | 'completed' | 'failed' | 'reversed'): Debit =>
  advance(debit, { to, changes: {}, at: NOON, by: 'x', requestId: 'y' }) as Debit

const charged = pendingDebit({ amount: pesewas(100_00) })
const processing = moved(charged, 'processing')
const completed = moved(processing, 'completed')

test.each([
  ['is opened', charged, undefined, [{ DebitsCharged: 1, ChargedPesewas: 100_00 }]],
  ['is with its bank', processing, charged, []],
  ['is completed', completed, processing, [{ DebitsCompleted: 1, CompletedPesewas: 100_00 }]],
  ['has failed', moved(processing, 'failed'), processing, [{ DebitsFailed: 1 }]],
  ['is given back', moved(completed, 'reversed'), completed, [{ DebitsReversed: 1 }]],
  ['is only looked at', completed, completed, []],
])('a debit that %s', async (_what, next, old, figures) => {
  expect(await figuresOf(toDebitItem(next), old && toDebitItem(old))).toEqual(figures)
})

test('two changes that come in one record are both counted, in one line', async () => {
  expect(await figuresOf(toDebitItem(completed))).toEqual([
    { DebitsCharged: 1, ChargedPesewas: 100_00, DebitsCompleted: 1, CompletedPesewas: 100_00 },
  ])
})

const open: Batch = openBatch({
  id: 'STL-20261122-ABC123' as Batch['id'],
  uuid: '02bc8ee8-2077-4e35-adbe-3d99cb687ee1' as Batch['uuid'],
  provider: providerId('demo'),
  date: '2026-11-22' as Batch['date'],
  n: 1,
  createdAt: NOON,
  feeSchedule: null,
})
const totals = {
  count: 3,
  debits: 2,
  gross: pesewas(200_00),
  fee: pesewas(3_00),
  adjustments: -98_50 as Batch['outstanding'],
  net: pesewas(98_50),
}

test('a batch is counted when it is summed, and once', async () => {
  const summed = { ...open, sealedAt: NOON, totals }
  expect(await figuresOf(toBatchItem(open))).toEqual([])
  expect(await figuresOf(toBatchItem(summed), toBatchItem(open))).toEqual([
    {
      SettledDebits: 2,
      SettledGrossPesewas: 200_00,
      SettledFeePesewas: 3_00,
      SettledNetPesewas: 98_50,
    },
  ])
  const reported = { ...summed, reportedAt: NOON }
  expect(await figuresOf(toBatchItem(reported), toBatchItem(summed))).toEqual([])
})
