import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { beforeAll, describe, expect, test } from 'vitest'
import { listDebitTransactions } from '../../functions/bank/list-debit-transactions.ts'
import { listDebitRequests } from '../../functions/provider/list-debit-requests.ts'
import { answerCalls } from '../../sandbox/aws/sdk.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { real } from '../../shared/runtime.ts'
import { putAccount } from '../../shared/store/banks/banks.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { type List, readMerged } from '../../shared/store/index-lists.ts'
import { keys } from '../../shared/store/keys.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { tableName } from '../../shared/store/table.ts'
import {
  atOnce,
  bankMove,
  demoProvider,
  gcb,
  inSeconds,
  pendingDebit,
  providerId,
  still,
} from '../support/examples.ts'
import { granted } from '../support/refused.ts'
import { sampleEvent } from '../support/requests.ts'
import type { Shown } from '../support/running-service.ts'
import { storeDemo, storeProvider } from '../support/settings.ts'
import { useTable } from '../support/tables.ts'

/** Runs the list handlers on the in-memory table, with lists longer than a page, a reply or a count. */

const flood = providerId('flood')
beforeAll(() => Promise.all([storeDemo(), storeProvider({ ...demoProvider, id: flood })]))

let seconds = 0

/** Returns debits, each created one second after the previous one, whose statuses repeat these. */
const debitsIn = (count: number, statuses: Status[], facts?: Partial<Debit['facts']>): Debit[] =>
  Array.from({ length: count }, (_, n) => {
    seconds += 1
    const at = inSeconds(seconds)
    const debit = pendingDebit({ amount: pesewas(1_00), ...facts }, at)
    const status = statuses[n % statuses.length] ?? 'failed'
    return status === 'pending' ? debit : granted(bankMove(status, { at })(debit))
  })

const clock = { now: 0, lag: 0 }
const simulated = useTable({ now: () => clock.now, indexLag: () => clock.lag })

/** Writes debits and returns their references, newest first. */
const write = (debits: readonly Debit[]): string[] => {
  for (const debit of debits) {
    const Item = JSON.parse(JSON.stringify(toDebitItem(debit)))
    simulated.run('PutCommand', { TableName: tableName(), Item })
  }
  return debits.map(({ facts }) => facts.reference).reverse()
}

/** Items that queries returned. */
let itemsRead = 0

answerCalls(async ({ constructor: { name }, input }) => {
  const output = simulated.run(name, input)
  if (name === 'QueryCommand') itemsRead += (output.Items as object[] | undefined)?.length ?? 0
  return output
})

type Query = Record<string, string>

const requester = (name: string, handler: ReturnType<typeof listDebitRequests>) => {
  return async (query: Query) => {
    const pairs = Object.entries(query).map(([key, value]) => [key, [value]])
    const sample = await sampleEvent(name)
    const event = { ...sample, multiValueQueryStringParameters: Object.fromEntries(pairs) }
    const itemsBefore = itemsRead
    const reply = await handler(event as unknown as APIGatewayProxyEvent, {} as Context)
    const { data, meta, details } = JSON.parse(reply.body)
    const listed: Shown[] | undefined = data?.transactions ?? data
    const references: string[] = listed?.map(({ reference }) => reference) ?? []
    const bytes = Buffer.byteLength(JSON.stringify(reply))
    return { data, meta, details, references, bytes, itemsRead: itemsRead - itemsBefore }
  }
}

const bankList = requester('list-debit-transactions', listDebitTransactions(still()))
const providerList = requester('list-debit-requests', listDebitRequests(still()))

/** Reads every page of a list by cursor. */
const readPages = async (query: Query, list = bankList) => {
  const pages = [await list(query)]
  for (let last = pages[0]; last?.meta.has_more; last = pages.at(-1)) {
    pages.push(await list({ ...query, cursor: last.meta.next_cursor }))
  }
  return pages
}

let customers = 0
const newCustomer = async (): Promise<PhoneNumber> => {
  customers += 1
  const phone = `+23324510000${customers}`
  const names = { customerName: 'Efua Sarpong', accountNumber: '1041005001' }
  const account = { ...names, accountType: 'mobile_money', status: 'active' } as const
  await putAccount(phone, 'GCB', account, noWrites, real)
  return phone as PhoneNumber
}

test('520 debits of one provider do not hide the debit of another provider', async () => {
  const phone = await newCustomer()
  const victim = debitsIn(1, ['processing'], { phone, amount: pesewas(7_50) })
  const debits = [...victim, ...debitsIn(520, ['failed', 'processing'], { phone, provider: flood })]
  write(debits)
  for (const [status, total_count, total_amount] of [
    ['processing', 261, 267.5],
    ['failed', 260, 260],
    ['all', 521, 527.5],
  ] as const) {
    const query = { phone_number: phone, per_page: '100', status }
    const pages = await readPages(query)
    const [first, second] = pages
    expect(first?.data).toMatchObject({ total_count, total_amount })
    expect(first?.data).not.toHaveProperty('total_is_at_least')
    const total_pages = Math.ceil(total_count / 100)
    expect(first?.meta).toMatchObject({ per_page: 100, current_page: 1, total_pages })
    expect(second?.data).not.toHaveProperty('total_count')
    expect(second?.meta).not.toHaveProperty('current_page')
    const ours = debits.filter((debit) => status === 'all' || debit.status === status)
    const expected = ours.map(({ facts }) => facts.reference).reverse()
    expect(pages.flatMap(({ references }) => references)).toEqual(expected)
    const numbered = await atOnce(total_pages, (n) => bankList({ ...query, page: `${n + 1}` }))
    expect(numbered.flatMap(({ references }) => references)).toEqual(expected)
  }
})

test('a page stays below 4 MB: the largest debits fit, and a longer page ends early', async () => {
  const [fitting, exceeding] = [await newCustomer(), await newCustomer()]
  const texts = { narration: '"'.repeat(100), partnerReference: '"'.repeat(50) }
  const large = { phone: fitting, ...texts, metadata: { a: '"'.repeat(4_092) } }
  write(debitsIn(100, ['processing'], large))
  const query = { per_page: '100', status: 'processing' }
  const largest = await bankList({ ...query, phone_number: fitting })
  expect(largest.references).toHaveLength(100)
  expect(largest.bytes).toBeGreaterThan(1_700_000)
  const metadata = { a: '"é'.repeat(10_000) }
  const expected = write(debitsIn(90, ['processing'], { phone: exceeding, metadata }))
  const pages = await readPages({ ...query, phone_number: exceeding })
  expect(pages.length).toBeGreaterThan(1)
  expect(Math.max(...[largest, ...pages].map(({ bytes }) => bytes))).toBeLessThan(4_000_000)
  expect(pages.flatMap(({ references }) => references)).toEqual(expected)
  expect(pages[0]?.data.total_count).toBe(90)
  const oneMore = { ...query, per_page: `${Number(pages[0]?.references.length) + 1}` }
  const cutByOne = await readPages({ ...oneMore, phone_number: exceeding })
  expect(cutByOne.flatMap(({ references }) => references)).toEqual(expected)
})

test('the status of the item decides while the index entry is stale', async () => {
  const phone_number = await newCustomer()
  const [stays, fails] = debitsIn(2, ['processing'], { phone: phone_number }) as [Debit, Debit]
  write([stays, fails])
  clock.lag = 1_000
  write([{ ...fails, status: 'failed' }])
  const stale = await bankList({ phone_number, status: 'processing' })
  expect(stale.references).toEqual([stays.facts.reference])
  clock.now += 1_000
  clock.lag = 0
  const current = await bankList({ phone_number, status: 'failed' })
  expect(current.references).toEqual([fails.facts.reference])
  expect(current.data).toMatchObject({ total_count: 1, total_amount: 1 })
})

test('the pages of a provider show each debit once, newest first, while debits change their status', async () => {
  const next = { pending: 'processing', processing: 'completed', completed: 'reversed' }
  const debits = debitsIn(60, ['pending', 'processing', 'completed', 'failed'])
  const expected = write(debits)
  let page = 0
  const list: typeof providerList = async (query) => {
    const listed = await providerList(query)
    for (const [index, debit] of debits.entries()) {
      const to = (next as Partial<Record<Status, Status>>)[debit.status]
      if (to && index % 3 === page % 3) debits[index] = { ...debit, status: to }
    }
    page += 1
    write(debits)
    return listed
  }
  const query = { created_from: inSeconds(seconds - 59).toISOString(), per_page: '7' }
  const pages = await readPages(query, list)
  expect(pages.flatMap(({ references }) => references)).toEqual(expected)
})

describe('lists of more than 10,000 debits', () => {
  let phone: PhoneNumber
  let old: string[]
  beforeAll(async () => {
    phone = await newCustomer()
    old = write(debitsIn(1, ['pending'], { phone }))
    write(debitsIn(10_020, ['failed'], { phone }))
  })

  test('a bank continues by cursor after the 10,000 examined debits', async () => {
    const pages = await readPages({ phone_number: phone, status: 'pending' })
    expect(pages.map(({ references }) => references)).toEqual([[], old])
    expect(pages[0]?.data).toMatchObject({ total_count: 0, total_is_at_least: true })
    const { data, meta } = await bankList({ phone_number: phone, status: 'all' })
    const totals = { total_count: 10_000, total_amount: 10_000, total_is_at_least: true }
    expect([data, meta]).toMatchObject([totals, { total_pages: 500, has_more: true }])
  })

  test('a page of two lists ends at the newest debit down to which both were examined', async () => {
    const key = keys.byCustomer(gcb.identifier, phone)
    const list = { index: 'by-customer', key, select: async () => [] } as const
    const later = { ...list, until: inSeconds(seconds - 10).toISOString() }
    const endOf = (lists: List[]) => readMerged(lists, { skip: 0, limit: 20 })
    const ends = await Promise.all([[list], [list, later], [later, list]].map(endOf))
    expect(ends.map(({ next }) => next)).toEqual(Array(3).fill(expect.stringContaining('DCS-')))
    expect(new Set(ends.map(({ next }) => next)).size).toBe(1)
  })

  test('a provider page reads only its own items and counts up to 10,000', async () => {
    const totals = { total_count: 10_000, total_is_at_least: true }
    for (const page of ['1', '2', '500']) {
      const { references, meta, itemsRead } = await providerList({ status: 'failed', page })
      expect(references).toHaveLength(20)
      const pages = { current_page: Number(page), total_pages: 500, has_more: true }
      expect(meta).toMatchObject({ ...pages, ...totals })
      expect(itemsRead).toBeLessThanOrEqual(22)
    }
    // A page of all statuses reads one page per status.
    const { references, meta, itemsRead } = await providerList({ page: '1' })
    expect([references.length, meta]).toMatchObject([20, totals])
    expect(itemsRead).toBeLessThanOrEqual(5 * 22)
  })

  test('a page beyond 10,000 items is empty, and its cursor continues after them', async () => {
    const last = await providerList({ status: 'failed', page: '500' })
    const beyond = await providerList({ status: 'failed', page: '501' })
    expect(beyond).toMatchObject({ references: [], meta: { has_more: true } })
    const following = async ({ meta }: typeof last) =>
      (await providerList({ status: 'failed', cursor: meta.next_cursor })).references
    expect(await following(last)).toHaveLength(20)
    expect(await following(beyond)).toEqual(await following(last))
  })
})
