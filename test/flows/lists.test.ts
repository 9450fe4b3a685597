import { beforeAll, describe, expect, test, vi } from 'vitest'
import { CHARGE, chargeBody, type Reply, useService } from '../support/running-service.ts'

const service = useService({ timeScale: 60 })
const demo = 'sk_sandbox_demo'
const LIST = '/api/v1/payment-providers/debit-requests'
const BANK_LIST = '/api/v1/banks/debit-transactions'

// A person of its own, whose debits stay where the tests put them.
const phone = '+233245000001'
const references: string[] = []

const charge = async (fields: Record<string, unknown>, credential = demo): Promise<string> => {
  const { body } = await service.send('POST', CHARGE, { credential, body: chargeBody(fields) })
  return body.data.reference
}

const get = (path: string, credential = demo): Promise<Reply> =>
  service.send('GET', path, { credential })

const listed = ({ body }: Reply): string[] =>
  body.data.map(({ reference }: { reference: string }) => reference)

beforeAll(async () => {
  for (const bank of ['GCB', 'ECO']) {
    await service.operate('customer', 'link', {
      phone,
      bank,
      name: 'Efua Sarpong',
      'account-number': '1041005001',
    })
  }
  // Accepted, and approved after half a second of this sandbox: five of them complete.
  for (const amount of ['1.00', '2.00', '3.00', '4.00', '5.50']) {
    references.unshift(await charge({ phone_number: phone, amount, metadata: { amount } }))
  }
  await vi.waitFor(async () => {
    expect(listed(await get(`${LIST}?status=completed&per_page=100`))).toEqual(references)
  }, 15_000)
})

describe('list-debit-requests', () => {
  test('the partner’s debits in one status, newest first, with the published fields', async () => {
    const { status, body } = await get(`${LIST}?status=completed`)
    expect(status).toBe(200)
    expect(body.meta).toMatchObject({
      current_page: 1,
      per_page: 20,
      total_pages: 1,
      total_count: 5,
      next_cursor: null,
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
    })
  })

  test('in pages, and by cursor as far as they go', async () => {
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

  test('never another partner’s, whatever page or cursor is asked for', async () => {
    const own = await get(`${LIST}?status=completed&per_page=2`)
    const cursor = own.body.meta.next_cursor
    for (const query of ['', '&page=2', `&cursor=${cursor}`]) {
      const foreign = await get(`${LIST}?status=completed${query}`, 'sk_sandbox_other')
      expect(foreign.body.data).toEqual([])
    }
  })

  test.each([
    ['', 'status'],
    ['?status=nonsense', 'status'],
    ['?status=completed&status=failed', 'status'],
    ['?status=completed&per_page=101', 'per_page'],
    ['?status=completed&page=0', 'page'],
    ['?status=completed&page=1000000000', 'page'],
    ['?status=completed&cursor=x', 'cursor'],
  ])('%s: 422/1007 under its name', async (query, field) => {
    const { status, body } = await get(`${LIST}${query}`)
    expect([status, body.error.code, Object.keys(body.details)]).toEqual([422, 1007, [field]])
  })
})

describe('list-debit-transactions', () => {
  const list = (query: string, credential = 'bt_sandbox_gcb') =>
    get(`${BANK_LIST}?phone_number=${encodeURIComponent(phone)}${query}`, credential)

  test('what a customer has at this bank, with its sums as numbers of two decimals', async () => {
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

  test('pending is what is shown when nothing is asked for; none is an empty list', async () => {
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

  test('another bank sees none of it', async () => {
    const { body } = await list('&status=all', 'bt_sandbox_eco')
    expect(body.data).toMatchObject({ customer: 'Efua Sarpong', total_count: 0 })
  })

  test('a number without an account at this bank: 422/1007 customer', async () => {
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

  test('a missing number: 422/1007; a provider’s key: 401/1401', async () => {
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

  test('approved: no event, and the five-minute clock stands still', async () => {
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

  test('completed and failed as in an update; what comes after is 422/3001', async () => {
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

  test('a status that is none, and a transaction of another bank', async () => {
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
