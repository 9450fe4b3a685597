import { beforeAll, describe, expect, test } from 'vitest'
import type { BatchId } from '../../shared/domain/ids.ts'
import { type Batch, openBatch } from '../../shared/domain/settlement/batch.ts'
import { writeReport } from '../../shared/settlement/report/bucket.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { put } from '../../shared/store/table.ts'
import { providerId } from '../support/examples.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { statusPath } from '../support/requests.ts'
import { codeOf, type Shown, textOf, useService } from '../support/running-service.ts'

/** Settlement reads of a provider (docs/api.md#settlement-reads). */

const service = useService()

const LIST = '/api/v1/payment-providers/settlements'
const pathOf = (id: string) => `${LIST}/${id}`
const reportPath = (id: string, format = '') =>
  `${LIST}/${id}/report${format && `?format=${format}`}`

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** The results of three nights. */
const runs: Shown[] = []
let payee: Payee
let stranger: Payee
/** The batches of three nights: two debits; one; one with an adjustment of a debit of the first. */
let first: Shown
let second: Shown
let third: Shown
let foreign: Shown
let [kept, reversed, last] = ['', '', '']

const get = (path: string) => payee.get(path)
const idsOf = (batches: readonly Shown[]): string[] => batches.map(({ id }) => id)

beforeAll(async () => {
  payee = await createPayee(service, 'settled')
  stranger = await createPayee(service, 'stranger')
  ;[kept = ''] = await payee.complete('100.00')
  ;[reversed = ''] = await payee.complete('33.33')
  await stranger.complete('7.00')
  runs.push(await payee.run(nightAfter(0)))
  foreign = (await stranger.run(nightAfter(0))).built[0]
  await payee.complete('5.00')
  runs.push(await payee.run(nightAfter(1)))
  ;[last = ''] = await payee.complete('250.00')
  await payee.reverse(reversed)
  runs.push(await payee.run(nightAfter(2)))
  ;[first, second, third] = runs.map(({ built }) => built[0])
})

describe('list-settlements', () => {
  test('the list has the batches of the provider in their current state, newest first, in pages', async () => {
    const batches = [third, second, first]
    const { body } = await get(LIST)
    expect(idsOf(body.data)).toEqual(idsOf(batches))
    const statuses = body.data.map(({ status }: Shown) => status)
    expect(statuses).toEqual(['pending', 'completed', 'completed'])
    expect(body.data[0]).toEqual(third)
    const last = { next_cursor: null, has_more: false }
    expect(body.meta).toMatchObject({ per_page: 20, ...last })
    expect((await get(`${LIST}?per_page=3`)).body.meta).toMatchObject(last)
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await get(`${LIST}?per_page=2${cursor && `&cursor=${cursor}`}`)
      pages.push(idsOf(body.data))
      cursor = body.meta.next_cursor
    }
    expect(pages).toEqual([idsOf([third, second]), [first.id]])
  })

  test('the list of another provider has its own batches and rejects the cursor', async () => {
    expect(idsOf((await stranger.get(LIST)).body.data)).toEqual([foreign.id])
    const { next_cursor } = (await get(`${LIST}?per_page=1`)).body.meta
    const reply = await stranger.get(`${LIST}?cursor=${next_cursor}`)
    const details = { cursor: ['must be a cursor of this list'] }
    expect([codeOf(reply), reply.body.details]).toEqual(['422/1007', details])
  })
})

test('the verb `settlement run` builds the batch of a day once and pays it on the next day, for one provider', async () => {
  const none = { built: [], paid: [], unpaid: [], in_work: [] }
  expect(runs[0]).toEqual({ ...none, date: nightAfter(0), built: [first] })
  const done = { status: 'completed', paid: '131.33', processed_at: TIME, completed_at: TIME }
  const bank_reference = expect.stringMatching(/^GCB-/)
  expect(runs[1].paid).toEqual([{ ...first, ...done, bank_reference }])
  await expect(payee.run(nightAfter(2))).rejects.toThrow('No transactions to settle (5002)')
  const list = await service.call('settlement', 'list', { provider: 'settled' })
  expect(list).toEqual((await get(LIST)).body.data)
  const all = await service.call('settlement', 'list')
  expect(all.filter(({ provider }: Shown) => provider !== 'stranger')).toEqual(list)
  expect(idsOf(all)).toContain(foreign.id)
  for (const status of ['pending', 'failed']) {
    const expected = all.filter((one: Shown) => one.status === status)
    expect(await service.call('settlement', 'list', { status })).toEqual(expected)
  }
  expect(await service.call('settlement', 'list', { limit: '1' })).toEqual(list.slice(0, 1))
  expect((await stranger.batch('show', foreign.id)).status).toBe('pending')
  const csv = await payee.batch('report', first.id, { format: 'csv' })
  expect(csv).toMatch(/^type,reference,.*\r\n(?:debit,.*\r\n){2}total,,,,,133\.33,.*,GHS\r\n$/)
})

describe('get-settlement', () => {
  test('a reply has a paid batch with sums as text', async () => {
    const schedule = { basis_points: 150, fixed: '0.00', minimum: null, maximum: null }
    expect((await get(pathOf(first.id))).body.data).toEqual({
      ...{ id: expect.stringMatching(/^STL-[0-9]{8}-[A-Z0-9]{6}$/), uuid: first.uuid },
      ...{ provider: 'settled', currency: 'GHS', date: nightAfter(0), status: 'completed' },
      // 1.50 plus 0.49995, which is rounded half to even.
      ...{ count: 2, debits: 2, gross: '133.33', fee: '2.00', adjustments: '0.00', net: '131.33' },
      ...{ fee_schedule: schedule, created_at: TIME, sealed_at: TIME, processed_at: TIME },
      ...{ completed_at: TIME, failed_at: null, failure: null, paid: '131.33' },
      ...{ bank_reference: expect.stringMatching(/^GCB-/), made_good_by: null },
      payable_on: nightAfter(1),
    })
  })

  test('a reply has an adjustment for a reversed debit, and both debits name their batches', async () => {
    expect((await get(pathOf(third.id))).body.data).toMatchObject({
      ...{ status: 'pending', count: 2, debits: 1, gross: '250.00', fee: '3.75' },
      ...{ adjustments: '-32.83', net: '213.42', paid: null },
    })
    const settlementOf = async (reference: string) =>
      (await get(statusPath(reference))).body.data.settlement
    expect(await settlementOf(kept)).toEqual({ batch_id: first.id, adjusted_in: null })
    expect(await settlementOf(reversed)).toEqual({ batch_id: first.id, adjusted_in: third.id })
    const [unsettled = ''] = await payee.complete('1.00')
    expect(await settlementOf(unsettled)).toBeNull()
  })
})

describe('get-settlement-report', () => {
  const line = (fields: object) => ({
    bank_reference: expect.stringMatching(/^GCB-/),
    completed_at: TIME,
    currency: 'GHS',
    partner_reference: expect.stringMatching(/^order-/),
    ...fields,
  })

  test('a report has the batch as it was sealed, its lines and their sums as JSON', async () => {
    const { body } = await get(reportPath(third.id))
    const { count, debits, gross, fee, adjustments, net } = third
    const taken = { reference: reversed, gross: '-33.33', fee: '-0.50', net: '-32.83' }
    const given = { reference: last, gross: '250.00', fee: '3.75', net: '246.25' }
    expect(body.data).toEqual({
      batch: { ...third, sealed_at: TIME },
      lines: [line({ type: 'adjustment', ...taken }), line({ type: 'debit', ...given })],
      totals: { count, debits, gross, fee, adjustments, net },
    })
    const sealed = (await get(reportPath(first.id))).body.data.batch
    expect(sealed).toMatchObject({ id: first.id, status: 'pending', paid: null })
  })

  test('a report is a CSV file with the headers of every reply', async () => {
    const { headers, body } = await get(reportPath(third.id, 'csv'))
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${third.id}.csv"`)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-request-id')).toMatch(/^[\w-]{15}=$/)
    for (const name of ['limit', 'remaining', 'reset']) {
      expect(headers.get(`x-ratelimit-${name}`), name).toMatch(/^[0-9]+$/)
    }
    // All lines: test/settlement/report/render.test.ts.
    expect(body).toMatch(
      /^type,reference,.*\r\nadjustment,.*\r\ndebit,.*\r\ntotal,,,,,216.67,.*\r\n$/,
    )
  })

  test('a report of an unsealed batch gets 400/5001', async () => {
    const builder = await createPayee(service, 'broken-off')
    const id = 'STL-20261122-LEFT01' as BatchId
    const uuid = crypto.randomUUID() as Batch['uuid']
    const place = { provider: providerId(builder.id), date: nightAfter(5), n: 1, feeSchedule: null }
    const open = openBatch({ id, uuid, createdAt: new Date(), ...place })
    await put(keys.batch(id), 'batch', toBatchItem(open))
    const reply = await builder.get(reportPath(id))
    const message = 'the batch is being built'
    expect([codeOf(reply), reply.body.details]).toEqual(['400/5001', message])
    const shown = { status: 'pending', sealed_at: null, count: null, net: null, payable_on: null }
    expect((await builder.get(pathOf(id))).body.data).toMatchObject(shown)
    const evidence = { 'bank-reference': 'X', reason: 'Y' }
    for (const [verb, options] of [['report'], ['process'], ['complete', evidence]] as const) {
      await expect(builder.batch(verb, id, options)).rejects.toThrow(message)
    }
  })

  test.each([
    ['x', 5],
    ['"', 3],
  ])('a report of %j, too large for a reply, is a redirect with 303', async (text, megabytes) => {
    const megabyte = text.repeat(1024 * 1024)
    async function* large() {
      for (let n = 0; n < megabytes; n += 1) yield megabyte
    }
    const batch = { id: foreign.id as BatchId, provider: providerId('stranger') }
    await writeReport(batch, 'csv', large())
    const { status, headers, body } = await stranger.get(reportPath(foreign.id, 'csv'))
    expect([status, headers.get('location')]).toEqual([303, body.data.url])
    const file = await fetch(body.data.url)
    expect([file.status, (await file.text()).length]).toEqual([200, megabytes * megabyte.length])
    expect(file.headers.get('content-disposition')).toContain(`${foreign.id}.csv`)
    // The command prints the file behind this member.
    const { download } = await stranger.batch('report', foreign.id, { format: 'csv' })
    expect(new URL(download).pathname).toBe(new URL(body.data.url).pathname)
  })
})

describe('get-monthly-statement', () => {
  const month = nightAfter(0).slice(0, 7)
  const withoutTime = (text: string): string => text.replace(/As of [^<]+/, '')
  const statementPath = (month: string, format = '') =>
    `${LIST}/statements/${month}${format && `?format=${format}`}`

  /** Adds up amounts without the product's arithmetic. */
  const sumOf = (batches: readonly Shown[], name: string): number =>
    batches.reduce((sum, batch) => sum + Math.round(Number(batch[name] ?? 0) * 100), 0)
  const inPesewas = (amount: string): number => Math.round(Number(amount) * 100)

  test('a statement adds up the batches of the month, and a running month is partial', async () => {
    const { status, body } = await get(statementPath(month))
    const listed = (await get(LIST)).body.data.filter(({ date }: Shown) => date.startsWith(month))
    const { data } = body
    expect([status, data.partial, data.provider, data.month]).toEqual([200, true, 'settled', month])
    expect(data.batches).toEqual(listed.toReversed())
    for (const name of ['gross', 'fee', 'adjustments', 'net', 'paid']) {
      expect(inPesewas(data[name]), name).toBe(sumOf(listed, name))
    }
    expect(data.count).toBe(listed.reduce((sum: number, { count }: Shown) => sum + count, 0))
    expect(data.fees).toMatchObject([
      { fee_schedule: { basis_points: 150 }, batches: listed.length, fee: data.fee },
    ])
    const printed = await service.call('settlement', 'statement', { provider: 'settled', month })
    expect(printed).toEqual(data)
  })

  test('a statement of a past month is complete, also without batches', async () => {
    const { data } = (await get(statementPath('2026-01'))).body
    expect(data).toMatchObject({ partial: false, count: 0, net: '0.00', fees: [], batches: [] })
  })

  test('a statement is a CSV file with a record of sums, and a page to print', async () => {
    const csv = await get(statementPath(month, 'csv'))
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toContain(`"statement-${month}.csv"`)
    const { count, gross, fee, adjustments, net, paid } = (await get(statementPath(month))).body
      .data
    expect(csv.body.trimEnd().split('\r\n').at(-1)).toBe(
      ['total', '', '', count, gross, fee, adjustments, net, paid, '', '', 'GHS'].join(','),
    )
    const page = await get(statementPath(month, 'html'))
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.body).toContain(`<td class="number">${net}</td>`)
    expect(page.body).toContain('150 basis points + 0.00')
    const options = { provider: 'settled', month }
    for (const [format, { body }] of Object.entries({ csv, html: page })) {
      const printed = await service.call('settlement', 'statement', { ...options, format })
      expect(withoutTime(printed)).toBe(withoutTime(body))
    }
  })

  test('a statement shows no batch of another provider', async () => {
    const { data } = (await stranger.get(statementPath(month))).body
    expect(idsOf(data.batches)).toEqual([foreign.id])
  })

  test('a malformed month is 404/5404, and an unknown format 422/1007', async () => {
    for (const malformed of ['2026-13', '2026-1', '2026', 'x', '%27']) {
      expect(codeOf(await get(statementPath(malformed))), malformed).toBe('404/5404')
    }
    expect(codeOf(await get(statementPath(month, 'pdf')))).toBe('422/1007')
  })
})

test.each([pathOf, reportPath])('all foreign and invalid ids look alike: %o', async (path) => {
  const ids = [foreign.id, 'STL-20261122-ZZZZZZ', 'STL-20261122', kept, 'x', '%27%20OR%201']
  const replies = await Promise.all(ids.map((id) => get(path(id))))
  expect(replies.map(codeOf)).toEqual(ids.map(() => '404/5404'))
  expect(replies[0]?.body.error.category).toBe('settlements')
  expect(new Set(replies.map(textOf)).size).toBe(1)
})
