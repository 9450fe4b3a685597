import { beforeAll, describe, expect, test } from 'vitest'
import type { BatchId } from '../../shared/domain/settlement/batch.ts'
import { debitLine } from '../../shared/domain/settlement/line.ts'
import { real } from '../../shared/runtime.ts'
import { writeReport } from '../../shared/settlement/report/bucket.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { findOpenBatch } from '../../shared/store/settlement/batches.ts'
import { addLines } from '../../shared/store/settlement/lines.ts'
import { providerId } from '../support/examples.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { type Reply, type Shown, statusPath, useService } from '../support/running-service.ts'

/** Settlement reads of a provider (docs/api.md#settlement-reads). */

const service = useService()

const LIST = '/api/v1/payment-providers/settlements'
const pathOf = (id: string) => `${LIST}/${id}`
const reportPath = (id: string, format = '') =>
  `${LIST}/${id}/report${format && `?format=${format}`}`

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** Returns a reply without its request id and time. */
const shown = ({ status, body }: Reply) => JSON.stringify({ status, ...body, meta: undefined })

let payee: Payee
let stranger: Payee
/** The batches of three nights: two debits; one; one with an adjustment of a debit of the first. */
let first: Shown
let second: Shown
let third: Shown
let foreign: Shown
let kept = ''
let reversed = ''
let last = ''

const get = (path: string, by = payee): Promise<Reply> => by.send('GET', path)

beforeAll(async () => {
  ;[payee, stranger] = await Promise.all([
    createPayee(service, 'settled'),
    createPayee(service, 'stranger'),
  ])
  const [[one, other], [theirs]] = await Promise.all([
    payee.complete('100.00', '33.33'),
    stranger.complete('7.00'),
  ])
  if (!one || !other || !theirs) throw new Error('three were completed')
  kept = one
  reversed = other
  first = (await payee.run(nightAfter(0))).built[0]
  foreign = (await stranger.run(nightAfter(0))).built[0]
  await payee.complete('5.00')
  second = (await payee.run(nightAfter(1))).built[0]
  ;[last = ''] = await payee.complete('250.00')
  await payee.reverse(reversed)
  third = (await payee.run(nightAfter(2))).built[0]
})

describe('list-settlements', () => {
  test('returns the batches of the provider in their current state, newest first', async () => {
    const { status, body } = await get(LIST)
    expect(status).toBe(200)
    expect(body.data.map(({ id }: Shown) => id)).toEqual([third.id, second.id, first.id])
    expect(body.data.map((batch: Shown) => batch.status)).toEqual([
      'pending',
      'completed',
      'completed',
    ])
    expect(body.meta).toMatchObject({ per_page: 20, next_cursor: null, has_more: false })
    expect(body.data[0]).toEqual(third)
  })

  test('returns pages of any size by cursor', async () => {
    for (const perPage of [1, 2, 3]) {
      const seen: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await get(`${LIST}?per_page=${perPage}${cursor && `&cursor=${cursor}`}`)
        expect(body.data.length).toBeLessThanOrEqual(perPage)
        seen.push(...body.data.map(({ id }: Shown) => id))
        cursor = body.meta.next_cursor
      }
      expect(seen, `${perPage} a page`).toEqual([third.id, second.id, first.id])
    }
  })

  test('returns to another provider its own batches and rejects the cursor', async () => {
    const { next_cursor: cursor, has_more } = (await get(`${LIST}?per_page=1`)).body.meta
    expect(has_more).toBe(true)
    const theirs = await get(LIST, stranger)
    expect(theirs.body.data.map(({ id }: Shown) => id)).toEqual([foreign.id])
    const { status, body } = await get(`${LIST}?cursor=${cursor}`, stranger)
    expect([status, body.details]).toEqual([422, { cursor: ['must be a cursor of this list'] }])
  })

  test.each([
    ['cursor', ['', 'x', 'MjAyNi0xMS0yMQ', 'MjAyNi0xMS0yMiMwMDAxIzE', '%27']],
    ['per_page', ['', '0', '101', '-1', '1.5', 'all', '2&per_page=2']],
  ])('rejects a malformed %s with 422/1007', async (name, values) => {
    for (const value of values) {
      const { status, body } = await get(`${LIST}?${name}=${value}`)
      expect([status, body.error?.code, Object.keys(body.details ?? {})], value).toEqual([
        422,
        1007,
        [name],
      ])
    }
  })
})

describe('get-settlement', () => {
  test('returns a paid batch with sums as text', async () => {
    const { status, body } = await get(pathOf(first.id))
    expect(status).toBe(200)
    expect(body.data).toEqual({
      id: expect.stringMatching(/^STL-[0-9]{8}-[A-Z0-9]{6}$/),
      uuid: first.uuid,
      provider: 'settled',
      currency: 'GHS',
      date: nightAfter(0),
      status: 'completed',
      count: 2,
      debits: 2,
      gross: '133.33',
      // 1.50 plus 0.49995, which is rounded half to even.
      fee: '2.00',
      adjustments: '0.00',
      net: '131.33',
      fee_schedule: { basis_points: 150, fixed: '0.00', minimum: null, maximum: null },
      created_at: TIME,
      sealed_at: TIME,
      processed_at: TIME,
      completed_at: TIME,
      failed_at: null,
      failure: null,
      bank_reference: expect.stringMatching(/^GCB-/),
      paid: '131.33',
      made_good_by: null,
    })
  })

  test('returns net = gross - fee + adjustments for a batch with an adjustment', async () => {
    expect((await get(pathOf(third.id))).body.data).toMatchObject({
      status: 'pending',
      count: 2,
      debits: 1,
      gross: '250.00',
      fee: '3.75',
      adjustments: '-32.83',
      net: '213.42',
      paid: null,
    })
  })

  test('is named by its debits, also for adjustments', async () => {
    const settlementOf = async (reference: string) =>
      (await get(statusPath(reference))).body.data.settlement
    expect(await settlementOf(kept)).toEqual({ batch_id: first.id, adjusted_in: null })
    expect(await settlementOf(reversed)).toEqual({ batch_id: first.id, adjusted_in: third.id })
    const [unsettled = ''] = await payee.complete('1.00')
    expect(await settlementOf(unsettled)).toBeNull()
  })
})

/** Writes a batch whose run stopped after one line. */
const abandonedBatch = async (provider: Payee): Promise<BatchId> => {
  const [reference = ''] = await provider.complete('10.00')
  const debit = await findDebit(reference as Parameters<typeof findDebit>[0])
  if (!debit) throw new Error(`${reference} is gone`)
  const place = { provider: providerId(provider.id), date: nightAfter(5), feeSchedule: null }
  const building = await findOpenBatch(place, real)
  const entries = [{ debit, line: debitLine(debit, undefined) }]
  await addLines(building, { entries, sweptBefore: real.now() }, real)
  return building.batch.id
}

describe('get-settlement-report', () => {
  const line = (fields: object) => ({
    bank_reference: expect.stringMatching(/^GCB-/),
    completed_at: TIME,
    currency: 'GHS',
    partner_reference: expect.stringMatching(/^order-/),
    ...fields,
  })

  test('returns the batch, its lines and their sums as JSON in the envelope', async () => {
    const { status, body } = await get(reportPath(third.id))
    expect(status).toBe(200)
    const { count, debits, gross, fee, adjustments, net } = third
    expect(body).toMatchObject({ success: true, meta: { api_version: 'v1' } })
    expect(body.data).toEqual({
      batch: { ...third, sealed_at: TIME },
      lines: [
        line({
          type: 'adjustment',
          reference: reversed,
          gross: '-33.33',
          fee: '-0.50',
          net: '-32.83',
        }),
        line({ type: 'debit', reference: last, gross: '250.00', fee: '3.75', net: '246.25' }),
      ],
      totals: { count, debits, gross, fee, adjustments, net },
    })
  })

  test('returns a CSV file with the headers of every reply', async () => {
    const { status, headers, body } = await get(reportPath(third.id, 'csv'))
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${third.id}.csv"`)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    for (const name of ['limit', 'remaining', 'reset']) {
      expect(headers.get(`x-ratelimit-${name}`), name).toMatch(/^[0-9]+$/)
    }
    const [header, taken, given, sums, ...rest] = body.split('\r\n')
    expect(header).toBe(
      'type,reference,partner_reference,bank_reference,completed_at,gross,fee,net,currency',
    )
    expect(taken).toMatch(new RegExp(`^adjustment,${reversed},.*,-33.33,-0.50,-32.83,GHS$`))
    expect(given).toMatch(new RegExp(`^debit,${last},.*,250.00,3.75,246.25,GHS$`))
    expect(sums).toBe('total,,,,,216.67,3.25,213.42,GHS')
    expect(rest).toEqual([''])
  })

  test('returns the report of the sealed batch, which the payout does not change', async () => {
    const { body } = await get(reportPath(first.id))
    expect(body.data.batch).toMatchObject({ id: first.id, status: 'pending', paid: null })
  })

  test.each(['xml', '', 'CSV', 'json&format=csv'])('format=%s: 422/1007', async (format) => {
    const { status, body } = await get(`${reportPath(first.id)}?format=${format}`)
    expect([status, body.error?.code, Object.keys(body.details ?? {})]).toEqual([
      422,
      1007,
      ['format'],
    ])
  })

  test('gets 400/5001 for an unsealed batch, which the next run completes', async () => {
    const builder = await createPayee(service, 'broken-off')
    const id = await abandonedBatch(builder)
    const { status, body } = await get(reportPath(id), builder)
    expect([status, body.error.code, body.details]).toEqual([400, 5001, 'the batch is being built'])
    expect((await get(pathOf(id), builder)).body.data).toMatchObject({
      status: 'pending',
      sealed_at: null,
      count: null,
      net: null,
    })
    await expect(builder.batch('report', id)).rejects.toThrow('the batch is being built')
    await expect(builder.batch('process', id)).rejects.toThrow('the batch is being built')
    const { built } = await builder.run(nightAfter(5))
    expect(built).toMatchObject([{ id, count: 1, gross: '10.00' }])
    expect((await get(reportPath(id), builder)).status).toBe(200)
  })

  test('redirects with 303 to a report that is too large for a reply', async () => {
    const megabyte = 'x'.repeat(1024 * 1024)
    async function* large() {
      for (let n = 0; n < 5; n += 1) yield megabyte
    }
    const batch = { id: foreign.id as BatchId, provider: providerId('stranger') }
    await writeReport(batch, 'csv', large())
    const { status, headers, body } = await get(reportPath(foreign.id, 'csv'), stranger)
    expect([status, headers.get('location')]).toEqual([303, body.data.url])
    const file = await fetch(body.data.url)
    expect([file.status, (await file.text()).length]).toEqual([200, 5 * megabyte.length])
    expect(file.headers.get('content-disposition')).toContain(`${foreign.id}.csv`)
  })
})

describe('settlement reads', () => {
  const ids = () => [foreign.id, 'STL-20261122-ZZZZZZ', 'STL-20261122', kept, 'x', '%27%20OR%201']

  test.each([
    ['get-settlement', pathOf],
    ['get-settlement-report', reportPath],
  ])('of foreign, unknown and malformed ids get the same 404/5404: %s', async (_name, path) => {
    const replies = await Promise.all(ids().map((id) => get(path(id))))
    expect(replies[0]).toMatchObject({
      status: 404,
      body: { error: { code: 5404, category: 'settlements' } },
    })
    expect(new Set(replies.map(shown)).size).toBe(1)
  })

  test('reject the token of a bank with 401/1401', async () => {
    for (const path of [LIST, pathOf(first.id), reportPath(first.id)]) {
      const { status, body } = await service.send('GET', path, { credential: 'bt_sandbox_gcb' })
      expect([status, body.error.code], path).toEqual([401, 1401])
    }
  })
})
