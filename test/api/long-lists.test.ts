import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { beforeAll, describe, expect, test } from 'vitest'
import { listDebitTransactions } from '../../functions/bank/list-debit-transactions.ts'
import { listDebitRequests } from '../../functions/provider/list-debit-requests.ts'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { type Debit, stateAt } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { newReference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { real } from '../../shared/runtime.ts'
import { putAccount } from '../../shared/store/banks/banks.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { tableName } from '../../shared/store/table.ts'
import { answerCalls } from '../../aws/sdk.ts'
import { newTable } from '../../aws/table/table.ts'
import {
  bankMove,
  demoProvider,
  inSeconds,
  pendingDebit,
  providerId,
  still,
} from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { sampleEvent } from '../support/running-service.ts'
import { storeDemo, storeProvider } from '../support/settings.ts'

/** Runs the list handlers on the simulated table, with lists longer than a page, a reply or a count. */

const flood = providerId('flood')
const account = {
  customerName: 'Efua Sarpong',
  accountNumber: '1041005001',
  accountType: 'mobile_money',
  status: 'active',
} as const

beforeAll(async () => {
  await Promise.all([storeDemo(), storeProvider({ ...demoProvider, id: flood })])
})

let seconds = 0

/** Returns a debit, created one second after the previous one. */
const debitIn = (status: Status, facts: Partial<Debit['facts']> = {}): Debit => {
  seconds += 1
  const at = inSeconds(seconds)
  // Random references would collide among ten thousand.
  const reference = newReference('DCS', at, seconds / 1e6)
  const debit = pendingDebit({ amount: pesewas(1_00), reference, ...facts }, at)
  return status === 'pending' ? debit : granted(bankMove(status, { at })(debit))
}

/** Returns debits whose statuses repeat the given ones. */
const debitsIn = (count: number, statuses: Status[], facts?: Partial<Debit['facts']>): Debit[] =>
  Array.from({ length: count }, (_, n) => debitIn(statuses[n % statuses.length] ?? 'failed', facts))

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

/** Items that queries returned. */
const read = { items: 0 }

answerCalls(async ({ constructor: { name }, input }) => {
  const output = simulated.run(name, input)
  if (name === 'QueryCommand') read.items += (output.Items as object[] | undefined)?.length ?? 0
  return output
})

type Reply = {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of any reply
  body: any
  /** Size of Lambda's payload. */
  bytes: number
}

const runtime = still()
const handlers = {
  'list-debit-transactions': listDebitTransactions(runtime),
  'list-debit-requests': listDebitRequests(runtime),
}

const request = async (
  name: keyof typeof handlers,
  query: Record<string, string>,
): Promise<Reply> => {
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

/** Reads every page of a list by cursor. */
const readPages = async (name: keyof typeof handlers, query: Record<string, string>) => {
  const pages = [await request(name, query)]
  for (let last = pages[0]; last?.body.meta.has_more; last = pages.at(-1)) {
    pages.push(await request(name, { ...query, cursor: last.body.meta.next_cursor }))
  }
  return pages
}

const customer = async (phone: string): Promise<PhoneNumber> => {
  await putAccount(phone, 'GCB', account, noWrites, real)
  return phone as PhoneNumber
}

const referencesOf = (items: readonly { reference: string }[]): string[] =>
  items.map(({ reference }) => reference)

const listed = (query: Record<string, string>) => request('list-debit-transactions', query)

const transactionsOf = (pages: readonly Reply[]): string[] =>
  pages.flatMap(({ body }) => referencesOf(body.data.transactions))

const references = (debits: readonly Debit[]): string[] =>
  debits.map(({ facts }) => facts.reference)

describe('bank list', () => {
  test('520 debits of one provider do not hide the debit of another provider', async () => {
    const phone = await customer('+233245100001')
    const victim = debitIn('processing', { phone, amount: pesewas(7_50) })
    const flooding = debitsIn(520, ['failed', 'processing'], { phone, provider: flood })
    write([victim, ...flooding])
    const query = { phone_number: phone, per_page: '100' }
    for (const [status, count, amount] of [
      ['processing', 261, 267.5],
      ['failed', 260, 260],
      ['all', 521, 527.5],
    ] as const) {
      const pages = await readPages('list-debit-transactions', { ...query, status })
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
      for (const page of pages.keys()) {
        byNumber.push(await listed({ ...query, status, page: String(page + 1) }))
      }
      expect(transactionsOf(byNumber)).toEqual(references(expected))
      const second = pages[1]?.body
      expect(Object.keys(second.data)).not.toContain('total_count')
      expect(Object.keys(second.meta)).not.toContain('current_page')
    }
  })

  test('a page of the largest items stays below 4 MB in the payload of Lambda', async () => {
    const phone = await customer('+233245100002')
    const worst = {
      phone,
      narration: '"'.repeat(100),
      partnerReference: '"'.repeat(50),
      metadata: { a: '"'.repeat(4_092) },
    }
    write(debitsIn(100, ['processing'], worst))
    const query = { phone_number: phone, per_page: '100', status: 'processing' }
    const { body, bytes } = await listed(query)
    expect(body.data.transactions).toHaveLength(100)
    expect(bytes).toBeGreaterThan(1_700_000)
    expect(bytes).toBeLessThan(4_000_000)
  })

  test('a page that exceeds 4 MB ends early, and its cursor leads to the rest', async () => {
    const phone = await customer('+233245100003')
    const debits = debitsIn(90, ['processing'], { phone, metadata: { a: '"é'.repeat(10_000) } })
    write(debits)
    const query = { phone_number: phone, per_page: '100', status: 'processing' }
    const pages = await readPages('list-debit-transactions', query)
    expect(pages.length).toBeGreaterThan(1)
    for (const { bytes } of pages) expect(bytes).toBeLessThan(4_000_000)
    expect(transactionsOf(pages)).toEqual(references(debits.reverse()))
    expect(pages[0]?.body.data.total_count).toBe(90)
  })

  test('the status of the item decides while the index entry is stale', async () => {
    const phone = await customer('+233245100004')
    const stays = debitIn('processing', { phone })
    const fails = debitIn('processing', { phone })
    write([stays, fails])
    clock.lag = 1_000
    write([{ ...fails, status: 'failed' }])
    const query = { phone_number: phone, status: 'processing' }
    const stale = await listed(query)
    expect(transactionsOf([stale])).toEqual(references([stays]))
    clock.now += 1_000
    clock.lag = 0
    const current = await listed({ ...query, status: 'failed' })
    expect(transactionsOf([current])).toEqual(references([fails]))
    expect(current.body.data).toMatchObject({ total_count: 1, total_amount: 1 })
  })

  test('a cursor of another status or customer, or a changed cursor, is rejected', async () => {
    const phone = await customer('+233245100005')
    const other = await customer('+233245100006')
    write(debitsIn(3, ['processing'], { phone }))
    const query = { phone_number: phone, status: 'processing', per_page: '1' }
    const { next_cursor: cursor } = (await listed(query)).body.meta
    for (const another of [{ status: 'all' }, { phone_number: other }, { cursor: `${cursor}A` }]) {
      const reply = await listed({ ...query, cursor, ...another })
      expect(reply.status).toBe(422)
      expect(reply.body.details).toEqual({ cursor: ['must be a cursor of this list'] })
    }
    const wider = await listed({ ...query, cursor, per_page: '2' })
    expect(wider.body.data.transactions).toHaveLength(2)
  })

  test('the status cancelled lists no debits and reads no items', async () => {
    const phone = await customer('+233245100007')
    write([debitIn('failed', { phone })])
    const itemsBefore = read.items
    const query = { phone_number: phone, status: 'cancelled' }
    const { status, body } = await listed(query)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      transactions: [],
      total_count: 0,
      total_amount: 0,
      status_filter: 'cancelled',
    })
    expect(body.meta).toMatchObject({ total_pages: 0, next_cursor: null, has_more: false })
    // Only the list of banks is read.
    expect(read.items - itemsBefore).toBeLessThanOrEqual(1)
  })
})

describe('provider list', () => {
  const nextStatus = {
    pending: 'processing',
    processing: 'completed',
    completed: 'reversed',
  } as const

  test('pages by cursor show each debit once, newest first, while debits change their status', async () => {
    const phone = await customer('+233245100008')
    const debits = debitsIn(60, ['pending', 'processing', 'completed', 'failed'], { phone })
    write(debits)
    const created_from = stateAt(debits[0] as Debit).createdAt.toISOString()
    const listed: string[] = []
    let query: Record<string, string> = { created_from, per_page: '7' }
    for (let page = 0; page < 9; page += 1) {
      const { body } = await request('list-debit-requests', query)
      listed.push(...referencesOf(body.data))
      query = { ...query, cursor: body.meta.next_cursor }
      for (const [index, debit] of debits.entries()) {
        const to = nextStatus[debit.status as keyof typeof nextStatus]
        if (to && index % 3 === page % 3) debits[index] = { ...debit, status: to }
      }
      write(debits)
    }
    expect(listed).toEqual(references(debits.toReversed()))
    expect(query.cursor).toBeNull()
  })

  test('numbered pages of all statuses are slices of one sorted list', async () => {
    const { createdAt } = stateAt(debitIn('pending'))
    const from = new Date(createdAt.getTime() + 1).toISOString()
    const debits = debitsIn(45, ['completed', 'completed', 'failed', 'processing'])
    write(debits)
    const newest = references(debits.toReversed())
    for (const page of [1, 2, 3, 4, 5]) {
      const query = { created_from: from, per_page: '10', page: String(page) }
      const { body } = await request('list-debit-requests', query)
      const shown = referencesOf(body.data)
      expect(shown).toEqual(newest.slice((page - 1) * 10, page * 10))
      expect(body.meta).toMatchObject({ total_count: 45, total_pages: 5, has_more: page < 5 })
    }
  })
})

describe('lists of more than 10,000 debits', () => {
  const phone = '+233245100009' as PhoneNumber
  const old: Debit[] = []
  beforeAll(async () => {
    await customer(phone)
    old.push(debitIn('pending', { phone }))
    write([...old, ...debitsIn(10_020, ['failed'], { phone })])
  })

  test('a bank continues by cursor after the 10,000 examined debits', async () => {
    const query = { phone_number: phone, status: 'pending' }
    const pages = await readPages('list-debit-transactions', query)
    expect(pages).toHaveLength(2)
    expect(pages[0]?.body.data).toMatchObject({
      transactions: [],
      total_count: 0,
      total_is_at_least: true,
    })
    expect(transactionsOf(pages)).toEqual(references(old))
    const all = await listed({ phone_number: phone, status: 'all' })
    expect(all.body.data).toMatchObject({
      total_count: 10_000,
      total_amount: 10_000,
      total_is_at_least: true,
    })
    expect(all.body.meta).toMatchObject({ total_pages: 500, has_more: true })
  })

  test('a provider page reads only its own items and counts up to 10,000', async () => {
    for (const page of ['1', '2', '500']) {
      const itemsBefore = read.items
      const { body } = await request('list-debit-requests', { status: 'failed', page })
      expect(body.data).toHaveLength(20)
      expect(body.meta).toMatchObject({
        current_page: Number(page),
        total_pages: 500,
        total_count: 10_000,
        total_is_at_least: true,
        has_more: true,
      })
      expect(read.items - itemsBefore).toBeLessThanOrEqual(22)
    }
  })

  test('a page beyond 10,000 items is empty, and its cursor continues after them', async () => {
    const last = await request('list-debit-requests', { status: 'failed', page: '500' })
    const beyond = await request('list-debit-requests', { status: 'failed', page: '600' })
    expect(beyond.body).toMatchObject({ data: [], meta: { has_more: true } })
    const next = async ({ body }: Reply) =>
      (await request('list-debit-requests', { status: 'failed', cursor: body.meta.next_cursor }))
        .body.data
    expect(await next(beyond)).toHaveLength(20)
    expect(await next(beyond)).toEqual(await next(last))
  })

  test('a page of all statuses reads one page per status', async () => {
    const itemsBefore = read.items
    const { body } = await request('list-debit-requests', { page: '1' })
    expect(body.data).toHaveLength(20)
    expect(body.meta).toMatchObject({ total_count: 10_000, total_is_at_least: true })
    expect(read.items - itemsBefore).toBeLessThanOrEqual(5 * 22)
  })
})
