import { DeleteCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, test, vi } from 'vitest'
import { manageChange } from '../../functions/operator/manage-change.ts'
import { findSealedBefore } from '../../shared/audit/sealed-day.ts'
import { sources } from '../../shared/audit/sources.ts'
import { verifyDays } from '../../shared/audit/verify.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { type Approval, approvalId } from '../../shared/domain/operator/approval.ts'
import { type Day, dayAfter } from '../../shared/domain/time.ts'
import { keys } from '../../shared/store/keys.ts'
import { decideApproval, putApproval } from '../../shared/store/operator/approvals.ts'
import { putChange } from '../../shared/store/operator/changes.ts'
import { putFunding } from '../../shared/store/settlement/funding.ts'
import { table, tableName } from '../../shared/store/table.ts'
import {
  alter,
  at,
  DAY_AFTER,
  type ExampleDay,
  exampleDay,
  objects,
  reconcileLater,
  TODAY,
  TOMORROW,
} from '../reconciliation/one-day.ts'
import { gcb, still } from '../support/examples.ts'
import { storeRestore } from '../support/settings.ts'
import { rewrite, seal, useSealedWorld, verified } from './sealed-world.ts'

/** The sealed audit of days (docs/audit.md). */

useSealedWorld()

const THIRD = dayAfter(DAY_AFTER)
let example: ExampleDay

const change = (day: Day, time: string, target: string) =>
  putChange(
    { id: target, at: at(day, time), by: 'ama', noun: 'bank', verb: 'update', target },
    { name: target },
  )
const changeKey = (day: Day, time: string, target: string) =>
  keys.change(`${at(day, time).toISOString()}#${target}`)

const REQUEST = approvalId(at(TODAY, '22:00:00'), '3f2a9c1e')
const REVERSAL = { noun: 'debit', verb: 'reverse', target: 'R', options: { reference: 'R' } }

const request = async () => {
  const requested = { requestedBy: 'ama', requestedAt: at(TODAY, '22:00:00') }
  const expiresAt = at(TOMORROW, '22:00:00')
  const approval = {
    id: REQUEST,
    ...REVERSAL,
    ...requested,
    decision: 'pending',
    expiresAt,
  } as const
  await putApproval(approval, {}, [], still())
  const decision = { decision: 'denied', by: 'kofi', at: at(TOMORROW, '08:00:00') } as const
  await decideApproval(REQUEST, decision, [], still())
}

const fund = () =>
  putFunding(
    {
      ...{ bank: gcb.identifier, reference: 'F-1', amount: pesewas(5_00), date: TODAY },
      ...{ recordedAt: at(TOMORROW, '10:00:00'), recordedBy: 'ama' },
    },
    [],
    still(),
  )

/** Seals three days with records of every source. */
beforeEach(async () => {
  example = await exampleDay()
  await change(TODAY, '09:00:00', 'c-1')
  await change(TODAY, '10:00:00', 'c-2')
  await change(TOMORROW, '09:00:00', 'c-3')
  await request()
  await fund()
  for (const day of [TODAY, TOMORROW, DAY_AFTER]) {
    await reconcileLater(day)
    await seal(day)
  }
})

const contentOf = (day: Day) => JSON.parse(objects.get(`${day}.json`)?.body ?? '')
const linesOf = (key: string) => objects.get(key)?.body.trimEnd().split('\n') ?? []

test('an object has a row for each source, names the one before, and each source has its lines', () => {
  const [first, second] = [contentOf(TODAY), contentOf(TOMORROW)]
  expect(Object.keys(first.sources)).toEqual([
    ...['accesses', 'approvals', 'batches', 'changes', 'fundings', 'journal'],
  ])
  expect(first).toMatchObject({
    ...{ day: TODAY, generation: 1, previous: null, late: { count: 0 } },
    sources: { changes: { count: 2 }, approvals: { count: 1 }, batches: { count: 0 } },
    reconciliation: { differences: 0 },
  })
  expect(second).toMatchObject({
    previous: { day: TODAY, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    sources: { approvals: { count: 1 }, batches: { count: 2 }, fundings: { count: 1 } },
  })
  expect(Object.keys(second.balances)).toContain('fee_income')
  expect(linesOf(`${TODAY}/changes.ndjson`)[0]).toBe(
    '{"at":"2026-11-21T09:00:00.000Z","by":"ama","changed":{"name":{"from":null,"to":"c-1"}},' +
      '"id":"2026-11-21T09:00:00.000Z#c-1","noun":"bank","target":"c-1","verb":"update"}',
  )
  expect(linesOf(`${TOMORROW}/batches.ndjson`).map((line) => JSON.parse(line))).toContainEqual({
    ...{ id: example.batch, at: '2026-11-22T00:00:10.000Z', provider: 'demo', date: TOMORROW },
    totals: expect.objectContaining({ count: 1 }),
    reports: {
      csv: expect.stringMatching(/^[0-9a-f]{64}$/),
      json: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  })
})

test('a sealed day verifies, and one that is not sealed yet or precedes the first is open', async () => {
  const before = dayAfter(TODAY, -1)
  expect(await verified(before, THIRD)).toEqual({
    ...{ [before]: 'open', [TODAY]: 'ok', [TOMORROW]: 'ok', [DAY_AFTER]: 'ok', [THIRD]: 'open' },
  })
})

test('a day before the first sealed one stays open, also if its night ends later', async () => {
  const before = dayAfter(TODAY, -1)
  await seal(before)
  expect(objects.has(`${before}.json`)).toBe(false)
  expect(await verified(before, TODAY)).toEqual({ [before]: 'open', [TODAY]: 'ok' })
})

test('a night seals the first day whose night has begun and not ended', async () => {
  for (const day of [TODAY, TOMORROW, DAY_AFTER]) objects.delete(`${day}.json`)
  await seal(TOMORROW)
  expect(contentOf(TOMORROW).previous.day).toBe(TODAY)
})

test.each([
  [35, true],
  [36, false],
])(
  'a night that is %d days after the last object continues the chain: %s',
  async (gap, continues) => {
    const last = await findSealedBefore(dayAfter(DAY_AFTER, gap))
    expect(last?.day).toBe(continues ? DAY_AFTER : undefined)
    // The first day stays recorded, but no day has an object.
    for (const day of [TODAY, TOMORROW, DAY_AFTER]) objects.delete(`${day}.json`)
    await seal(dayAfter(TODAY, gap))
    expect(objects.has(`${TODAY}.json`)).toBe(continues)
  },
)

test('a repeated night writes nothing', async () => {
  const before = new Map(objects)
  await change(DAY_AFTER, '12:00:00', 'late')
  await seal(DAY_AFTER)
  expect(objects).toEqual(before)
})

test('a night continues with the files that a crash left', async () => {
  await change(THIRD, '12:00:00', 'first')
  await seal(THIRD)
  objects.delete(`${THIRD}.json`)
  await change(THIRD, '13:00:00', 'after the crash')
  await seal(THIRD)
  expect(contentOf(THIRD).sources.changes.count).toBe(1)
  const next = dayAfter(THIRD)
  await seal(next)
  expect(await verified(THIRD, next)).toEqual({ [THIRD]: 'ok', [next]: 'ok' })
})

test('a record that is late is in the object of the next day, and its day verifies', async () => {
  await change(DAY_AFTER, '12:00:00', 'late')
  await seal(THIRD)
  expect(contentOf(THIRD).late.count).toBe(1)
  expect(JSON.parse(linesOf(`${THIRD}/late.ndjson`)[0] ?? '')).toMatchObject({
    ...{ day: DAY_AFTER, source: 'changes', record: { target: 'late' } },
  })
  expect(await verified(DAY_AFTER, THIRD)).toEqual({ [DAY_AFTER]: 'ok', [THIRD]: 'ok' })
  objects.delete(`${THIRD}/late.ndjson`)
  expect(await verified(DAY_AFTER, THIRD)).toEqual({
    [DAY_AFTER]: 'inserted: changes 2026-11-23T12:00:00.000Z#late',
    [THIRD]: 'missing: 2026-11-24/late.ndjson',
  })
})

test('a record that was removed, or whose source an earlier release did not seal, is not late', async () => {
  await change(THIRD, '12:00:00', 'removed')
  await seal(THIRD)
  await remove(changeKey(THIRD, '12:00:00', 'removed'))
  const next = dayAfter(THIRD)
  await change(next, '12:00:00', 'of a new source')
  await seal(next)
  const content = contentOf(next)
  expect(content.late.count).toBe(0)
  const { changes: _, ...others } = content.sources
  rewrite(`${next}.json`, () => JSON.stringify({ ...content, sources: others }))
  objects.delete(`${next}/changes.ndjson`)
  await seal(dayAfter(next))
  expect(contentOf(dayAfter(next)).late.count).toBe(0)
})

test('the next night seals the nights that were missed', async () => {
  const last = dayAfter(THIRD, 2)
  await change(THIRD, '12:00:00', 'missed')
  await seal(last)
  expect(contentOf(THIRD)).toMatchObject({
    reconciliation: null,
    sources: { changes: { count: 1 } },
  })
  expect(contentOf(last).previous.day).toBe(dayAfter(THIRD))
  expect(Object.values(await verified(TODAY, last))).toEqual(Array(6).fill('ok'))
})

test('each day verifies in the bucket of each Region after two failovers and returns', async () => {
  let other = new Map(objects)
  const changeRegion = () => {
    const own = new Map(objects)
    objects.clear()
    for (const [key, object] of other) objects.set(key, object)
    other = own
  }
  const days = [0, 1, 2, 3].map((n) => dayAfter(THIRD, n))
  for (const [n, day] of days.entries()) {
    if (n > 0) changeRegion()
    await seal(day)
    expect(Object.values(await verified(TODAY, day))).toEqual(Array(4 + n).fill('ok'))
  }
  expect(contentOf(THIRD).reconciliation).toBe(null)
  changeRegion()
  expect(Object.values(await verified(TODAY, dayAfter(THIRD, 2)))).toEqual(Array(6).fill('ok'))
})

test('the chain continues after a restore with its generation, and lost records are no difference', async () => {
  await table.send(
    new DeleteCommand({ TableName: tableName(), Key: changeKey(TODAY, '10:00:00', 'c-2') }),
  )
  await storeRestore(2, { begunAt: at(DAY_AFTER, '09:00:00') })
  await seal(THIRD)
  expect(contentOf(THIRD)).toMatchObject({ generation: 2, previous: { day: DAY_AFTER } })
  expect(await verified(TODAY, THIRD)).toMatchObject({ [TODAY]: 'ok', [THIRD]: 'ok' })
  // A record that precedes others was removed by somebody.
  await change(TODAY, '11:00:00', 'c-2')
  expect(await verified(TODAY, TODAY)).toEqual({
    [TODAY]: 'removed: changes 2026-11-21T10:00:00.000Z#c-2',
  })
})

test('a restored table may have one of two records of the same millisecond', async () => {
  await change(THIRD, '12:00:00', 'kept')
  await change(THIRD, '12:00:00', 'lost')
  await seal(THIRD)
  await remove(changeKey(THIRD, '12:00:00', 'lost'))
  expect((await verified(THIRD, THIRD))[THIRD]).toMatch(/^removed: changes .*#lost$/)
  await storeRestore(2, { begunAt: at(dayAfter(THIRD), '09:00:00') })
  expect(await verified(THIRD, THIRD)).toEqual({ [THIRD]: 'ok' })
  // A restore loses records, but alters none.
  await assign(changeKey(THIRD, '12:00:00', 'kept'), { by: 'kofi' })
  expect((await verified(THIRD, THIRD))[THIRD]).toMatch(/^altered: changes .*#kept$/)
})

test('the verification names a removed record of a restored table that precedes its latest one', async () => {
  const granted = { decision: 'granted', decidedBy: 'kofi', decidedAt: at(THIRD, '15:00:00') }
  for (const [time, decision] of [
    ['10:00:00', granted],
    ['12:00:00', { decision: 'pending' }],
    ['13:00:00', { decision: 'pending' }],
  ] as const) {
    const requestedAt = at(THIRD, time)
    const requested = { requestedBy: 'ama', requestedAt, expiresAt: at(dayAfter(THIRD), time) }
    const id = approvalId(requestedAt, '3f2a9c1e')
    await putApproval({ id, ...REVERSAL, ...requested, ...decision } as Approval, {}, [], still())
  }
  await seal(THIRD)
  await storeRestore(2, { begunAt: at(dayAfter(THIRD), '09:00:00') })
  const id = approvalId(at(THIRD, '13:00:00'), '3f2a9c1e')
  await remove(keys.approval(id))
  expect(await verified(THIRD, THIRD)).toEqual({ [THIRD]: `removed: approvals ${id}#requested` })
})

const remove = (key: { pk: string; sk: string }) =>
  table.send(new DeleteCommand({ TableName: tableName(), Key: key }))

const assign = (key: { pk: string; sk: string }, values: object) =>
  alter(key, (item) => Object.assign(item, values))

const swap = (one: string, other: string) => {
  const [first, second] = [objects.get(one), objects.get(other)]
  if (first) objects.set(other, first)
  if (second) objects.set(one, second)
}

const C1 = '2026-11-21T09:00:00.000Z#c-1'
const digest = '[0-9a-f]{64}'
const matching = (pattern: string) => expect.stringMatching(pattern) as never

/** The verdicts of days after a falsification. */
const falsified: Record<string, [() => unknown, Partial<Record<Day, string>>]> = {
  'an altered change': [
    () => assign(changeKey(TODAY, '09:00:00', 'c-1'), { by: 'kofi' }),
    { [TODAY]: `altered: changes ${C1}` },
  ],
  'a removed change': [
    () => remove(changeKey(TODAY, '09:00:00', 'c-1')),
    { [TODAY]: `removed: changes ${C1}` },
  ],
  'an inserted change': [
    () => change(TODAY, '09:30:00', 'c-9'),
    { [TODAY]: 'inserted: changes 2026-11-21T09:30:00.000Z#c-9' },
  ],
  'another object of a request': [
    () => assign(keys.approval(REQUEST), { object: { amount: 9 } }),
    { [TODAY]: `altered: approvals ${REQUEST}#requested` },
  ],
  'another decision of a request': [
    () => assign(keys.approval(REQUEST), { decision: 'granted' }),
    { [TOMORROW]: `altered: approvals ${REQUEST}#decided` },
  ],
  'another amount of a remittance': [
    () => assign(keys.funding(gcb.identifier, 'F-1'), { amount: 9 }),
    { [TOMORROW]: 'altered: fundings GCB#F-1' },
  ],
  'another amount of a debit': [
    () => assign(keys.refund(example.reversed.facts.reference), { amount: 9 }),
    { [TOMORROW]: matching('^altered: journal ') },
  ],
  'another sum of a batch': [
    () => alter(keys.batch(example.otherBatch), ({ totals }) => Object.assign(totals, { net: 9 })),
    { [TOMORROW]: matching('^altered: batches STL-') },
  ],
  'a replaced report': [
    () => rewrite(`settlements/demo/${example.batch}.csv`, (text) => text.replace('GHS', 'USD')),
    { [TOMORROW]: matching('^altered: batches STL-') },
  ],
  'a removed report': [
    () => objects.delete(`settlements/demo/${example.batch}.csv`),
    { [TOMORROW]: matching('^altered: batches STL-') },
  ],
  'another closing balance': [
    () => alter(keys.ledger(TODAY), ({ balances }) => Object.assign(balances, { cash: 1 })),
    { [TODAY]: 'altered: the closing balances of the ledger' },
  ],
  'an altered line': [
    () => rewrite(`${TODAY}/changes.ndjson`, (text) => text.replace('ama', 'eve')),
    { [TODAY]: 'altered: 2026-11-21/changes.ndjson' },
  ],
  'a truncated file of the last day': [
    () => rewrite(`${DAY_AFTER}/batches.ndjson`, () => ''),
    { [DAY_AFTER]: 'truncated: 2026-11-23/batches.ndjson has 0 of 1 lines' },
  ],
  'a removed file': [
    () => objects.delete(`${TODAY}/journal.ndjson`),
    { [TODAY]: 'missing: 2026-11-21/journal.ndjson' },
  ],
  'an altered object': [
    () => rewrite(`${TODAY}.json`, (text) => text.replace('"differences":0', '"differences":1')),
    {
      [TODAY]: matching(`^altered: its SHA-256 was ${digest}$`),
      [TOMORROW]: `broken link: the object names another one of ${TODAY}`,
    },
  ],
  'two swapped days': [
    () => swap(`${TODAY}.json`, `${TOMORROW}.json`),
    {
      [TODAY]: `swapped: the object is of ${TOMORROW}`,
      [TOMORROW]: `swapped: the object is of ${TODAY}`,
      [DAY_AFTER]: `broken link: the object names another one of ${TOMORROW}`,
    },
  ],
  'a removed object': [
    () => objects.delete(`${TOMORROW}.json`),
    {
      [TOMORROW]: matching(`^missing: the object with SHA-256 ${digest}$`),
      [DAY_AFTER]: `broken link: the object of ${TOMORROW} is missing`,
    },
  ],
  'a removed last object': [
    () => objects.delete(`${DAY_AFTER}.json`),
    { [DAY_AFTER]: matching('^missing: the object with SHA-256') },
  ],
  'a replaced last object of a later time': [
    () =>
      rewrite(`${DAY_AFTER}.json`, (text) =>
        text.replace(/"sealed_at":"\d{4}/, '"sealed_at":"9999'),
      ),
    { [DAY_AFTER]: matching('^missing: the object with SHA-256') },
  ],
  'an altered object whose run is removed': [
    async () => {
      rewrite(`${TODAY}.json`, (text) => text.replace('"differences":0', '"differences":1'))
      await remove(keys.reconciliation(TODAY))
    },
    {
      [TODAY]: matching(`^altered: its SHA-256 was ${digest}$`),
      [TOMORROW]: `broken link: the object names another one of ${TODAY}`,
    },
  ],
  'a last object that begins a chain, and whose run is removed': [
    async () => {
      rewrite(`${DAY_AFTER}.json`, (text) => text.replace(/"previous":{[^}]*}/, '"previous":null'))
      await remove(keys.reconciliation(DAY_AFTER))
    },
    { [DAY_AFTER]: 'broken link: the object names no predecessor' },
  ],
  'an object that is no JSON': [
    () => rewrite(`${DAY_AFTER}.json`, () => 'null'),
    { [DAY_AFTER]: 'altered: the object is not readable' },
  ],
}

test.each(Object.entries(falsified))(
  'the verification names %s',
  async (_, [falsify, expected]) => {
    await falsify()
    const ok = { [TODAY]: 'ok', [TOMORROW]: 'ok', [DAY_AFTER]: 'ok' }
    expect(await verified(TODAY, DAY_AFTER)).toEqual({ ...ok, ...expected })
  },
)

test('a verification whose time is up is refused, with the advice to name fewer days', async () => {
  let looks = 0
  const now = () => new Date(at(THIRD, '02:30:00').getTime() + 400_000 * looks++)
  const options = { from: TODAY, to: DAY_AFTER }
  const reply = await manageChange(still({ now }))({ verb: 'verify', options } as never)
  expect(reply).toEqual({ error: '--to: needs fewer days: the time was up' })
})

test('a day that a night seals during the verification is open', async () => {
  const key = `${DAY_AFTER}.json`
  const object = objects.get(key)
  objects.delete(key)
  const span = { from: DAY_AFTER, to: DAY_AFTER }
  const verdicts = await verifyDays(span, at(THIRD, '02:30:00'), () => {
    if (object) objects.set(key, object)
    return false
  })
  expect(verdicts).toEqual([{ day: DAY_AFTER, result: 'open' }])
})

test('a drill to a time before a night reports its day as open, and no late records as missing', async () => {
  await remove(keys.ledger(DAY_AFTER))
  await remove(keys.reconciliation(DAY_AFTER))
  const late = ['12:00:00', 'late'] as const
  await change(TOMORROW, ...late)
  objects.delete(`${DAY_AFTER}.json`)
  objects.delete(`${DAY_AFTER}/late.ndjson`)
  await seal(DAY_AFTER)
  expect(contentOf(DAY_AFTER).late.count).toBe(1)
  await remove(changeKey(TOMORROW, ...late))
  await remove(keys.reconciliation(DAY_AFTER))
  const before = at(THIRD, '01:00:00')
  expect(await verified(TODAY, DAY_AFTER, before)).toEqual({
    ...{ [TODAY]: 'ok', [TOMORROW]: 'ok', [DAY_AFTER]: 'open' },
  })
})

test('a call that ends on the second day after its request is a record of that day', async () => {
  const [requestedAt, decidedAt] = [at(TODAY, '23:59:00'), at(TOMORROW, '23:58:00')]
  const [id, doneAt] = [approvalId(requestedAt, '3f2a9c1f'), at(DAY_AFTER, '00:01:00')]
  const granted = { decision: 'granted', decidedBy: 'kofi', decidedAt, doneAt } as const
  const requested = { requestedBy: 'ama', requestedAt, expiresAt: at(TOMORROW, '23:59:00') }
  await putApproval({ id, ...REVERSAL, ...requested, ...granted }, {}, [], still())
  const records = await Array.fromAsync(sources.approvals?.records(DAY_AFTER) ?? [])
  expect(records).toEqual([{ id: `${id}#done`, at: doneAt }])
})

test('a refund that the table lacks is a difference until it may have expired', async () => {
  vi.stubEnv('RETAIN_YEARS', '7')
  await remove(keys.refund(example.reversedEarly.facts.reference))
  const last = at(dayAfter(TODAY, 7 * 366), '00:00:00').getTime()
  const before = await verified(TODAY, TODAY, new Date(last - 1))
  expect(before[TODAY]).toMatch(/^(?:removed|altered|inserted): journal /)
  expect(await verified(TODAY, TODAY, new Date(last))).toEqual({ [TODAY]: 'ok' })
})

test('a missing day is named after its run has expired, and when two nights have passed', async () => {
  for (const day of [TOMORROW, DAY_AFTER]) {
    objects.delete(`${day}.json`)
    await remove(keys.reconciliation(day))
  }
  await seal(DAY_AFTER)
  objects.delete(`${TOMORROW}.json`)
  const overdue = at(dayAfter(THIRD, 2), '06:00:00')
  expect(await verified(THIRD, THIRD, new Date(overdue.getTime() - 1))).toEqual({ [THIRD]: 'open' })
  expect(await verified(TOMORROW, THIRD, overdue)).toEqual({
    [TOMORROW]: `missing: the object between others; the next is of ${DAY_AFTER}`,
    [DAY_AFTER]: `broken link: the object of ${TOMORROW} is missing`,
    [THIRD]: 'missing: no night has sealed the day',
  })
})
