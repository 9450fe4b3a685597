import { beforeAll, describe, expect, test } from 'vitest'
import { codeOf, type Reply, type Shown, useService } from '../support/running-service.ts'

const service = useService({ timeScale: 60 })
const LIST = '/api/v1/payment-providers/debit-requests'
const BANK_LIST = '/api/v1/banks/debit-transactions'
const GCB = { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' }

// No other test uses this customer.
const phone = '+233245000001'
/** The newest first: five completed debits, and one that the bank rejects without an account. */
const references: string[] = []
let failed = ''

const get = (query = '', credential?: string) => service.get(`${LIST}${query}`, credential)
const listed = ({ body }: Reply): string[] =>
  (body.data.transactions ?? body.data).map(({ reference }: Shown) => reference)

beforeAll(async () => {
  // These tests send more requests a minute than the published limit.
  const operation = { operation: 'list-debit-requests', 'per-minute': '1000' }
  await service.call('limit', 'set', { provider: 'demo', ...operation })
  const account = { phone, name: 'Efua Sarpong', 'account-number': '1041005001' }
  for (const bank of ['GCB', 'ECO']) await service.call('customer', 'link', { bank, ...account })
  for (const amount of ['1.00', '2.00', '3.00', '4.00', '5.50']) {
    const charged = await service.charge({ phone_number: phone, amount, metadata: { amount } })
    references.unshift(charged.reference)
  }
  const rejected = { phone_number: '+233245000099', partner_reference: 'no-account' }
  failed = (await service.chargeUntil('failed', rejected)).reference
  await Promise.all(references.map((reference) => service.until(reference, 'completed')))
})

describe('list-debit-requests', () => {
  test('the list has the debits in one status, newest first, with the published fields', async () => {
    const { body } = await get('?status=completed')
    const page = { current_page: 1, per_page: 20, total_pages: 1, total_count: 5 }
    expect(body.meta).toMatchObject({ ...page, next_cursor: null, has_more: false })
    expect(listed({ body } as Reply)).toEqual(references)
    const customer = { name: 'Efua Sarpong', phone_number: phone, account_number: '*********5001' }
    expect(body.data[0]).toMatchObject({
      ...{ id: expect.stringMatching(/^dt_[0-9]+$/), reference: references[0] },
      ...{ status: 'completed', amount: '5.50', currency: 'GHS', customer, bank: GCB },
      ...{ metadata: { amount: '5.50' }, error_details: null },
    })
  })

  test('the list has the code and the message of a failure, as the status read does', async () => {
    const [debit] = (await get('?status=failed')).body.data
    const { error_message, error_details } = debit
    expect(error_details).toEqual({ code: 'invalid_account', message: error_message })
    const read = await get(`/${failed}`)
    const response = expect.objectContaining({ error_details })
    expect(read.body.data).toEqual({
      ...debit,
      refund: null,
      reversal_request: null,
      settlement: null,
      response,
    })
  })

  test('the list has numbered pages and all debits by cursor, by default in all statuses', async () => {
    for (const [status, all] of [
      ['', [failed, ...references]],
      ['status=completed&', references],
    ] as const) {
      expect(listed(await get(`?${status}`))).toEqual(all)
      const page = (n: number) => get(`?${status}per_page=2&page=${n}`)
      const pages = await Promise.all([1, 2, 3].map(page))
      expect(pages.flatMap(listed)).toEqual(all)
      const total = { total_pages: 3, total_count: all.length, has_more: true }
      expect(pages[0]?.body.meta).toMatchObject(total)
      const next = await get(`?${status}per_page=4&cursor=${pages[0]?.body.meta.next_cursor}`)
      expect(listed(next)).toEqual(all.slice(2))
      expect(next.body.meta).not.toHaveProperty('total_count')
    }
    const cancelled = await get('?status=cancelled')
    expect([cancelled.body.data, cancelled.body.meta.total_count]).toEqual([[], 0])
    for (const status of ['pending', 'processing', 'reversed']) {
      expect(listed(await get(`?status=${status}`)), status).toEqual([])
    }
  })

  test('the list includes created_from and excludes created_to', async () => {
    const { body } = await get()
    const times: string[] = body.data.map((one: Shown) => one.created_at)
    const [newest = '', , third = '', , fifth = '', oldest = ''] = times
    const between = (from: string, to: string) => get(`?created_from=${from}&created_to=${to}`)
    const expected = listed({ body } as Reply).slice(3, 5)
    const span = await between(fifth, third)
    expect(listed(span)).toEqual(expected)
    expect(span.body.meta).toMatchObject({ total_count: 2, total_pages: 1, has_more: false })
    const day = newest.slice(0, 10)
    const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
    expect(listed(await between(oldest.slice(0, 10), next))).toHaveLength(6)
    expect(listed(await get(`?created_from=${next}`))).toEqual([])
    expect(listed(await between(newest, newest))).toEqual([])
    const offset = `${new Date(Date.parse(fifth) + 3_600_000).toISOString().slice(0, -1)}%2B01:00`
    expect(listed(await between(offset, third))).toEqual(expected)
  })

  test('the list finds the transaction with a partner_reference, if it matches the other filters', async () => {
    const own = '?partner_reference=no-account'
    const found = await get(own)
    const page = { current_page: 1, total_pages: 1, total_count: 1 }
    expect(found.body.meta).toMatchObject({ ...page, next_cursor: null, has_more: false })
    for (const query of ['', '&status=failed&created_from=2026-01-01']) {
      expect(listed(await get(`${own}${query}`)), query).toEqual([failed])
    }
    const others = ['&status=completed', '&created_to=2026-01-01', '&page=2'].map((q) => own + q)
    for (const query of [...others, '?partner_reference=no-accoun', own.toUpperCase()]) {
      const name = query.replace('PARTNER_REFERENCE', 'partner_reference')
      expect(listed(await get(name)), name).toEqual([])
    }
  })

  test('the list of another provider has none of them, and rejects cursors of other lists', async () => {
    const other = 'sk_sandbox_other'
    const queries = ['?status=completed', '?page=2', '?partner_reference=no-account']
    for (const query of queries) expect(listed(await get(query, other))).toEqual([])
    const cursor = (await get('?status=completed&per_page=2')).body.meta.next_cursor
    const refused = await Promise.all([
      get(`?status=completed&cursor=${cursor}`, other),
      ...['', 'status=failed&', 'status=completed&created_from=2026-01-01&'].map((query) =>
        get(`?${query}cursor=${cursor}`),
      ),
    ])
    const details = { cursor: ['must be a cursor of this list'] }
    for (const reply of refused) expect([reply.status, reply.body.details]).toEqual([422, details])
  })
})

describe('list-debit-transactions', () => {
  const list = (query = '', credential = 'bt_sandbox_gcb') =>
    service.get(`${BANK_LIST}?phone_number=${encodeURIComponent(phone)}${query}`, credential)

  test('the list has the debits of a customer at this bank, with sums of two decimals', async () => {
    const { body } = await list('&status=all')
    expect(body.data).toMatchObject({
      ...{ customer: 'Efua Sarpong', phone_number: phone, bank: GCB },
      ...{ total_count: 5, total_amount: 15.5, status_filter: 'all' },
    })
    const page = { current_page: 1, per_page: 20, total_pages: 1 }
    expect(body.meta).toMatchObject({ ...page, next_cursor: null, has_more: false })
    const account = { account_number: '1041005001', account_name: 'Efua Sarpong' }
    expect(body.data.transactions[0]).toMatchObject({
      ...{ id: expect.any(Number), uuid: expect.any(String), amount: 5.5 },
      account: { ...account, account_type: 'mobile_money' },
      payment_partner: { name: 'Demo Payments', partner_reference: expect.any(String) },
    })
  })

  test('the list has pending debits by default, or is empty', async () => {
    const empty = { transactions: [], total_count: 0, total_amount: 0 }
    for (const query of ['', '&status_filter=all', '&status=pending&status_filter=all']) {
      expect((await list(query)).body.data).toMatchObject({ ...empty, status_filter: 'pending' })
    }
    expect((await list('&status=cancelled')).body.data).toMatchObject(empty)
    const other = await list('&status=all', 'bt_sandbox_eco')
    expect(other.body.data).toMatchObject({ customer: 'Efua Sarpong', ...empty })
  })

  test('the list rejects the cursor of another status and of another bank', async () => {
    const cursor = (await list('&status=all&per_page=2')).body.meta.next_cursor
    expect((await list(`&status=all&cursor=${cursor}`)).body.data.transactions).toHaveLength(3)
    for (const reply of [
      await list(`&status=failed&cursor=${cursor}`),
      await list(`&status=all&cursor=${cursor}`, 'bt_sandbox_eco'),
    ]) {
      const details = { cursor: ['must be a cursor of this list'] }
      expect([codeOf(reply), reply.body.details]).toEqual(['422/1007', details])
    }
  })

  test('each debit keeps the account that it was charged to, after its number moves to another', async () => {
    const owner = { bank: 'GCB', name: 'Yaw Owner', 'account-number': '1041006002' }
    const accountIn = async (number: string) => {
      await service.call('customer', 'link', { ...owner, phone: number })
      const query = `?phone_number=${encodeURIComponent(number)}&status=all`
      const { body } = await service.get(`${BANK_LIST}${query}`, 'bt_sandbox_gcb')
      expect(body.data.customer).toBe('Yaw Owner')
      return body.data.transactions[0].account
    }
    const old = { account_number: '1041005001', account_name: 'Efua Sarpong' }
    expect(await accountIn(phone)).toMatchObject(old)
    // The debit without an account has the current one.
    const current = { account_number: '1041006002', account_name: 'Yaw Owner' }
    expect(await accountIn('+233245000099')).toMatchObject(current)
  })
})
