import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { type Batch, openBatch } from '../../shared/domain/settlement/batch.ts'
import { newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { noteSlow } from '../../shared/domain/webhooks/health.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { type Key, keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { read } from '../../shared/store/table.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { listNewest } from '../../shared/store/webhooks/feed.ts'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { inSeconds, NOON, pendingDebit, providerId } from '../support/examples.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'
import { advanced, mockQueues, record, runRelay } from './relay-records.ts'

process.env.POWERTOOLS_METRICS_DISABLED = 'false'

const printed: string[] = []
const spy = vi
  .spyOn(process.stdout, 'write')
  .mockImplementation((part) => printed.push(String(part)) > 0)
beforeEach(() => {
  printed.length = 0
})
afterAll(() => spy.mockRestore())
beforeAll(useFreshTable)

const calls = mockQueues()

/** Lists the sent messages by queue; the order of two queues is undefined. */
const sent = () =>
  calls
    .commandCalls(SendMessageBatchCommand)
    .flatMap(({ args: [{ input }] }) =>
      (input.Entries ?? []).map((entry) => [
        input.QueueUrl?.split('/').at(-1) ?? '',
        JSON.parse(entry.MessageBody ?? ''),
        entry.DelaySeconds,
        entry.MessageGroupId,
      ]),
    )
    .sort(([a], [b]) => a.localeCompare(b))

/** Lists the events of a debit in its provider's feed, newest first. */
const inFeed = async ({ facts }: Debit): Promise<number[]> =>
  (await listNewest(facts.provider, 1_000))
    .filter(({ reference }) => reference === facts.reference)
    .map(({ n }) => n)

/** Returns the metrics that were printed, without the fields of every line. */
const metrics = () =>
  printed
    .flatMap((part) => part.trim().split('\n'))
    .map((line) => {
      const { _aws, service, ...metrics } = JSON.parse(line)
      expect(service).toBe('debit-collection-sandbox')
      return metrics
    })

const SUCCESS = { batchItemFailures: [] }
const debit = pendingDebit()
const { reference, provider } = debit.facts
const processing = advanced(debit, 'processing')
const completed = advanced(processing, 'completed')
const opened = [
  ['submissions', { reference }, 0, 'GCB#demo'],
  ['timeouts', { reference, phase: 'processing' }, 0, 'demo'],
  ['webhooks-low', { reference, n: 0, through: 1, attempt: 1 }, 0, 'demo'],
]
const charged = { DebitsCharged: 1, ChargedPesewas: 100_00 }
const paid = { DebitsCompleted: 1, CompletedPesewas: 100_00 }

const approval = ['timeouts', { reference, phase: 'approval' }, 0, 'demo']
const attempt = (priority: string, n: number) => [
  `webhooks-${priority}`,
  { reference, n, attempt: 1 },
  0,
  'demo',
]
const failed = advanced(processing, 'failed')
const reversed = advanced(completed, 'reversed')

test.each<[string, Debit, Debit | undefined, unknown[][], number, object[]]>([
  ['opened', debit, undefined, opened, 2, [charged]],
  ['opened, again', debit, undefined, opened, 2, [charged]],
  ['processing', processing, debit, [approval, attempt('medium', 2)], 3, []],
  ['completed', completed, processing, [attempt('high', 3)], 4, [paid]],
  ['failed', failed, processing, [attempt('high', 3)], 4, [{ DebitsFailed: 1 }]],
  ['reversed', reversed, completed, [attempt('medium', 4)], 5, [{ DebitsReversed: 1 }]],
  ['rescheduled', completed, completed, [], 5, []],
])('a debit that is %s has its messages, feed and metrics', async (_, next, old, ...expected) => {
  const rescheduled = { ...toDebitItem(next), due: inSeconds(600).toISOString() }
  expect(await runRelay(record('1', rescheduled, old && toDebitItem(old)))).toEqual(SUCCESS)
  const feed = await inFeed(next)
  expect(feed).toEqual(feed.map((_, index) => feed.length - 1 - index))
  expect([sent(), feed.length, metrics()]).toEqual(expected)
})

test('two transitions in one record are measured in one line', async () => {
  await runRelay(record('1', toDebitItem(completed)))
  expect(metrics()).toEqual([{ ...charged, ...paid }])
})

test('transitions in one batch keep their order in the feed, although a read responds late', async () => {
  process.env.CACHE_SECONDS = '0'
  const own = pendingDebit({ provider: providerId('in-order') })
  const next = advanced(own, 'processing')
  let reads = 0
  const others = Promise.withResolvers<void>()
  const restore = aroundTableCalls(async (name, read) => {
    if (name !== 'Get') return read()
    reads += 1
    const turn = reads
    // The first read is the last to respond.
    if (turn === 1) await others.promise
    const response = await read()
    if (turn === 3) setTimeout(others.resolve, 100)
    return response
  })
  await runRelay(
    record('1', toDebitItem(own)),
    record('2', toDebitItem(next), toDebitItem(own)),
    record('3', toDebitItem(advanced(next, 'completed')), toDebitItem(next)),
  )
  restore()
  delete process.env.CACHE_SECONDS
  expect([reads, await inFeed(own)]).toEqual([3, [3, 2, 1, 0]])
})

/** Reads a stored item, as a stream record contains it. */
const itemAt = async (key: Key): Promise<object> => (await read<object>(key)) ?? {}

const waiting = { status: 'failed', attemptCount: 4, nextAttemptAt: inSeconds(16.001) } as const

test('attempts at a slow receiver go to the sidelined queue; other messages do not', async () => {
  const slow = providerId('slow')
  await changeHealth(slow, (health) => noteSlow(health, NOON))
  const debit = pendingDebit({ provider: slow })
  const { reference } = debit.facts
  await runRelay(record('1', toDebitItem(debit)))
  const event = { reference, n: 0, provider: slow, type: 'created' as const, at: NOON }
  const delivery = { ...newDelivery(event, {}), ...waiting, attemptCount: 1 }
  await replaceDelivery(undefined, delivery)
  await runRelay(record('2', await itemAt(keys.delivery(reference, 0))))
  expect(sent()).toEqual([
    ['submissions', { reference }, 0, 'GCB#slow'],
    ['timeouts', { reference, phase: 'processing' }, 0, 'slow'],
    ['webhooks-sidelined', { reference, n: 0, through: 1, attempt: 1 }, 0, 'slow'],
    ['webhooks-sidelined', { reference, n: 0, attempt: 2 }, 17, 'slow'],
  ])
  // The feed has no events of other providers.
  expect(await listNewest(slow, 10)).toEqual([1, 0].map((n) => ({ reference, n })))
})

test('a batch is measured once, when its totals are written', async () => {
  const open: Batch = openBatch({
    id: 'STL-20261122-ABC123' as Batch['id'],
    uuid: '02bc8ee8-2077-4e35-adbe-3d99cb687ee1' as Batch['uuid'],
    provider,
    date: '2026-11-22' as Batch['date'],
    n: 1,
    createdAt: NOON,
    feeSchedule: null,
  })
  const [gross, fee, net] = [pesewas(200_00), pesewas(3_00), pesewas(98_50)]
  const totals = { count: 3, debits: 2, gross, fee, adjustments: pesewas(-98_50), net }
  const totalled = { ...open, sealedAt: NOON, totals }
  await runRelay(record('1', toBatchItem(open)))
  await runRelay(record('2', toBatchItem(totalled), toBatchItem(open)))
  const reported = { ...totalled, reportedAt: NOON }
  await runRelay(record('3', toBatchItem(reported), toBatchItem(totalled)))
  const settled = { SettledGrossPesewas: 200_00, SettledFeePesewas: 3_00, SettledNetPesewas: 98_50 }
  expect(metrics()).toEqual([{ SettledDebits: 2, ...settled }])
})
