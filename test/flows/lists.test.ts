import { beforeAll, describe, expect, test, vi } from 'vitest'
import { type Reply, useService } from '../support/running-service.ts'

const service = useService({ timeScale: 60 })
const demo = 'sk_sandbox_demo'
const LIST = '/api/v1/payment-providers/debit-requests'
const BANK_LIST = '/api/v1/banks/debit-transactions'

// No other test uses this customer.
const phone = '+233245000001'
const references: string[] = []
let failed = ''

const charge = async (fields: Record<string, unknown>, credential = demo): Promise<string> => {
  return (await service.charge(fields, credential)).reference
}

const get = (path: string, credential = demo): Promise<Reply> =>
  service.send('GET', path, { credential })

const listed = ({ body }: Reply): string[] =>
  body.data.map(({ reference }: { reference: string }) => reference)

beforeAll(async () => {
  // These tests send more requests a minute than the published limit.
  const wide = { operation: 'list-debit-requests', 'per-minute': '1000' }
  await service.operate('limit', 'set', { provider: 'demo', ...wide })
  for (const bank of ['GCB', 'ECO']) {
    await service.operate('customer', 'link', {
      phone,
      bank,
      name: 'Efua Sarpong',
      'account-number': '1041005001',
    })
  }
  // The bank accepts these five and completes them after half a second of this sandbox.
  for (const amount of ['1.00', '2.00', '3.00', '4.00', '5.50']) {
    references.unshift(await charge({ phone_number: phone, amount, metadata: { amount } }))
  }
  // The bank rejects it, because this number has no account.
  failed = await charge({ phone_number: '+233245000099', partner_reference: 'no-account' })
  await vi.waitFor(async () => {
    expect(listed(await get(`${LIST}?status=completed&per_page=100`))).toEqual(references)
    expect(listed(await get(`${LIST}?status=failed`))).toEqual([failed])
  }, 15_000)
})

describe('list-debit-requests', () => {
  test('returns the debits in one status, newest first, with the published fields', async () => {
    const { status, body } = await get(`${LIST}?status=completed`)
    expect(status).toBe(200)
    expect(body.meta).toMatchObject({
      current_page: 1,
      per_page: 20,
      total_pages: 1,
      total_count: 5,
      next_cursor: null,
      has_more: false,
    })
    expect(body.data[0]).toMatchObject({
      id: expect.stringMatching(/^dt_[0-9]+$/),
      reference: references[0],
      status: 'completed',
      amount: '5.50',
      currency: 'GHS',
      customer: { name: 'Efua Sarpong', phone_number: phone, account_number: '1041005001' },
      bank: { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' },
      metadata: { amount: '5.50' },
      error_details: null,
    })
  })

  test('returns the code and the message of a failure', async () => {
    const { body } = await get(`${LIST}?status=failed`)
    const details = { code: 'invalid_account', message: expect.any(String) }
    expect(body.data[0]).toMatchObject({ reference: failed, error_details: details })
    expect(body.data[0].error_message).toBe(body.data[0].error_details.message)
    const read = await get(`${LIST}/${failed}`)
    expect(read.body.data).toEqual({
      ...body.data[0],
      refund: null,
      settlement: null,
      response: expect.objectContaining({ error_details: body.data[0].error_details }),
    })
  })

  test('returns debits in all statuses by default, newest first', async () => {
    const all = [failed, ...references]
    expect(listed(await get(LIST))).toEqual(all)
    const pages = await Promise.all([1, 2, 3].map((page) => get(`${LIST}?per_page=2&page=${page}`)))
    expect(pages.flatMap(listed)).toEqual(all)
    expect(pages[0]?.body.meta).toMatchObject({ total_pages: 3, total_count: 6, has_more: true })
    const { next_cursor } = pages[1]?.body.meta ?? {}
    expect(listed(await get(`${LIST}?per_page=2&cursor=${next_cursor}`))).toEqual(all.slice(4))
  })

  test('includes created_from and excludes created_to', async () => {
    const { body } = await get(LIST)
    const times: string[] = body.data.map((one: { created_at: string }) => one.created_at)
    const [newest = '', , third = '', , fifth = ''] = times
    const between = (from: string, to: string, more = '') =>
      get(`${LIST}?created_from=${from}&created_to=${to}${more}`)
    const expected = body.data.slice(3, 5).map((one: { reference: string }) => one.reference)
    const span = await between(fifth, third)
    expect(listed(span)).toEqual(expected)
    expect(span.body.meta).toMatchObject({ total_count: 2, total_pages: 1, has_more: false })
    const first = await between(fifth, third, '&per_page=1')
    const { next_cursor } = first.body.meta
    const second = await between(fifth, third, `&per_page=1&cursor=${next_cursor}`)
    expect([first, second].flatMap(listed)).toEqual(expected)
    expect(second.body.meta).toMatchObject({ next_cursor: null, has_more: false })
    const day = newest.slice(0, 10)
    const dayAfter = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
    const [, , , , , oldest = ''] = times
    expect(listed(await between(oldest.slice(0, 10), dayAfter))).toHaveLength(6)
    expect(listed(await get(`${LIST}?created_from=${dayAfter}`))).toEqual([])
    expect(listed(await between(newest, newest))).toEqual([])
    const offset = `${new Date(Date.parse(fifth) + 3_600_000).toISOString().slice(0, -1)}%2B01:00`
    expect(listed(await between(offset, third))).toEqual(expected)
  })

  test('finds the transaction with a partner_reference, if it matches the other filters', async () => {
    const own = `${LIST}?partner_reference=no-account`
    const found = await get(own)
    expect(listed(found)).toEqual([failed])
    expect(found.body.meta).toMatchObject({
      current_page: 1,
      total_pages: 1,
      total_count: 1,
      next_cursor: null,
      has_more: false,
    })
    expect(listed(await get(`${own}&status=failed&created_from=2026-01-01`))).toEqual([failed])
    const empty = [
      `${own}&status=completed`,
      `${own}&created_to=2026-01-01`,
      `${own}&page=2`,
      `${LIST}?partner_reference=no-accoun`,
      `${LIST}?partner_reference=${encodeURIComponent('NO-ACCOUNT')}`,
    ]
    for (const query of empty) expect(listed(await get(query)), query).toEqual([])
    expect(listed(await get(own, 'sk_sandbox_other'))).toEqual([])
  })

  test('returns an empty list for the status cancelled', async () => {
    const { status, body } = await get(`${LIST}?status=cancelled`)
    expect([status, body.data, body.meta.total_count]).toEqual([200, [], 0])
  })

  test('returns numbered pages, and all debits by cursor', async () => {
    const first = await get(`${LIST}?status=completed&per_page=2`)
    const second = await get(`${LIST}?status=completed&per_page=2&page=2`)
    expect([listed(first), listed(second)]).toEqual([
      references.slice(0, 2),
      references.slice(2, 4),
    ])
    expect(first.body.meta).toMatchObject({ total_pages: 3, total_count: 5 })
    const seen = listed(first)
    let cursor: string | null = first.body.meta.next_cursor
    while (cursor) {
      const page = await get(`${LIST}?status=completed&per_page=2&cursor=${cursor}`)
      seen.push(...listed(page))
      cursor = page.body.meta.next_cursor
    }
    expect(seen).toEqual(references)
  })

  test('returns none of them to another provider', async () => {
    for (const query of ['', '&page=2']) {
      const foreign = await get(`${LIST}?status=completed${query}`, 'sk_sandbox_other')
      expect(foreign.body.data).toEqual([])
    }
  })

  test('rejects a cursor of another filter or another provider', async () => {
    const own = await get(`${LIST}?status=completed&per_page=2`)
    const cursor = own.body.meta.next_cursor
    const refused = await Promise.all([
      get(`${LIST}?status=completed&cursor=${cursor}`, 'sk_sandbox_other'),
      ...['', 'status=failed&', 'status=completed&created_from=2026-01-01&'].map((query) =>
        get(`${LIST}?${query}cursor=${cursor}`),
      ),
    ])
    for (const { status, body } of refused) {
      expect([status, body.details]).toEqual([422, { cursor: ['must be a cursor of this list'] }])
    }
    expect(listed(await get(`${LIST}?status=completed&per_page=3&cursor=${cursor}`))).toEqual(
      references.slice(2),
    )
  })

  test.each([
    ['?status=nonsense', 'status'],
    ['?created_from=yesterday', 'created_from'],
    ['?created_from=2026-02-30', 'created_from'],
    ['?created_from=2026-11-21T12:00:00', 'created_from'],
    ['?created_to=9999-12-31T23:59:59-01:00', 'created_to'],
    ['?created_from=2026-11-22&created_to=2026-11-21', 'created_to'],
    ['?partner_reference=', 'partner_reference'],
    [`?partner_reference=${'x'.repeat(51)}`, 'partner_reference'],
    ['?partner_reference=a%00b', 'partner_reference'],
    ['?status=completed&status=failed', 'status'],
    ['?status=completed&per_page=101', 'per_page'],
    ['?status=completed&page=0', 'page'],
    ['?status=completed&page=1000000000', 'page'],
    ['?status=completed&cursor=x', 'cursor'],
  ])('rejects %s with 422/1007 and the name of the field', async (query, field) => {
    const { status, body } = await get(`${LIST}${query}`)
    expect([status, body.error.code, Object.keys(body.details)]).toEqual([422, 1007, [field]])
  })
})

describe('list-debit-transactions', () => {
  const list = (query: string, credential = 'bt_sandbox_gcb') =>
    get(`${BANK_LIST}?phone_number=${encodeURIComponent(phone)}${query}`, credential)

  test('returns the debits of a customer at this bank, with sums of two decimals', async () => {
    const { status, body } = await list('&status=all')
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      customer: 'Efua Sarpong',
      phone_number: phone,
      bank: { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' },
      total_count: 5,
      total_amount: 15.5,
      status_filter: 'all',
    })
    expect(body.meta).toMatchObject({
      current_page: 1,
      per_page: 20,
      total_pages: 1,
      next_cursor: null,
      has_more: false,
    })
    expect(body.data.transactions[0]).toMatchObject({
      id: expect.any(Number),
      uuid: expect.any(String),
      amount: 5.5,
      account: {
        account_number: '1041005001',
        account_name: 'Efua Sarpong',
        account_type: 'mobile_money',
      },
      payment_partner: { name: 'Demo Payments', partner_reference: expect.any(String) },
    })
  })

  test('returns pending debits by default, or an empty list', async () => {
    const { body } = await list('')
    expect(body.data).toMatchObject({
      transactions: [],
      total_count: 0,
      total_amount: 0,
      status_filter: 'pending',
    })
    const counts = await Promise.all(
      ['processing', 'completed', 'failed'].map(
        async (status) => (await list(`&status=${status}`)).body.data.total_count,
      ),
    )
    expect(counts).toEqual([0, 5, 0])
  })

  test('returns pages by number and by cursor', async () => {
    const referencesOf = ({ body }: Reply): string[] =>
      body.data.transactions.map(({ reference }: { reference: string }) => reference)
    const first = await list('&status=completed&per_page=2')
    const second = await list('&status=completed&per_page=2&page=2')
    const next = await list(`&status=completed&per_page=3&cursor=${first.body.meta.next_cursor}`)
    expect([first, second].flatMap(referencesOf)).toEqual(references.slice(0, 4))
    expect(referencesOf(next)).toEqual(references.slice(2))
    expect(first.body.data).toMatchObject({ total_count: 5, total_amount: 15.5 })
    expect(next.body.data).not.toHaveProperty('total_count')
    expect(next.body.data).not.toHaveProperty('total_amount')
    expect(next.body.meta).toMatchObject({ per_page: 3, next_cursor: null, has_more: false })
    expect(next.body.meta).not.toHaveProperty('current_page')
  })

  test('returns an empty list for the status cancelled', async () => {
    const { status, body } = await list('&status=cancelled')
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ transactions: [], total_count: 0, total_amount: 0 })
  })

  test.each([
    ['page=0', 'page'],
    ['per_page=101', 'per_page'],
    ['cursor=x', 'cursor'],
  ])('rejects %s with 422/1007 and the name of the field', async (query, field) => {
    const { status, body } = await list(`&${query}`)
    expect([status, body.error.code, Object.keys(body.details)]).toEqual([422, 1007, [field]])
  })

  test('returns none of them to another bank', async () => {
    const { body } = await list('&status=all', 'bt_sandbox_eco')
    expect(body.data).toMatchObject({ customer: 'Efua Sarpong', total_count: 0 })
  })

  test('rejects a number without an account at this bank with 422/1007 customer', async () => {
    const { status, body } = await get(
      `${BANK_LIST}?phone_number=%2B233249999999`,
      'bt_sandbox_gcb',
    )
    expect(status).toBe(422)
    expect(body.details).toEqual({ customer: ['account not found'] })
  })

  test.each(['status=pending,failed', 'status=ALL'])(
    '%s: 422/1007 status_filter with the allowed values',
    async (query) => {
      const { status, body } = await list(`&${query}`)
      expect([status, body.error.code]).toEqual([422, 1007])
      expect(body.details).toEqual({
        status_filter: ['must be one of pending, processing, completed, failed, all'],
      })
    },
  )

  test('gets 422/1007 without a number, and 401/1401 with the key of a provider', async () => {
    const missing = await get(BANK_LIST, 'bt_sandbox_gcb')
    expect(missing.body.details).toEqual({ phone_number: ['is required'] })
    expect((await list('', demo)).status).toBe(401)
  })
})

describe('debit-callback', () => {
  const silent = { phone_number: '+233244444444' }

  const callback = (uuid: string, body: object, credential = 'bt_sandbox_gcb') =>
    service.send('POST', `${BANK_LIST}/${uuid}/callback`, { credential, body })

  const open = async (): Promise<string> => {
    const reference = await charge(silent)
    return vi.waitFor(async () => {
      const { body } = await get(`${LIST}/${reference}`)
      expect(body.data.status).toBe('processing')
      return body.data.uuid
    }, 5_000)
  }

  test('stops the five-minute timeout with approved and sends no event', async () => {
    const uuid = await open()
    const approved = { status: 'approved', bank_reference: 'B-1' }
    const first = await callback(uuid, approved)
    expect(first.status).toBe(200)
    expect(first.body.data).toMatchObject({
      id: expect.stringMatching(/^dt_[0-9]+$/),
      uuid,
      status: 'processing',
      amount: '100.00',
      currency: 'GHS',
      fee: null,
      customer: { name: 'Abena Osei', phone_number: '+233244444444', account_number: '1041001005' },
      bank: { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' },
    })
    expect((await callback(uuid, approved)).body.data).toEqual(first.body.data)
    // In this sandbox five minutes are five seconds, and ten are ten.
    const reference = first.body.data.reference
    await vi.waitFor(
      async () => {
        const { body } = await get(`${LIST}/${reference}`)
        expect(body.data.response.error_message).toBe('Bank processing timeout')
      },
      { timeout: 15_000, interval: 1_000 },
    )
  })

  test('accepts completed and failed as an update does, and rejects later reports with 422/3001', async () => {
    const uuid = await open()
    const done = { status: 'completed', bank_reference: 'B-2', approval_method: 'mobile_api' }
    const { body } = await callback(uuid, { ...done, fee: '0.75' })
    expect(body.data).toMatchObject({
      status: 'completed',
      fee: '0.75',
      approval_method: 'mobile_api',
      completed_at: expect.any(String),
    })
    for (const status of ['approved', 'failed']) {
      const late = await callback(uuid, { status, bank_reference: 'B', error_message: 'No' })
      expect([late.status, late.body.error.code]).toEqual([422, 3001])
    }
  })

  test('rejects an unknown status and a transaction of another bank', async () => {
    const uuid = await open()
    const wrong = await callback(uuid, { status: 'processing', bank_reference: 'B' })
    expect(wrong.body.details).toEqual({
      status: ['must be one of approved, completed, failed'],
    })
    const foreign = await callback(
      uuid,
      { status: 'approved', bank_reference: 'B' },
      'bt_sandbox_eco',
    )
    expect([foreign.status, foreign.body.error]).toEqual([
      404,
      {
        code: 1404,
        message: 'Transaction not found',
        category: 'transactions',
        severity: 'low',
      },
    ])
  })
})
