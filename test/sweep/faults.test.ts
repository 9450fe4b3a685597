import { createServer } from 'node:http'
import { ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import { expireDebit } from '../../functions/jobs/expire-debit.ts'
import { sweep } from '../../functions/jobs/sweep.ts'
import { manageDebit } from '../../functions/operator/manage-debit.ts'
import { answerCalls, perform } from '../../sandbox/aws/sdk.ts'
import type { Table } from '../../sandbox/aws/table/table.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { dayOf, secondsAfter } from '../../shared/domain/time.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import { changeBankHealth } from '../../shared/store/banks/health.ts'
import { toDebitItem, workAfter } from '../../shared/store/debits/debit-item.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import {
  findSweepProgress,
  loadSweepProgress,
  putSweepProgress,
  sweptBefore,
} from '../../shared/store/sweep-progress.ts'
import { type Item, keyOf, read, remove, tableName } from '../../shared/store/table.ts'
import { listDeliveries } from '../../shared/store/webhooks/deliveries.ts'
import { dueAt } from '../../shared/store/work-index.ts'
import { repairDay } from '../../shared/sweep/day.ts'
import { sweepOverdue } from '../../shared/sweep/overdue.ts'
import { gathered, type Sent, take, useQueues } from '../settlement/messages-sent.ts'
import { batch } from '../settlement/report/one-batch.ts'
import {
  bankMove,
  demoProvider,
  gcb,
  inSeconds,
  NOON,
  pendingDebit,
  providerId,
  still,
  webhook,
} from '../support/examples.ts'
import { listNewest } from '../support/newest-events.ts'
import { captureOutput } from '../support/output.ts'
import { granted } from '../support/refused.ts'
import { useServer } from '../support/servers.ts'
import { storeBank, storeProvider, storeRestore, storeWebhook } from '../support/settings.ts'
import { useTable } from '../support/tables.ts'

/** Tests that a fault delays only its own item, shard or provider. */

process.env.METRICS_DISABLED = 'false'
const { clear, metrics } = captureOutput()
useQueues()

let table: Table

beforeEach(async () => {
  process.env.SEALING_KEY = 'sandbox'
  table = useTable()
  await storeProvider(demoProvider)
  await putSweepProgress({ until: inSeconds(-200), behind: new Map() })
  clear()
})

const insert = (item: Item): void =>
  void table.run('PutCommand', { TableName: tableName(), Item: item })

const run = (now = NOON) => gathered(() => take(sweep(still({ now: () => now })), 'sweeps', {}))

const faults = (): number => metrics().reduce((sum, one) => sum + (one.SweepFaults ?? 0), 0)

const shardOf = ({ facts: { reference } }: Debit) => dueAt(keys.debit(reference), NOON).work

/** Stores a debit that the sweep follows, and whose deadline passed or passes at a time. */
const followed = (facts: Partial<Debit['facts']> = {}, deadline = inSeconds(-60)): Debit => {
  const at = secondsAfter(deadline, -600)
  const processing = bankMove('processing', { at: secondsAfter(at, 299) })
  const debit = granted(processing(pendingDebit(facts, at)))
  const { provider, reference } = debit.facts
  const index = {
    ...{ byStatus: keys.debits(provider, 'open') },
    ...dueAt(keys.debit(reference), inSeconds(-10)),
  }
  insert(JSON.parse(JSON.stringify({ ...toDebitItem(debit), ...index })))
  return debit
}

/** Returns the debits whose timeout is sent. */
const timedOut = (sent: readonly Sent[]) =>
  sent.flatMap(({ queue, body }) => (queue === 'expiries' ? body.reference : []))

/** Runs each minute. Returns the minutes in which something is so. */
const minutesWith = async (count: number, isSo: (sent: Sent[]) => boolean): Promise<number[]> => {
  const minutes: number[] = []
  for (let minute = 0; minute < count; minute += 1) {
    clear()
    if (isSo(await run(inSeconds(60 * minute)))) minutes.push(minute)
  }
  return minutes
}

const dueOf = async (key: Parameters<typeof read>[0]) => (await read<Item>(key))?.due

/** Stores items of one shard that are due for hours, and that the sweep cannot check. */
const failing = (shard: string, count: number, sk = 'BATCH'): Item[] =>
  Array.from({ length: count }, (_, n) => {
    const item = {
      ...{ pk: `BATCH#${n}`, sk, status: 'of a later version' },
      ...{ work: shard, due: inSeconds(n - 7_200).toISOString() },
    }
    insert(item)
    return item
  })

const silent = useServer(createServer(() => undefined))
/** Lets functions read the sealing key from Secrets Manager. */
const readKey = () => {
  delete process.env.SEALING_KEY
  process.env.SEALING_KEY_ARN = 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:lost'
}

test.each<[string, string, () => void]>([
  ['another key sealed', 'c2VhbGVkIGJ5IGFub3RoZXIga2V5', () => undefined],
  [
    'Secrets Manager does not return in time',
    'c2VhbGVkIGJ5IGFub3RoZXIga2V5',
    () => {
      readKey()
      process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = silent()
    },
  ],
  [
    'Secrets Manager does not open',
    'c2VhbGVkIGJ5IGFub3RoZXIga2V5',
    () => {
      readKey()
      mockClient(SecretsManagerClient).on(GetSecretValueCommand).rejects('KMS is down')
    },
  ],
])(
  'a debit of a bank that is down and whose secret %s times out, and the sweep ends',
  async (_, secret, prepare) => {
    await storeBank({ ...gcb, connector: 'http' })
    insert({ ...keys.connector(gcb.identifier), url: 'https://bank.test', secret })
    const down = { state: 'down', failures: 9, failingSince: NOON } as const
    await changeBankHealth(gcb.identifier, () => down, NOON)
    prepare()
    const { reference } = followed().facts
    const body = { reference, phase: 'approval' }
    const done = { batchItemFailures: [] }
    const [result] = await Promise.all([
      take(expireDebit(still({ now: () => NOON })), 'expiries', body),
      run(),
    ])
    expect(result).toEqual(done)
    expect(metrics()).toContainEqual(expect.objectContaining({ SweepRuns: 1 }))
    expect(await findDebit(reference)).toMatchObject({
      status: 'failed',
      history: expect.arrayContaining([
        expect.objectContaining({ changes: expect.objectContaining({ errorCode: 'timeout' }) }),
      ]),
    })
  },
)

test.each([
  ['that fail', 'BATCH'],
  ['of an unknown kind', 'UNKNOWN#1'],
])('a debit times out though six hundred items %s are before it in its shard', async (_, sk) => {
  const debit = followed()
  failing(shardOf(debit), 600, sk)
  expect(timedOut(await run())).toEqual([])
  expect(timedOut(await run(inSeconds(30)))).toEqual([debit.facts.reference])
  expect(faults()).toBe(600)
})

test('an item that fails is due again after a minute, doubled up to an hour', async () => {
  const [item] = failing(keys.workShard(5), 1)
  const key = { pk: String(item?.pk), sk: String(item?.sk) }
  const minutes = await minutesWith(300, () => faults() > 0)
  expect(minutes).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
  // Progress of the item resets the delay.
  insert({ ...item, due: inSeconds(18_000).toISOString() })
  for (const [now, next] of [
    [18_000, 18_060],
    [18_060, 18_180],
  ] as const) {
    await run(inSeconds(now))
    expect(Date.parse(String(await dueOf(key)))).toBe(inSeconds(next).getTime())
  }
})

test('a shard that cannot be read delays neither the other shards nor the providers', async () => {
  const debits = Array.from({ length: 20 }, () => followed())
  const throttled = shardOf(debits[0] as Debit)
  const others = debits.filter((debit) => shardOf(debit) !== throttled)
  followed({ provider: providerId('demo') }, inSeconds(500))
  answerCalls(({ constructor: { name }, input }) => {
    const values = input.ExpressionAttributeValues as Item | undefined
    if (values?.[':list'] === throttled) {
      return Promise.reject(
        new ProvisionedThroughputExceededException({ message: 'hot', $metadata: {} }),
      )
    }
    return perform(() => table.run(name, input))
  })
  const sent = await run()
  expect(new Set(timedOut(sent))).toEqual(new Set(others.map(({ facts }) => facts.reference)))
  expect((await findSweepProgress())?.until).toEqual(inSeconds(-150))
  expect(metrics()).toEqual([
    { SweepFaults: 1 },
    expect.objectContaining({ SweepRuns: 1, SweepLagSeconds: 150 }),
  ])
})

test('the times of three thousand providers behind stay exact, in items of at most 20 KB', async () => {
  const ids = Array.from({ length: 3_000 }, (_, n) => providerId(`broken-${'x'.repeat(25)}-${n}`))
  for (const id of ids) await storeProvider({ ...demoProvider, id })
  const [first, second] = [inSeconds(-200), inSeconds(-90)]
  let broken = /broken.*[02468]$/
  answerCalls(({ constructor: { name }, input }) => {
    const list = String((input.ExpressionAttributeValues as Item | undefined)?.[':list'])
    if (broken.test(list.split('#')[1] ?? '')) return Promise.reject(new Error('no list'))
    return perform(() => table.run(name, input))
  })
  await run()
  // The next run fails for others, too.
  broken = /broken.*[12345]$/
  await run(inSeconds(60))
  const expected = { 0: second, 1: inSeconds(-150), 2: first, 5: inSeconds(-150), 9: second }
  const progress = await loadSweepProgress()
  for (const [last, at] of Object.entries(expected)) {
    const times = ids.filter((id) => id.endsWith(last)).map((id) => sweptBefore(progress, id))
    expect(times).toHaveLength(300)
    expect(new Set(times.map(Number))).toEqual(new Set([at.getTime()]))
  }
  // Readers of one item count every provider as far behind as the last one.
  expect(sweptBefore(await findSweepProgress(), demoProvider.id)).toEqual(first)
  const sizes = [...table.items()].flatMap((item) =>
    item.pk === 'SWEEP' ? [JSON.stringify(item).length] : [],
  )
  expect(Math.max(...sizes)).toBeLessThan(20_000)
  broken = /^nothing$/
  await run(inSeconds(120))
  const healed = { until: inSeconds(-30), behind: new Map() }
  expect([await findSweepProgress(), await loadSweepProgress()]).toEqual([healed, healed])
})

test('the progress of a sweep whose pages have expired starts at the oldest time', async () => {
  const behind = new Map(
    Array.from({ length: 201 }, (_, n) => [providerId(`behind-${n}`), inSeconds(-n)]),
  )
  await putSweepProgress({ until: NOON, behind })
  expect(await loadSweepProgress()).toEqual({ until: NOON, behind })
  for (const item of [...table.items()]) {
    if (item.pk === 'SWEEP' && item.expiresAt) await remove(keyOf(item))
  }
  expect(await loadSweepProgress()).toEqual({ until: inSeconds(-200), behind: new Map() })
})

test('a debit whose events cannot be repaired is delayed, but not beyond its deadline', async () => {
  const debit = followed({}, inSeconds(200))
  const page = { ...keys.feedPage(demoProvider.id, 1), entity: 'feed-page', page: 1 }
  insert({ ...page, entries: 'no list', lastAt: 1 })
  const sent: Sent[] = []
  const minutes = await minutesWith(5, (own) => {
    sent.push(...own)
    return faults() > 0
  })
  expect(minutes).toEqual([0, 1, 3])
  expect(timedOut(sent)).toEqual([debit.facts.reference])
})

test('a run after a fault leaves a debit to its timers until 15 seconds after the deadline', async () => {
  // Its first timeout was a second before.
  const { reference } = followed({}, inSeconds(-6)).facts
  expect(timedOut(await run())).toEqual([])
  expect(await dueOf(keys.debit(reference))).toBe(inSeconds(8).toISOString())
  expect(timedOut(await run(inSeconds(8)))).toEqual([reference])
})

test('the timeout of a debit is sent again after a minute, doubled up to an hour, until it ends', async () => {
  const { reference } = followed({}, inSeconds(-60)).facts
  const minutes = await minutesWith(20, (sent) => timedOut(sent).length > 0)
  expect(minutes).toEqual([0, 1, 3, 7, 15])
  const now = () => inSeconds(1_200)
  await take(expireDebit(still({ now })), 'expiries', { reference, phase: 'approval' })
  expect(timedOut(await run(inSeconds(1_860)))).toEqual([])
})

test('the timeout of a debit that a restore held for hours is sent again soon if its message is lost', async () => {
  const { reference } = followed({}, inSeconds(-10_800)).facts
  await storeRestore(2)
  expect(timedOut(await run())).toEqual([])
  await storeRestore(2, { releasedAt: inSeconds(50) })
  expect(timedOut(await run(inSeconds(60)))).toEqual([reference])
  expect(timedOut(await run(inSeconds(120)))).toEqual([reference])
})

test('the repair of a day publishes an event that a clock behind dated on the day before', async () => {
  await storeWebhook(demoProvider.id, webhook)
  const midnight = new Date('2026-11-21T00:00:00.500Z')
  const processing = bankMove('processing', { at: secondsAfter(midnight, -2) })
  const debit = granted(processing(pendingDebit({}, midnight)))
  insert(JSON.parse(JSON.stringify(toDebitItem(debit))))
  const now = () => NOON
  await gathered(() => repairDay({ provider: demoProvider.id, date: dayOf(midnight) }, { now }))
  const published = await listNewest(demoProvider.id, 10)
  expect(published.map(({ n }) => n).sort()).toEqual([0, 1, 2])
})

test.each([
  ['that the feed no longer has delivers its events only', -0.001, []],
  ['that the feed still has delivers and publishes its events', 0, [0, 1]],
])('the repair of a day %s', async (_, seconds, events) => {
  await storeWebhook(demoProvider.id, webhook)
  const at = inSeconds(seconds - 30 * 86_400)
  const debit = pendingDebit({}, at)
  insert(JSON.parse(JSON.stringify(toDebitItem(debit))))
  const day = { provider: demoProvider.id, date: dayOf(at) }
  const { reference } = debit.facts
  // The second repair finds the deliveries of the first one.
  for (const repaired of [[reference], []]) {
    await gathered(async () => {
      expect(await repairDay(day, { now: () => NOON })).toMatchObject({ lookedAt: 1, repaired })
    })
  }
  expect((await listDeliveries(reference)).map(({ n }) => n)).toEqual([0, 1])
  expect((await listNewest(demoProvider.id, 10)).map(({ n }) => n).sort()).toEqual(events)
})

test('a repair of a day whose time is up continues after its last page', async () => {
  const debits = Array.from({ length: 1_500 }, (_, n) =>
    pendingDebit({}, inSeconds(n / 10 - 1_800)),
  )
  for (const debit of debits) insert(JSON.parse(JSON.stringify(toDebitItem(debit))))
  const day = { provider: demoProvider.id, date: dayOf(NOON) }
  const repaired = new Set<string>()
  let after: string | undefined
  let calls = 0
  for (let isDone = false; !isDone; calls += 1) {
    let pages = 0
    const timeIsUp = () => {
      pages += 1
      return pages > 1
    }
    await gathered(async () => {
      const part = await repairDay({ ...day, after }, { now: () => NOON }, timeIsUp)
      for (const one of part.repaired) repaired.add(one)
      isDone = part.isDone
      after = part.next
    })
    expect(calls).toBeLessThan(5)
  }
  expect(calls).toBeGreaterThan(1)
  expect(repaired.size).toBe(1_500)
  // The command continues by the cursor of a call whose time is up.
  let looks = 0
  const slow = still({ now: () => inSeconds(100 * looks++) })
  const options = { provider: demoProvider.id, date: dayOf(NOON) }
  const cursors: unknown[] = []
  const reply = await operateFully({ noun: 'debit', verb: 'repair', options }, async (call) => {
    cursors.push(call.options.cursor)
    return manageDebit(slow)(call as never)
  })
  expect(reply).toMatchObject({ result: { looked_at: 1_500, is_done: true } })
  expect(cursors.slice(0, 2)).toEqual([undefined, expect.any(String)])
})

test('a repair of a day that fails keeps its complete pages, and continues after them', async () => {
  const debits = Array.from({ length: 1_200 }, (_, n) =>
    pendingDebit({}, inSeconds(n / 10 - 1_800)),
  )
  for (const debit of debits) insert(JSON.parse(JSON.stringify(toDebitItem(debit))))
  const { reference } = (debits[1_100] as Debit).facts
  answerCalls(({ constructor: { name }, input }) =>
    JSON.stringify(input).includes(reference)
      ? Promise.reject(new Error('throttled'))
      : perform(() => table.run(name, input)),
  )
  const repairAfter = (after?: string) =>
    repairDay({ provider: demoProvider.id, date: dayOf(NOON), after }, { now: () => NOON })
  await gathered(async () => {
    const { next, ...part } = await repairAfter()
    expect(part).toMatchObject({ lookedAt: 1_000, isDone: false })
    expect(part.repaired).toHaveLength(1_000)
    await expect(repairAfter(next)).rejects.toThrow('throttled')
    answerCalls(({ constructor: { name }, input }) => perform(() => table.run(name, input)))
    expect(await repairAfter(next)).toMatchObject({ lookedAt: 200, isDone: true })
  })
})

test('a timeout that fires during a restore leaves its debit to the sweep, which may have passed it', async () => {
  const debit = pendingDebit({}, inSeconds(-660))
  insert(JSON.parse(JSON.stringify(toDebitItem(debit))))
  await putSweepProgress({ until: inSeconds(-150), behind: new Map() })
  await storeRestore(2)
  const { reference } = debit.facts
  const body = { reference, phase: 'processing' } as const
  await take(expireDebit(still({ now: () => NOON })), 'expiries', body)
  expect(timedOut(await run(inSeconds(120)))).toEqual([])
  await storeRestore(2, { releasedAt: inSeconds(130) })
  expect(timedOut(await run(inSeconds(180)))).toEqual([reference])
})

test.each([
  ['whose delivery cannot be written is in the next sweep, too', true, -200],
  ['is swept once', false, -150],
])('an ended debit %s', async (_, fails, until) => {
  await storeWebhook(demoProvider.id, webhook)
  const at = inSeconds(-170)
  const debit = granted(bankMove('completed', { at })(pendingDebit({}, at)))
  insert(JSON.parse(JSON.stringify({ ...toDebitItem(debit), ...workAfter(debit) })))
  answerCalls(({ constructor: { name }, input }) =>
    fails && (input.Item as Item | undefined)?.entity === 'delivery'
      ? Promise.reject(new Error('no delivery'))
      : perform(() => table.run(name, input)),
  )
  await run()
  expect(sweptBefore(await loadSweepProgress(), demoProvider.id)).toEqual(inSeconds(until))
  expect(faults() > 0).toBe(fails)
})

test('a debit whose delivery cannot be written is due again after a minute, and its day is not repaired', async () => {
  await storeWebhook(demoProvider.id, webhook)
  const { reference } = followed({}, inSeconds(300)).facts
  answerCalls(({ constructor: { name }, input }) =>
    (input.Item as Item | undefined)?.entity === 'delivery'
      ? Promise.reject(new Error('no delivery'))
      : perform(() => table.run(name, input)),
  )
  const day = { provider: demoProvider.id, date: dayOf(NOON) }
  await gathered(async () => {
    const repairing = repairDay(day, { now: () => NOON })
    await expect(repairing).rejects.toThrow('1 debits could not be repaired')
  })
  await run()
  expect(Date.parse(String(await dueOf(keys.debit(reference))))).toBe(inSeconds(60).getTime())
})

test('a run whose time is up leaves its due items to the next one', async () => {
  const { reference } = followed().facts
  const runtime = still()
  const due = (isUp: boolean) =>
    gathered(() => sweepOverdue({ runtime, restore: undefined, timeIsUp: () => isUp }))
  expect([timedOut(await due(true)), timedOut(await due(false))]).toEqual([[], [reference]])
})

test('an entry of the work index whose item is gone sends no message, and counts no fault', async () => {
  const { reference } = pendingDebit().facts
  const { provider } = batch()
  const gone = [
    keys.debit(reference),
    keys.delivery(reference, 0),
    keys.recovery(provider, 'r-1'),
    keys.refund(reference),
    keys.batch(batch().id),
    keys.build(provider, dayOf(NOON)),
    keys.reconciliation('2026-11-21'),
    keys.reconciliationPart('2026-11-21', 'demo'),
  ].map((key) => ({ ...key, work: keys.workShard(5), due: inSeconds(-60).toISOString() }))
  answerCalls(({ constructor: { name }, input }) => {
    const values = input.ExpressionAttributeValues as Item | undefined
    return values?.[':list'] === keys.workShard(5)
      ? Promise.resolve({ Items: gone, Count: gone.length })
      : perform(() => table.run(name, input))
  })
  expect([await run(), faults()]).toEqual([[], 0])
})

test('a payout in progress for weeks is queried every six hours', async () => {
  const begun = { status: 'processing', processedAt: NOON, reportedAt: NOON } as const
  const stored = toBatchItem(batch(begun))
  insert(JSON.parse(JSON.stringify(stored)))
  const hours: number[] = []
  for (let hour = 0; hour < 24 * 4; hour += 1) {
    if ((await run(inSeconds(3_600 * hour))).length > 0) hours.push(hour)
  }
  const gaps = hours.slice(1).map((hour, index) => hour - (hours[index] as number))
  expect(gaps.slice(0, 3)).toEqual([1, 2, 4])
  expect(new Set(gaps.slice(3))).toEqual(new Set([6]))
  expect(await dueOf(keys.batch(stored.id as Batch['id']))).toEqual(expect.any(String))
})

test('a payout that a restore holds is queried in the minute of its release', async () => {
  const begun = { status: 'processing', processedAt: NOON, reportedAt: NOON } as const
  insert(JSON.parse(JSON.stringify(toBatchItem(batch(begun)))))
  await storeRestore(2)
  expect(await run(inSeconds(300))).toEqual([])
  await storeRestore(2, { releasedAt: inSeconds(310) })
  expect(await run(inSeconds(360))).toMatchObject([{ queue: 'payments' }])
})
