import { describe, expect, test, vi } from 'vitest'
import { type Reply, useService } from '../support/running-service.ts'

const service = useService()
const BANKS = '/api/v1/payment-providers/banks'

const get = (path: string, credential = 'sk_sandbox_demo'): Promise<Reply> =>
  service.send('GET', path, { credential })

const refusal = ({ status, body }: Reply) => ({ status, ...body.error })

describe('list-banks', () => {
  test('returns every live bank by name with the three published fields', async () => {
    const { status, body } = await get(BANKS)
    expect(status).toBe(200)
    const names = body.data.map(({ name }: { name: string }) => name)
    expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'en')))
    expect(names.length).toBeGreaterThanOrEqual(8)
    expect(names).not.toContain('National Investment Bank Limited')
    expect(body.data).toContainEqual({
      name: 'GCB Bank PLC',
      identifier: 'GCB',
      country_code: 'GH',
    })
    expect(body.meta).not.toHaveProperty('total_count')
  })

  test('returns pages on request', async () => {
    const all = (await get(BANKS)).body.data
    const second = await get(`${BANKS}?page=2&per_page=3`)
    expect(second.body.data).toEqual(all.slice(3, 6))
    expect(second.body.meta).toMatchObject({
      current_page: 2,
      per_page: 3,
      total_pages: Math.ceil(all.length / 3),
      total_count: all.length,
    })
    expect((await get(`${BANKS}?page=9000`)).body.data).toEqual([])
  })

  test.each([
    'per_page=0',
    'per_page=-1',
    'per_page=101',
    'per_page=1e3',
    'per_page=20;',
    'per_page=2&per_page=3',
    'per_page[]=2',
    `per_page=1${'0'.repeat(30)}`,
  ])('rejects %s with 422/1007 and the name of the field', async (query) => {
    const reply = await get(`${BANKS}?${query}`)
    expect(refusal(reply)).toMatchObject({ status: 422, code: 1007 })
    expect(Object.keys(reply.body.details)).toEqual(['per_page'])
  })

  test('hides an inactive bank, as get-bank does', async () => {
    await service.operate('bank', 'update', { bank: 'ZEN', status: 'inactive' })
    await vi.waitFor(async () => {
      const { body } = await get(BANKS)
      expect(JSON.stringify(body.data)).not.toContain('ZEN')
    }, 5_000)
    expect(refusal(await get(`${BANKS}/ZEN`))).toMatchObject({ status: 404, code: 1404 })
  })
})

describe('get-bank', () => {
  test('returns the bank with its status, connector type and metadata', async () => {
    const { status, body } = await get(`${BANKS}/GCB`)
    expect(status).toBe(200)
    expect(body.data).toEqual({
      name: 'GCB Bank PLC',
      identifier: 'GCB',
      country_code: 'GH',
      status: 'live',
      connector_type: 'both',
      metadata: { ussd_code: '*422#', app_config: { package_name: 'com.gcb.mobile' } },
    })
  })

  test.each(['gcb', 'XXX', 'NIB', '%00', 'G'.repeat(3_000)])(
    'gets 404/1404 Resource not found for %s',
    async (identifier) => {
      expect(refusal(await get(`${BANKS}/${identifier}`))).toEqual({
        status: 404,
        code: 1404,
        message: 'Resource not found',
        category: 'general',
        severity: 'low',
      })
    },
  )
})

describe('lookup-customer-banks', () => {
  const lookup = (phone: string) => get(`${BANKS}/lookup/${phone}`)

  test('returns the customer and the banks with the published number', async () => {
    const { status, body } = await lookup('%2B233241234567')
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      phone_number: '+233241234567',
      customer: 'Ama Mensah',
      data: [
        { name: 'Ecobank Ghana PLC', identifier: 'ECO', country_code: 'GH' },
        { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' },
      ],
      meta: expect.objectContaining({ api_version: 'v1' }),
    })
  })

  test.each(['+233241234567', '%2b233241234567', '%2B23324%31234567'])(
    'decodes the parameter once: %s',
    async (phone) => {
      expect((await lookup(phone)).body).toMatchObject({ phone_number: '+233241234567' })
    },
  )

  test.each(
    ['%2B233249999999', '%2B233240000001', '%20233241234567', '233241234567', 'x'].concat([
      '%',
      '%zz',
      '%ff',
      '%00',
      '..%2f',
      '%252B233241234567',
    ]),
  )(
    'gets 404/1404 Account not found for an unknown, inactive or malformed number: %s',
    async (phone) => {
      expect(refusal(await lookup(phone))).toEqual({
        status: 404,
        code: 1404,
        message: 'Account not found',
        category: 'accounts',
        severity: 'low',
      })
    },
  )

  test('rejects the token of a bank', async () => {
    const reply = await get(`${BANKS}/lookup/%2B233241234567`, 'bt_sandbox_gcb')
    expect(refusal(reply)).toMatchObject({ status: 401, code: 1401 })
  })
})
