import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { beforeAll, describe, expect, test } from 'vitest'
import { listDebitTransactions } from '../../functions/bank/list-debit-transactions.ts'
import { listDebitRequests } from '../../functions/provider/list-debit-requests.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { advance, type Debit, stateAt } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { newReference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { real } from '../../shared/runtime.ts'
import { changeBank, putAccount } from '../../shared/store/banks/banks.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { putCredential } from '../../shared/store/providers/credentials.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { tableName } from '../../shared/store/table.ts'
import { answerCalls } from '../../simulation/aws/sdk.ts'
import { newTable } from '../../simulation/table/table.ts'
import { demoProvider, gcb, NOON, pendingDebit, providerId, still } from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { sampleEvent } from '../support/running-service.ts'

/**
 * Lists that are longer than a page, a reply or a count: the handlers on the simulated table, which
 * has the debits at once.
 */

const flood = providerId('flood')
const account = {
  customerName: 'Efua Sarpong',
  accountNumber: '1041005001',
  accountType: 'mobile_money',
  status: 'active',
} as const

beforeAll(async () => {
  const createdAt = NOON.toISOString()
  await Promise.all([
    changeBank(gcb.identifier, () => gcb, noWrites, real),
    changeProvider(demoProvider.id, () => demoProvider, noWrites, real),
    changeProvider(flood, () => ({ ...demoProvider, id: flood }), noWrites, real),
    putCredential(
      'sk_sandbox_demo',
      { kind: 'provider', owner: demoProvider.id, createdAt },
      [],
      real,
    ),
    putCredential('bt_sandbox_gcb', { kind: 'bank', owner: gcb.identifier, createdAt }, [], real),
  ])
})

let seconds = 0

/** A debit of one second later than the one before. */
const debitIn = (status: Status, facts: Partial<Debit['facts']> = {}): Debit => {
  seconds += 1
  const at = new Date(NOON.getTime() + seconds * 1000)
  // Drawn references would collide among ten thousand.
  const reference = newReference('DCS', at, seconds / 1e6)
  const debit = pendingDebit({ amount: pesewas(1_00), reference, ...facts }, at)
  if (status === 'pending') return debit
  const cause = { at, by: 'bank:GCB', requestId: 'request-2', changes: {} }
  return granted(advance(debit, { to: status, ...cause }))
}

const clock = { now: 0, lag: 0 }
const simulated = newTable({
  definition: tableDefinition,
  name: tableName(),
  now: () => clock.now,
  indexLag: () => clock.lag,
})

const write = (debits: readonly Debit[]): void => {
  for (const debit of debits) {
    const Item = JSON.parse(JSON.stringify(toDebitItem(debit)))
    simulated.run('PutCommand', { TableName: tableName(), Item })
  }
}

/** Entries that queries returned. */
const read = { items: 0 }

answerCalls(async ({ constructor: { name }, input }) => {
  const output = simulated.run(name, input)
  if (name === 'QueryCommand') read.items += (output.Items as object[] | undefined)?.length ?? 0
  return output
})

type Reply = {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: a reply is looked into, member by member
  body: any
  /** Of the payload that Lambda carries. */
  bytes: number
}

const runtime = still()
const handlers = {
  'list-debit-transactions': listDebitTransactions(runtime),
  'list-debit-requests': listDebitRequests(runtime),
}

const ask = async (name: keyof typeof handlers, query: Record<string, string>): Promise<Reply> => {
  const event = {
    ...(await sampleEvent(name)),
    multiValueQueryStringParameters: Object.fromEntries(
      Object.entries(query).map(([key, value]) => [key, [value]]),
    ),
  } as unknown as APIGatewayProxyEvent
  const reply: APIGatewayProxyResult = await handlers[name](event, {} as Context)
  const bytes = Buffer.byteLength(JSON.stringify(reply))
  return { status: reply.statusCode, body: JSON.parse(reply.body), bytes }
}

/** Every page of a list, by its cursors. */
const walk = async (name: keyof typeof handlers, query: Record<string, string>) => {
  const pages = [await ask(name, query)]
  for (let last = pages[0]; last?.body.meta.has_more; last = pages.at(-1)) {
    pages.push(await ask(name, { ...query, cursor: last.body.meta.next_cursor }))
  }
  return pages
}

const customer = async (phone: string): Promise<PhoneNumber> => {
  await putAccount(phone, 'GCB', account, noWrites, real)
  return phone as PhoneNumber
}

const transactionsOf = (pages: readonly Reply[]): string[] =>
  pages.flatMap(({ body }) =>
    body.data.transactions.map(({ reference }: { reference: string }) => reference),
  )

const references = (debits: readonly Debit[]): string[] =>
  debits.map(({ facts }) => facts.reference)

describe('the list of a bank', () => {
  test('520 debits of one provider do not hide the debit of another', async () => {
    const phone = await customer('+233245100001')
    const victim = debitIn('processing', { phone, amount: pesewas(7_50) })
    const flooding = Array.from({ length: 520 }, (_, n) =>
      debitIn(n % 2 === 0 ? 'failed' : 'processing', { phone, provider: flood }),
    )
    write([victim, ...flooding])
    const query = { phone_number: phone, per_page: '100' }
    for (const [status, count, amount] of [
      ['processing', 261, 267.5],
      ['failed', 260, 260],
      ['all', 521, 527.5],
    ] as const) {
      const pages = await walk('list-debit-transactions', { ...query, status })
      const [first] = pages
      expect(first?.body.data).toMatchObject({ total_count: count, total_amount: amount })
      expect(first?.body.data).not.toHaveProperty('total_is_at_least')
      expect(first?.body.meta).toMatchObject({
        per_page: 100,
        current_page: 1,
        total_pages: Math.ceil(count / 100),
      })
      const expected = [victim, ...flooding]
        .filter((debit) => status === 'all' || debit.status === status)
        .reverse()
      expect(transactionsOf(pages)).toEqual(references(expected))
      const byNumber = []
      for (let page = 1; page <= Math.ceil(count / 100); page += 1) {
        byNumber.push(
          await ask('list-debit-transactions', { ...query, status, page: String(page) }),
        )
      }
      expect(transactionsOf(byNumber)).toEqual(references(expected))
      const second = pages[1]?.body
      expect(Object.keys(second.data)).not.toContain('total_count')
      expect(Object.keys(second.meta)).not.toContain('current_page')
    }
  })

  test('a page of the largest items stays below 4 MB as Lambda carries it', async () => {
    const phone = await customer('+233245100002')
    const worst = {
      phone,
      narration: '"'.repeat(100),
      partnerReference: '"'.repeat(50),
      metadata: { a: '"'.repeat(4_092) },
    }
    write(Array.from({ length: 100 }, () => debitIn('processing', worst)))
    const query = { phone_number: phone, per_page: '100', status: 'processing' }
    const { body, bytes } = await ask('list-debit-transactions', query)
    expect(body.data.transactions).toHaveLength(100)
    expect(bytes).toBeGreaterThan(1_700_000)
    expect(bytes).toBeLessThan(4_000_000)
  })

  test('a page that exceeds 4 MB ends early, and its cursor leads to the rest', async () => {
    const phone = await customer('+233245100003')
    const debits = Array.from({ length: 90 }, () =>
      debitIn('processing', { phone, metadata: { a: '"é'.repeat(10_000) } }),
    )
    write(debits)
    const query = { phone_number: phone, per_page: '100', status: 'processing' }
    const pages = await walk('list-debit-transactions', query)
    expect(pages.length).toBeGreaterThan(1)
    for (const { bytes } of pages) expect(bytes).toBeLessThan(4_000_000)
    expect(transactionsOf(pages)).toEqual(references(debits.reverse()))
    expect(pages[0]?.body.data.total_count).toBe(90)
  })

  test('the debit itself decides where its index entry is late', async () => {
    const phone = await customer('+233245100004')
    const stays = debitIn('processing', { phone })
    const fails = debitIn('processing', { phone })
    write([stays, fails])
    clock.lag = 1_000
    write([{ ...fails, status: 'failed' }])
    const query = { phone_number: phone, status: 'processing' }
    const early = await ask('list-debit-transactions', query)
    expect(transactionsOf([early])).toEqual(references([stays]))
    clock.now += 1_000
    clock.lag = 0
    const late = await ask('list-debit-transactions', { ...query, status: 'failed' })
    expect(transactionsOf([late])).toEqual(references([fails]))
    expect(late.body.data).toMatchObject({ total_count: 1, total_amount: 1 })
  })

  test('a cursor of another status, customer or page form is refused', async () => {
    const phone = await customer('+233245100005')
    const other = await customer('+233245100006')
    write(Array.from({ length: 3 }, () => debitIn('processing', { phone })))
    const query = { phone_number: phone, status: 'processing', per_page: '1' }
    const { next_cursor: cursor } = (await ask('list-debit-transactions', query)).body.meta
    for (const another of [{ status: 'all' }, { phone_number: other }, { cursor: `${cursor}A` }]) {
      const reply = await ask('list-debit-transactions', { ...query, cursor, ...another })
      expect([reply.status, reply.body.details]).toEqual([
        422,
        { cursor: ['must be a cursor of this list'] },
      ])
    }
    const wider = await ask('list-debit-transactions', { ...query, cursor, per_page: '2' })
    expect(wider.body.data.transactions).toHaveLength(2)
  })

  test('cancelled is a list without debits, read from nothing', async () => {
    const phone = await customer('+233245100007')
    write([debitIn('failed', { phone })])
    const before = read.items
    const query = { phone_number: phone, status: 'cancelled' }
    const { status, body } = await ask('list-debit-transactions', query)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      transactions: [],
      total_count: 0,
      total_amount: 0,
      status_filter: 'cancelled',
    })
    expect(body.meta).toMatchObject({ total_pages: 0, next_cursor: null, has_more: false })
    // The list of banks alone.
    expect(read.items - before).toBeLessThanOrEqual(1)
  })
})

describe('the list of a provider', () => {
  const moves = { pending: 'processing', processing: 'completed', completed: 'reversed' } as const

  test('a walk meets each debit once, newest first, while debits change their status', async () => {
    const phone = await customer('+233245100008')
    const debits = Array.from({ length: 60 }, (_, n) =>
      debitIn((['pending', 'processing', 'completed', 'failed'] as const)[n % 4] ?? 'failed', {
        phone,
        provider: demoProvider.id,
      }),
    )
    write(debits)
    const created_from = stateAt(debits[0] as Debit).createdAt.toISOString()
    const seen: string[] = []
    let query: Record<string, string> = { created_from, per_page: '7' }
    for (let page = 0; page < 9; page += 1) {
      const { body } = await ask('list-debit-requests', query)
      seen.push(...body.data.map(({ reference }: { reference: string }) => reference))
      query = { ...query, cursor: body.meta.next_cursor }
      for (const [n, debit] of debits.entries()) {
        const to = moves[debit.status as keyof typeof moves]
        if (to && n % 3 === page % 3) debits[n] = { ...debit, status: to }
      }
      write(debits)
    }
    expect(seen).toEqual(references(debits.toReversed()))
    expect(query.cursor).toBeNull()
  })

  test('numbered pages of all statuses are slices of one order', async () => {
    const { createdAt } = stateAt(debitIn('pending'))
    const from = new Date(createdAt.getTime() + 1).toISOString()
    const debits = Array.from({ length: 45 }, (_, n) =>
      debitIn((['completed', 'completed', 'failed', 'processing'] as const)[n % 4] ?? 'failed'),
    )
    write(debits)
    const newest = references(debits.toReversed())
    for (const page of [1, 2, 3, 4, 5]) {
      const query = { created_from: from, per_page: '10', page: String(page) }
      const { body } = await ask('list-debit-requests', query)
      const shown = body.data.map(({ reference }: { reference: string }) => reference)
      expect(shown).toEqual(newest.slice((page - 1) * 10, page * 10))
      expect(body.meta).toMatchObject({ total_count: 45, total_pages: 5, has_more: page < 5 })
    }
  })
})

describe('a list of more than 10,000 debits', () => {
  const phone = '+233245100009' as PhoneNumber
  const old: Debit[] = []
  beforeAll(async () => {
    await customer(phone)
    old.push(debitIn('pending', { phone }))
    const newer = Array.from({ length: 10_020 }, () => debitIn('failed', { phone }))
    write([...old, ...newer])
  })

  test('a bank reads on by cursor where the examined entries end', async () => {
    const query = { phone_number: phone, status: 'pending' }
    const pages = await walk('list-debit-transactions', query)
    expect(pages).toHaveLength(2)
    expect(pages[0]?.body.data).toMatchObject({
      transactions: [],
      total_count: 0,
      total_is_at_least: true,
    })
    expect(transactionsOf(pages)).toEqual(references(old))
    const all = await ask('list-debit-transactions', { phone_number: phone, status: 'all' })
    expect(all.body.data).toMatchObject({
      total_count: 10_000,
      total_amount: 10_000,
      total_is_at_least: true,
    })
    expect(all.body.meta).toMatchObject({ total_pages: 500, has_more: true })
  })

  test('a provider reads each page alone, and counts up to 10,000', async () => {
    for (const page of ['1', '2', '500']) {
      const before = read.items
      const { body } = await ask('list-debit-requests', { status: 'failed', page })
      expect(body.data).toHaveLength(20)
      expect(body.meta).toMatchObject({
        current_page: Number(page),
        total_pages: 500,
        total_count: 10_000,
        total_is_at_least: true,
        has_more: true,
      })
      expect(read.items - before).toBeLessThanOrEqual(22)
    }
  })

  test('a page beyond the reach of numbers shows nothing, and its cursor continues there', async () => {
    const last = await ask('list-debit-requests', { status: 'failed', page: '500' })
    const beyond = await ask('list-debit-requests', { status: 'failed', page: '600' })
    expect(beyond.body).toMatchObject({ data: [], meta: { has_more: true } })
    const next = async ({ body }: Reply) =>
      (await ask('list-debit-requests', { status: 'failed', cursor: body.meta.next_cursor })).body
        .data
    expect(await next(beyond)).toHaveLength(20)
    expect(await next(beyond)).toEqual(await next(last))
  })

  test('a page of all statuses reads a page of each', async () => {
    const before = read.items
    const { body } = await ask('list-debit-requests', { page: '1' })
    expect(body.data).toHaveLength(20)
    expect(body.meta).toMatchObject({ total_count: 10_000, total_is_at_least: true })
    expect(read.items - before).toBeLessThanOrEqual(5 * 22)
  })
})
