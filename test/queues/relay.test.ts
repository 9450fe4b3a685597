import { marshall } from '@aws-sdk/util-dynamodb'
import type { Context, DynamoDBRecord } from 'aws-lambda'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { relay } from '../../functions/jobs/relay.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { noteSlow } from '../../shared/domain/webhooks/health.ts'
import { afterPage, automaticRecovery } from '../../shared/domain/webhooks/recovery.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { read } from '../../shared/store/table.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { listNewest } from '../../shared/store/webhooks/feed.ts'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { openRecovery, putPage } from '../../shared/store/webhooks/recoveries.ts'
import { gathered, useQueues } from '../settlement/messages-sent.ts'
import { batch } from '../settlement/report/one-batch.ts'
import { bankMove, inSeconds, NOON, pendingDebit, providerId, still } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { granted } from '../support/refused.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

process.env.METRICS_DISABLED = 'false'

const { clear, metrics } = captureOutput()
beforeEach(clear)
beforeAll(useFreshTable)
useQueues()

const image = (item: object) => marshall(item, { removeUndefinedValues: true })

/** Runs the relay with stream records of changed items: the next image, and the old one if any. */
const run = async (...changes: [next: object, old?: object | undefined][]) => {
  const Records = changes.map(([next, old], n) => ({
    eventName: old ? 'MODIFY' : 'INSERT',
    dynamodb: {
      SequenceNumber: String(n),
      NewImage: image(next),
      ...(old && { OldImage: image(old) }),
    },
  })) as DynamoDBRecord[]
  const sent = await gathered(async () => {
    const result = await relay(still())({ Records }, {} as Context)
    expect(result).toEqual({ batchItemFailures: [] })
  })
  // The order of two queues is undefined.
  return sent
    .map(({ queue, body, delaySeconds, group }) => [queue, body, delaySeconds, group] as const)
    .sort(([a], [b]) => a.localeCompare(b))
}

const advanced = (debit: Debit, to: Status): Debit => granted(bankMove(to)(debit))

/** Lists the events of a debit in its provider's feed, newest first. */
const inFeed = async ({ facts }: Debit): Promise<number[]> =>
  (await listNewest(facts.provider, 1_000))
    .filter(({ reference }) => reference === facts.reference)
    .map(({ n }) => n)

const debit = pendingDebit()
const { reference } = debit.facts
const processing = advanced(debit, 'processing')
const completed = advanced(processing, 'completed')
const opened = [
  ['submissions', { reference }, 0, 'GCB#demo'],
  ['timeouts', { reference, phase: 'processing' }, 0, 'demo'],
  ['webhooks-low', { reference, n: 0, through: 1, attempt: 1 }, 0, 'demo'],
]
const charged = { DebitsCharged: 1, ChargedPesewas: 100_00, bank: 'GCB' }
const paid = { DebitsCompleted: 1, CompletedPesewas: 100_00, bank: 'GCB' }

const approval = ['timeouts', { reference, phase: 'approval' }, 0, 'demo']
const attempt = (priority: string, n: number) => [
  `webhooks-${priority}`,
  { reference, n, attempt: 1 },
  0,
  'demo',
]
const timedOut = { changes: { errorCode: 'timeout' as const } }
const failed = granted(bankMove('failed', timedOut)(processing))
const failure = { DebitsFailed: 1, bank: 'GCB', code: 'timeout' }
const reversed = advanced(completed, 'reversed')

test.each<[string, Debit, Debit | undefined, unknown[][], number, object[]]>([
  ['opened', debit, undefined, opened, 2, [charged]],
  ['opened, again', debit, undefined, opened, 2, [charged]],
  ['processing', processing, debit, [approval, attempt('medium', 2)], 3, []],
  ['completed', completed, processing, [attempt('high', 3)], 4, [paid]],
  ['failed', failed, processing, [attempt('high', 3)], 4, [failure]],
  [
    'reversed',
    reversed,
    completed,
    [attempt('medium', 4)],
    5,
    [{ DebitsReversed: 1, bank: 'GCB' }],
  ],
  ['rescheduled', completed, completed, [], 5, []],
])('a debit that is %s has its messages, feed and metrics', async (_, next, old, ...expected) => {
  const rescheduled = { ...toDebitItem(next), due: inSeconds(600).toISOString() }
  const sent = await run([rescheduled, old && toDebitItem(old)])
  const feed = await inFeed(next)
  expect(feed).toEqual(feed.map((_, index) => feed.length - 1 - index))
  expect([sent, feed.length, metrics()]).toEqual(expected)
})

test('two transitions in one record are measured in one line', async () => {
  await run([toDebitItem(completed)])
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
  const [first, second, third] = [own, next, advanced(next, 'completed')].map(toDebitItem)
  await run([first as object], [second as object, first], [third as object, second])
  restore()
  delete process.env.CACHE_SECONDS
  expect([reads, await inFeed(own)]).toEqual([3, [3, 2, 1, 0]])
})

test('attempts at a slow receiver go to the sidelined queue; other messages do not', async () => {
  const slow = providerId('slow')
  await changeHealth(slow, (health) => noteSlow(health, NOON))
  const debit = pendingDebit({ provider: slow })
  const { reference } = debit.facts
  expect(await run([toDebitItem(debit)])).toEqual([
    ['submissions', { reference }, 0, 'GCB#slow'],
    ['timeouts', { reference, phase: 'processing' }, 0, 'slow'],
    ['webhooks-sidelined', { reference, n: 0, through: 1, attempt: 1 }, 0, 'slow'],
  ])
  const event = { reference, n: 0, provider: slow, type: 'created' as const, at: NOON }
  const waiting = { status: 'failed', attemptCount: 1, nextAttemptAt: inSeconds(16.001) } as const
  await replaceDelivery(undefined, { ...newDelivery(event, {}), ...waiting })
  expect(await run([(await read(keys.delivery(reference, 0))) as object])).toEqual([
    ['webhooks-sidelined', { reference, n: 0, attempt: 2 }, 17, 'slow'],
  ])
  // The feed has no events of other providers.
  expect(await listNewest(slow, 10)).toEqual([1, 0].map((n) => ({ reference, n })))
})

test('each page of a recovery is sent with its delay, and none after the last', async () => {
  const page = { provider: providerId('demo'), id: 'r-1' }
  const first = automaticRecovery({ ...page, now: NOON })
  const second = afterPage(first, { cursor: 'c', retried: 50, isLast: false }, NOON)
  const last = afterPage(second, { cursor: 'd', retried: 3, isLast: true }, NOON)
  const stored = () => read<object>(keys.recovery(page.provider, page.id))
  let old: object | undefined
  const sent: unknown[] = []
  for (const write of [() => openRecovery(first), () => putPage(second), () => putPage(last)]) {
    await write()
    const next = (await stored()) ?? {}
    sent.push(...(await run([next, old])))
    old = next
  }
  expect(sent).toEqual([
    ['recoveries', { ...page, page: 0 }, 0, 'demo'],
    ['recoveries', { ...page, page: 1 }, 10, 'demo'],
  ])
})

test('a batch is measured once, when its totals are written', async () => {
  const [gross, fee, net] = [pesewas(200_00), pesewas(3_00), pesewas(98_50)]
  const totals = { count: 3, debits: 2, gross, fee, adjustments: pesewas(-98_50), net }
  const states = [{ sealedAt: null }, { totals }, { totals, reportedAt: NOON }]
  const [open = {}, totalled = {}, reported = {}] = states.map((state) => toBatchItem(batch(state)))
  await run([open])
  await run([totalled, open])
  await run([reported, totalled])
  const settled = { SettledGrossPesewas: 200_00, SettledFeePesewas: 3_00, SettledNetPesewas: 98_50 }
  expect(metrics()).toEqual([{ SettledDebits: 2, ...settled }])
})
