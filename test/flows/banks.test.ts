import { describe, expect, test } from 'vitest'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { pathOf, sampleEvent, sign } from '../support/requests.ts'
import { type Reply, useService } from '../support/running-service.ts'

/** Banks as providers read them, and HEAD on every read (RFC 9110, 9.3.2). */

const service = useService()
const BANKS = '/api/v1/payment-providers/banks'

const notFound = (message: string, category: string) => ({
  ...{ status: 404, code: 1404, message, category, severity: 'low' },
  doc_url: `${service.sandbox().address}/docs/guides/errors#c1404`,
})
const errorOf = ({ status, body }: Reply) => ({ status, ...body.error })

describe('list-banks', () => {
  test('the list has every live bank by name with the three published fields', async () => {
    const { status, body } = await service.get(BANKS)
    expect(status).toBe(200)
    const names = body.data.map(({ name }: { name: string }) => name)
    expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'en')))
    expect(names.length).toBeGreaterThanOrEqual(8)
    expect(names).not.toContain('National Investment Bank Limited')
    const gcb = { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' }
    expect(body.data).toContainEqual(gcb)
    expect(body.meta).not.toHaveProperty('total_count')
  })

  test('the list has pages on request', async () => {
    const all = (await service.get(BANKS)).body.data
    const second = await service.get(`${BANKS}?page=2&per_page=3`)
    expect(second.body.data).toEqual(all.slice(3, 6))
    const total_pages = Math.ceil(all.length / 3)
    const page = { current_page: 2, per_page: 3, total_pages, total_count: all.length }
    expect(second.body.meta).toMatchObject(page)
    expect((await service.get(`${BANKS}?page=9000`)).body.data).toEqual([])
  })
})

describe('get-bank', () => {
  test('a reply has the bank with its status, connector type and metadata', async () => {
    expect((await service.get(`${BANKS}/GCB`)).body.data).toEqual({
      ...{ name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH', status: 'live' },
      connector_type: 'both',
      metadata: {
        ...{ ussd_code: '*422#', app_config: { package_name: 'com.gcb.mobile' } },
        health: { state: 'up', since: null },
      },
    })
  })

  test('an unknown, inactive or malformed bank gets 404/1404 Resource not found', async () => {
    await service.call('bank', 'update', { bank: 'ZEN', status: 'inactive' })
    expect(JSON.stringify((await service.get(BANKS)).body.data)).not.toContain('ZEN')
    const error = notFound('Resource not found', 'general')
    for (const identifier of ['gcb', 'XXX', 'NIB', 'ZEN', '%00', 'G'.repeat(3_000)]) {
      expect(errorOf(await service.get(`${BANKS}/${identifier}`))).toEqual(error)
    }
  })
})

describe('lookup-customer-banks', () => {
  const lookup = (phone: string) => service.get(`${BANKS}/lookup/${phone}`)

  test.each(['%2B233241234567', '+233241234567', '%2b233241234567', '%2B23324%31234567'])(
    'the lookup of %s, which is decoded once, returns the customer and the banks',
    async (phone) => {
      expect((await lookup(phone)).body).toEqual({
        ...{ success: true, phone_number: '+233241234567', customer: 'Ama Mensah' },
        data: [
          { name: 'Ecobank Ghana PLC', identifier: 'ECO', country_code: 'GH' },
          { name: 'GCB Bank PLC', identifier: 'GCB', country_code: 'GH' },
        ],
        meta: expect.objectContaining({ api_version: 'v1' }),
      })
    },
  )

  test('the customer is the holder of an account at a live bank', async () => {
    const account = { phone: '+233241234567', 'account-number': '1234567' }
    await service.call('customer', 'link', { ...account, bank: 'ADB', name: 'Former Owner' })
    const customer = async () => (await lookup('%2B233241234567')).body.customer
    expect(await customer()).toBe('Former Owner')
    await service.call('bank', 'disable', { bank: 'ADB' })
    expect(await customer()).toBe('Ama Mensah')
  })

  test.each([
    ...['%2B233249999999', '%2B233240000001', '%20233241234567', '233241234567', 'x', '%'],
    ...['%zz', '%ff', '%00', '..%2f', '%252B233241234567'],
  ])('the lookup of %s gets 404/1404 Account not found', async (phone) => {
    expect(errorOf(await lookup(phone))).toEqual(notFound('Account not found', 'accounts'))
  })
})

/** Headers of the connection, and the length that HEAD may omit. */
const connectionHeaders = new Set(['connection', 'keep-alive', 'content-length'])
const namesOf = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => !connectionHeaders.has(name)).sort()

const reads = operationNames.filter((name) => operations[name].method === 'GET')

test.each(reads)('a HEAD has the status and the headers of GET: %s', async (name) => {
  const credential = operations[name].caller === 'bank' ? 'bt_sandbox_gcb' : 'sk_sandbox_demo'
  const path = `${pathOf(name)}?phone_number=%2B233241234567`
  const get = await service.send('GET', path, { credential })
  const head = await service.send('HEAD', path, { credential })
  expect(head.status).toBe(get.status)
  expect(namesOf(head.headers)).toEqual(namesOf(get.headers))
  expect(head.body).toBeUndefined()
})

test('a HEAD gets no body from the function either, and is signed as HEAD', async () => {
  const event = { ...(await sampleEvent('get-bank')), httpMethod: 'HEAD' }
  expect(await service.invoke('get-bank', event)).toMatchObject({ statusCode: 200, body: '' })
  const head = async (signed: string) => {
    const headers = sign({ method: signed, path: BANKS })
    const credential = 'sk_sandbox_signed'
    return (await service.send('HEAD', BANKS, { credential, headers })).status
  }
  expect([await head('HEAD'), await head('GET')]).toEqual([200, 401])
  expect((await service.send('HEAD', pathOf('charge'))).status).toBe(405)
})
