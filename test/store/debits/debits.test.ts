import { randomUUID } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import { advance, type Debit, stateAt } from '../../../shared/domain/debits/debit.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import { Refusal } from '../../../shared/domain/refusal.ts'
import { createDebit } from '../../../shared/store/debits/charges.ts'
import {
  findBankDebitByUuid,
  findDebit,
  findProviderDebit,
} from '../../../shared/store/debits/debits.ts'
import { transition, transitionAssumed } from '../../../shared/store/debits/transitions.ts'
import { keys } from '../../../shared/store/keys.ts'
import { remove, table, tableName } from '../../../shared/store/table.ts'
import { gcb, NOON, pendingDebit, providerId, still } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'
import { itemSize } from '../item-size.ts'

beforeAll(useFreshTable)

const runtime = still()

const open = (debit: Debit, { limit, text = 'same' }: { limit?: number; text?: string } = {}) =>
  createDebit(
    {
      debit,
      fingerprint: text,
      dailyLimit: limit === undefined ? undefined : pesewas(limit),
    },
    runtime,
  )

const dayTotal = async (provider: string, day = '2026-11-21'): Promise<number | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: keys.dayTotal(providerId(provider), day) }),
  )
  return Item?.amountTotal as number | undefined
}

const countItems = async (): Promise<number> => {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB as string }),
  )
  const { Count = 0 } = await client.send(
    new ScanCommand({ TableName: tableName(), Select: 'COUNT' }),
  )
  return Count
}

const move = (debit: Debit, to: 'processing' | 'completed' | 'failed') =>
  transition(
    debit,
    (now) => advance(now, { to, changes: {}, at: NOON, by: 'bank:GCB', requestId: randomUUID() }),
    runtime,
  )

describe('new debits', () => {
  test('a debit is read back with its milliseconds and metadata', async () => {
    const debit = pendingDebit({ metadata: { order: { lines: [1, 2.5, null] }, note: 'é' } })
    expect(await open(debit)).toEqual({ kind: 'created', debit })
    expect(await findDebit(debit.facts.reference)).toEqual(debit)
  })

  test('only its provider and its bank find a debit', async () => {
    const debit = pendingDebit()
    const { reference, uuid, provider } = debit.facts
    await open(debit)
    expect(await findProviderDebit(provider, reference)).toEqual(debit)
    expect(await findProviderDebit(providerId('other'), reference)).toBeUndefined()
    expect(await findBankDebitByUuid(gcb.identifier, uuid)).toMatchObject({ facts: debit.facts })
    expect(await findBankDebitByUuid('ECO' as typeof gcb.identifier, uuid)).toBeUndefined()
    expect(await findBankDebitByUuid(gcb.identifier, randomUUID() as typeof uuid)).toBeUndefined()
  })

  test('a used partner reference returns the first debit, for the same or another request', async () => {
    const first = pendingDebit()
    const { partnerReference, reference } = first.facts
    await open(first, { text: 'a' })
    const again = pendingDebit({ partnerReference })
    expect(await open(again, { text: 'a' })).toEqual({
      kind: 'existing',
      reference,
      sameRequest: true,
    })
    expect(await open(again, { text: 'b' })).toEqual({
      kind: 'existing',
      reference,
      sameRequest: false,
    })
    expect(await findDebit(again.facts.reference)).toBeUndefined()
  })

  test('two providers may use the same partner reference', async () => {
    const first = pendingDebit()
    const second = pendingDebit({
      provider: providerId('other'),
      partnerReference: first.facts.partnerReference,
    })
    expect(await open(first)).toMatchObject({ kind: 'created' })
    expect(await open(second)).toMatchObject({ kind: 'created' })
  })

  test('partner references that would look equal in a key stay distinct', async () => {
    const pairs = [
      ['a', 'b#c'],
      ['a#b', 'c'],
      ['é', 'e\u0301'],
      ['x/../y', 'x%2F..%2Fy'],
    ]
    for (const partnerReference of pairs.flat()) {
      const opened = await open(pendingDebit({ partnerReference }))
      expect(opened, partnerReference).toMatchObject({ kind: 'created' })
    }
  })

  test('a taken reference or uuid is a collision that writes nothing', async () => {
    const first = pendingDebit()
    await open(first)
    const before = await countItems()
    const { reference, uuid } = first.facts
    expect(await open(pendingDebit({ reference }))).toEqual({ kind: 'collision' })
    expect(await open(pendingDebit({ uuid }))).toEqual({ kind: 'collision' })
    expect(await countItems()).toBe(before)
  })

  test('twenty concurrent charges with one partner reference create one debit', async () => {
    const { partnerReference } = pendingDebit().facts
    const all = await Promise.all(
      Array.from({ length: 20 }, () => open(pendingDebit({ partnerReference }))),
    )
    const kinds = all.map((one) => (one instanceof Refusal ? one.code : one.kind))
    expect(kinds.filter((kind) => kind === 'created')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'existing')).toHaveLength(19)
  })
})

describe('daily limit', () => {
  const charge = (provider: string, amount: number, limit: number) =>
    open(
      pendingDebit({
        provider: providerId(provider),
        amount: pesewas(amount),
        countedOn: '2026-11-21',
      }),
      { limit },
    )

  test('a charge above the rest of the limit is 400/3005, to the pesewa', async () => {
    expect(await charge('edge', 600_00, 1_000_00)).toMatchObject({ kind: 'created' })
    expect(await charge('edge', 400_01, 1_000_00)).toMatchObject({ code: 3005, http: 400 })
    expect(await charge('edge', 400_00, 1_000_00)).toMatchObject({ kind: 'created' })
    expect(await charge('edge', 1_00, 1_000_00)).toMatchObject({ code: 3005 })
    expect(await dayTotal('edge')).toBe(1_000_00)
  })

  test('the first charge of a day above the whole limit is refused', async () => {
    expect(await charge('small', 100_01, 100_00)).toMatchObject({ code: 3005 })
    expect(await dayTotal('small')).toBeUndefined()
  })

  test('fifteen of forty concurrent charges are accepted if fifteen fit', async () => {
    const all = await Promise.all(
      Array.from({ length: 40 }, () => charge('busy', 100_00, 1_500_00)),
    )
    expect(all.filter((one) => !(one instanceof Refusal))).toHaveLength(15)
    expect(await dayTotal('busy')).toBe(1_500_00)
  })

  test('a replayed charge returns its debit when the limit is used up', async () => {
    const debit = pendingDebit({ provider: providerId('full'), countedOn: '2026-11-21' })
    await open(debit, { limit: 100_00 })
    const again = pendingDebit({ ...debit.facts, reference: pendingDebit().facts.reference })
    expect(await open(again, { limit: 100_00 })).toMatchObject({ kind: 'existing' })
  })

  test('a debit fails also without its day total', async () => {
    const debit = pendingDebit({ provider: providerId('lost'), countedOn: '2026-11-21' })
    await open(debit)
    expect(await dayTotal('lost')).toBe(100_00)
    await remove(keys.dayTotal(debit.facts.provider, '2026-11-21'))
    expect(await move(debit, 'failed')).toMatchObject({ status: 'failed' })
    expect(await dayTotal('lost')).toBeUndefined()
  })

  test('a failed debit returns its amount to the limit once', async () => {
    const debit = pendingDebit({ provider: providerId('back'), countedOn: '2026-11-21' })
    await open(debit, { limit: 100_00 })
    await move(debit, 'failed')
    await move(debit, 'failed')
    expect(await dayTotal('back')).toBe(0)
    expect(await charge('back', 100_00, 100_00)).toMatchObject({ kind: 'created' })
  })
})

describe('transitions', () => {
  test('a transition adds one event, which the next read returns', async () => {
    const debit = pendingDebit()
    await open(debit)
    const processing = await move(debit, 'processing')
    const completed = await move(processing as Debit, 'completed')
    const found = await findDebit(debit.facts.reference)
    expect(found).toEqual(completed)
    expect(found?.history.map(({ type }) => type)).toEqual([
      'created',
      'pending',
      'processing',
      'completed',
    ])
  })

  test('a transition to the current status writes nothing', async () => {
    const debit = pendingDebit()
    await open(debit)
    await move(debit, 'completed')
    const once = await findDebit(debit.facts.reference)
    await move(debit, 'completed')
    expect(await findDebit(debit.facts.reference)).toEqual(once)
  })

  test('a decision on a stale read is repeated on the current debit', async () => {
    const stale = pendingDebit()
    await open(stale)
    await move(stale, 'completed')
    expect(await move(stale, 'failed')).toMatchObject({ code: 3001, http: 422 })
  })

  test('one of fifty completions and fifty failures wins, and the opposite ones are 3001', async () => {
    const debit = pendingDebit({ provider: providerId('race'), countedOn: '2026-11-21' })
    await open(debit, { limit: 100_00 })
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, n) => move(debit, n % 2 === 0 ? 'completed' : 'failed')),
    )
    const found = (await findDebit(debit.facts.reference)) as Debit
    expect(found.history).toHaveLength(3)
    expect(found.version).toBe(2)
    const won = results.filter((result) => !(result instanceof Refusal)) as Debit[]
    expect(won).toHaveLength(50)
    expect(new Set(won.map(({ status }) => status))).toEqual(new Set([found.status]))
    expect(await dayTotal('race')).toBe(found.status === 'failed' ? 0 : 100_00)
  })
})

describe('transitions from an assumed state', () => {
  const complete = (debit: Debit) =>
    transitionAssumed(
      debit,
      (now) =>
        advance(now, {
          to: 'completed',
          changes: { bankReference: 'B-1' },
          at: NOON,
          by: 'bank:GCB',
          requestId: randomUUID(),
        }),
      runtime,
    )

  const opened = async (metadata = {}) => {
    const debit = pendingDebit({ metadata })
    await open(debit)
    const presumed = (await findBankDebitByUuid(gcb.identifier, debit.facts.uuid)) as Debit
    return { debit, presumed }
  }

  test('the result is the stored debit, without assumed values', async () => {
    const { debit, presumed } = await opened({ order: 7 })
    await move(debit, 'processing')
    const completed = (await complete(presumed)) as Debit
    expect(completed).toEqual(await findDebit(debit.facts.reference))
    expect(stateAt(completed)).toMatchObject({ metadata: { order: 7 }, bankReference: 'B-1' })
    expect(completed.history.map(({ by }) => by)).toEqual([
      'provider:demo',
      'provider:demo',
      'bank:GCB',
      'bank:GCB',
    ])
  })

  test('the stored debit decides if the assumption is wrong', async () => {
    const pending = await opened()
    const done = (await complete(pending.presumed)) as Debit
    expect(done.history.map(({ type }) => type)).toEqual(['created', 'pending', 'completed'])
    const again = await complete(pending.presumed)
    expect(again).toEqual(done)
    const failed = await opened()
    await move(failed.debit, 'failed')
    expect(await complete(failed.presumed)).toMatchObject({ code: 3001 })
  })
})

test('an ordinary debit stays below one kilobyte', async () => {
  const debit = pendingDebit({
    narration: 'Payment for order 4711, thank you for shopping',
    partnerReference: 'order-2026-11-21-000000004711',
    countedOn: '2026-11-21',
  })
  await open(debit, { limit: 50_000_00 })
  const processing = (await transition(
    debit,
    (now) =>
      advance(now, {
        to: 'processing',
        at: new Date(NOON.getTime() + 400),
        by: 'bank:GCB',
        requestId: randomUUID(),
        changes: {
          bankReference: 'GCB-85CB9470',
          customerName: 'Ama Mensah',
          accountNumber: '1041001001',
        },
      }),
    runtime,
  )) as Debit
  await transition(
    processing,
    (now) =>
      advance(now, {
        to: 'completed',
        at: new Date(NOON.getTime() + 30_000),
        by: 'bank:GCB',
        requestId: randomUUID(),
        changes: { bankReference: 'GCB-85CB9470', approvalMethod: 'ussd', fee: pesewas(1_50) },
      }),
    runtime,
  )
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: keys.debit(debit.facts.reference) }),
  )
  expect(itemSize(Item ?? {})).toBeLessThan(1_024)
  const found = (await findDebit(debit.facts.reference)) as Debit
  expect(stateAt(found)).toMatchObject({ status: 'completed', previousStatus: 'processing' })
})
