import { marshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { relay } from '../../functions/jobs/relay.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { ExceptionKind } from '../../shared/domain/debits/exception.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { refusePrompt } from '../../shared/domain/debits/prompts.ts'
import { completeRefund, reversalRefund, sendRefund } from '../../shared/domain/debits/refund.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { newDelivery } from '../../shared/domain/webhooks/delivery.ts'
import { noteSlow } from '../../shared/domain/webhooks/health.ts'
import { afterPage, automaticRecoveries } from '../../shared/domain/webhooks/recovery.ts'
import type { MetricName } from '../../shared/metrics.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { refundCreation } from '../../shared/store/debits/refunds.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { read } from '../../shared/store/table.ts'
import { replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
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
const { calls, refusing } = useQueues()

const image = (item: object) => marshall(item, { removeUndefinedValues: true })

const recordOf = (next: object, old: object | undefined, n: number) =>
  ({
    eventName: old ? 'MODIFY' : 'INSERT',
    dynamodb: {
      SequenceNumber: String(n),
      NewImage: image(next),
      ...(old && { OldImage: image(old) }),
    },
  }) as DynamoDBRecord

/** Runs the relay with stream records of changed items: the next image, and the old one if any. */
const run = async (...changes: [next: object, old?: object | undefined][]) => {
  const Records = changes.map(([next, old], n) => recordOf(next, old, n))
  const sent = await gathered(async () => {
    const result = await relay(still())({ Records })
    expect(result).toEqual({ batchItemFailures: [] })
  })
  // The order of two queues is undefined.
  return sent
    .map(({ queue, body, delaySeconds, group }) => [queue, body, delaySeconds, group] as const)
    .sort(([a], [b]) => a.localeCompare(b))
}

const advanced = (debit: Debit, to: Status): Debit => granted(bankMove(to)(debit))

const debit = pendingDebit()
const { reference } = debit.facts
const processing = advanced(debit, 'processing')
const completed = advanced(processing, 'completed')
const feed = (...numbers: number[]) => [
  'feeds.fifo',
  { provider: 'demo', events: numbers.map((n) => ({ reference, n })) },
  undefined,
  'demo',
]
const opened = [
  feed(0, 1),
  ['submissions', { reference }, 0, 'GCB#demo'],
  // A minute before its first timeout can fire.
  ['timeouts', { reference }, 240, 'demo'],
  ['webhooks-low', { reference, n: 0, through: 1, attempt: 1 }, 0, 'demo'],
]
const charged = { DebitsCharged: 1, ChargedPesewas: 100_00, bank: 'GCB' }
const outcome = { bank: 'GCB', provider: 'demo', reference, seconds: expect.any(Number) }
const paid = { DebitsCompleted: 1, CompletedPesewas: 100_00, FailureExcess: -1, ...outcome }

const timeout = ['timeouts', { reference }, 0, 'demo']
const attempt = (priority: string, n: number) => [
  `webhooks-${priority}`,
  { reference, n, attempt: 1 },
  0,
  'demo',
]
const timedOut = { changes: { errorCode: 'timeout' as const } }
const failed = granted(bankMove('failed', timedOut)(processing))
const failure = { DebitsFailed: 1, FailureExcess: 1, ...outcome, code: 'timeout' }
const reversed = advanced(completed, 'reversed')
const unprompted = refusePrompt(debit, { at: inSeconds(1), requestId: 'request' })
const refusal = { DebitsFailed: 1, ...outcome, code: 'transaction_declined' }

const lateMove = (to: Status, seconds: number) =>
  granted(bankMove(to, { at: inSeconds(seconds) })(debit))

test.each<[string, Debit, Debit | undefined, unknown[][], object[]]>([
  ['opened', debit, undefined, opened, [charged]],
  ['opened, again', debit, undefined, opened, [charged]],
  ['processing', processing, debit, [feed(2), attempt('medium', 2)], []],
  [
    'processing after more than three minutes',
    lateMove('processing', 211),
    debit,
    [feed(2), timeout, attempt('medium', 2)],
    [],
  ],
  ['completed', completed, processing, [feed(3), attempt('high', 3)], [paid]],
  ['failed', failed, processing, [feed(3), attempt('high', 3)], [failure]],
  // Its bank has got no request.
  ['failed unprompted', unprompted, debit, [feed(2), attempt('high', 2)], [refusal]],
  [
    'reversed',
    reversed,
    completed,
    [feed(4), attempt('medium', 4)],
    [{ DebitsReversed: 1, bank: 'GCB' }],
  ],
  ['rescheduled', completed, completed, [], []],
])('a debit that is %s has its messages and metrics', async (_, next, old, ...expected) => {
  const rescheduled = { ...toDebitItem(next), due: inSeconds(600).toISOString() }
  const sent = await run([rescheduled, old && toDebitItem(old)])
  expect([sent, metrics()]).toEqual(expected)
})

test('two transitions in one record are measured in one line', async () => {
  await run([toDebitItem(completed)])
  expect(metrics()).toEqual([{ ...charged, ...paid }])
})

test('the records of one batch share calls, and a provider has one feed message in their order', async () => {
  const debits = Array.from({ length: 12 }, () => pendingDebit())
  const [first] = debits
  const next = advanced(first as Debit, 'processing')
  calls.length = 0
  const sent = await run(...debits.map((one): [object] => [toDebitItem(one)]), [
    toDebitItem(next),
    toDebitItem(first as Debit),
  ])
  const events = [...debits.flatMap(({ facts }) => [0, 1].map((n) => [facts.reference, n]))]
  const [[, message] = []] = sent
  const expected = [...events, [next.facts.reference, 2]]
  expect(message?.events).toEqual(expected.map(([reference, n]) => ({ reference, n })))
  // Submissions, timeouts and low webhooks take two calls each; the feed and medium webhooks one.
  expect(calls).toHaveLength(8)
})

test.each([
  ['submissions', 1, '1'],
  ['timeouts', 1, '1'],
  ['webhooks-low', 1, '1'],
  // The message of the whole batch.
  ['feeds.fifo', 0, '0'],
])('a refusal of %s fails its records and counts earlier ones', async (queue, index, failed) => {
  refusing.push({ queue, index })
  const Records = [0, 1, 2].map((n) => recordOf(toDebitItem(pendingDebit()), undefined, n))
  const result = await relay(still())({ Records })
  expect(result).toEqual({ batchItemFailures: [{ itemIdentifier: failed }] })
  expect(metrics()).toHaveLength(Number(failed))
  refusing.length = 0
})

test('an unreadable record fails alone, and its neighbours are relayed', async () => {
  const broken = { ...toDebitItem(debit), history: 7 }
  const Records = [toDebitItem(debit), broken, toDebitItem(debit)].map((item, n) =>
    recordOf(item, undefined, n),
  )
  const sent = await gathered(async () => {
    const result = await relay(still())({ Records })
    expect(result).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] })
  })
  expect(sent.filter(({ queue }) => queue === 'submissions')).toHaveLength(2)
})

test('the attempts at a slow receiver go to the sidelined queue; other messages do not', async () => {
  const slow = providerId('slow')
  await changeHealth(slow, (health) => noteSlow(health, NOON))
  const debit = pendingDebit({ provider: slow })
  const { reference } = debit.facts
  const events = [0, 1].map((n) => ({ reference, n }))
  expect(await run([toDebitItem(debit)])).toEqual([
    ['feeds.fifo', { provider: 'slow', events }, undefined, 'slow'],
    ['submissions', { reference }, 0, 'GCB#slow'],
    ['timeouts', { reference }, 240, 'slow'],
    ['webhooks-sidelined', { reference, n: 0, through: 1, attempt: 1 }, 0, 'slow'],
  ])
  const event = { reference, n: 0, provider: slow, type: 'created' as const, at: NOON }
  const waiting = { status: 'failed', attemptCount: 1, nextAttemptAt: inSeconds(16.001) } as const
  await replaceDelivery(undefined, { ...newDelivery(event, {}), ...waiting })
  expect(await run([(await read(keys.delivery(reference, 0))) as object])).toEqual([
    ['webhooks-sidelined', { reference, n: 0, attempt: 2 }, 17, 'slow'],
  ])
})

test('the attempts at a receiver whose pace cannot be read are sent as those at a quick one', async () => {
  const debit = pendingDebit({ provider: providerId('unread') })
  aroundTableCalls(() => Promise.reject(new Error('throttled')))
  const queues = (await run([toDebitItem(debit)])).map(([queue]) => queue)
  expect(queues).toEqual(['feeds.fifo', 'submissions', 'timeouts', 'webhooks-low'])
})

test('a stage with several groups a provider sends each batch to one of them', async () => {
  vi.stubEnv('FEED_GROUPS', '3')
  const groups = new Set<unknown>()
  for (const _ of Array(20)) {
    const [[, , , group] = []] = await run([toDebitItem(pendingDebit())])
    groups.add(group)
  }
  vi.unstubAllEnvs()
  expect([...groups].sort()).toEqual(['demo#0', 'demo#1', 'demo#2'])
})

test('each page of a recovery is sent with its delay, and none after the last', async () => {
  const page = { provider: providerId('demo'), id: 'r-1' }
  const [first] = automaticRecoveries({ ...page, now: NOON })
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

const metricOfKind: Record<ExceptionKind, MetricName> = {
  late_completion: 'LateCompletion',
  refused_report: 'RefusedReport',
  contradiction: 'Contradiction',
  refund: 'RefundFailed',
  reversal_request: 'ReversalRequested',
}

test.each(Object.entries(metricOfKind))(
  'an exception of kind %s is measured once, as %s',
  async (kind, metric) => {
    const exception = { entity: 'exception', kind }
    await run([exception])
    await run([{ ...exception, note: 'Returned' }, exception])
    expect(metrics()).toEqual([{ [metric]: 1 }])
  },
)

test('an exception of a kind of a later version is not measured', async () => {
  await run([{ entity: 'exception', kind: 'of_a_later_version' }])
  expect(metrics()).toEqual([])
})

test('a refund is measured once, when it is completed', async () => {
  const pending = reversalRefund(reversed)
  const processing = sendRefund(pending, NOON)
  const paid = completeRefund(processing, { bankReference: 'GCB-9', at: NOON })
  const [first, next, last] = [pending, processing, paid].map((one) => refundCreation(one).Put.Item)
  await run([first ?? {}])
  await run([next ?? {}, first])
  await run([last ?? {}, next])
  await run([last ?? {}, last])
  expect(metrics()).toEqual([{ RefundsCompleted: 1, RefundedPesewas: 100_00 }])
})

test('an update and a removal of a change record are logged and counted, a new record is not', async () => {
  const record = { ...keys.change('2026-11-21T12:00:00.000Z#1'), entity: 'change', by: 'ama' }
  const old = image(record)
  const Records = [
    { eventName: 'INSERT', dynamodb: { SequenceNumber: '1', NewImage: old } },
    { eventName: 'MODIFY', dynamodb: { SequenceNumber: '2', OldImage: old, NewImage: old } },
    { eventName: 'REMOVE', dynamodb: { SequenceNumber: '3', OldImage: old } },
  ] as DynamoDBRecord[]
  expect(await relay(still())({ Records })).toEqual({ batchItemFailures: [] })
  expect(metrics()).toEqual(Array(2).fill({ ChangeRecordsAltered: 1 }))
})
