import { beforeAll, describe, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { dayAfter, dayOf, HOUR_MS } from '../../shared/domain/time.ts'
import { keys } from '../../shared/store/keys.ts'
import { keyOf, readCollection, remove } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { providerId } from '../support/examples.ts'
import { pathOf, SILENT } from '../support/requests.ts'
import { codeOf, type Shown, testInProcess, useService } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

/** Requests of providers to reverse a debit (docs/api.md#reversal-requests). */

const service = useService()
const { call, refusal, chargeCompleted: completed } = service
const clock = () => service.sandbox().control.clock

beforeAll(() => call('provider', 'update', { provider: 'demo', reversals: 'request' }))

const requestPath = (reference: string) => pathOf('request-reversal', { reference })

const ask = (
  reference: string,
  body: object = { reason: 'Cancelled' },
  credential = 'sk_sandbox_demo',
) => service.send('POST', requestPath(reference), { credential, body })

const read = async (reference: string): Promise<Shown> =>
  (await service.get(`/api/v1/payment-providers/debit-requests/${reference}`)).body.data

const requestIn = async (reference: string): Promise<Shown> =>
  (await read(reference)).reversal_request

describe('request-reversal', () => {
  test('a request is open until an operator accepts it by a reversal of the debit', async () => {
    const { reference } = await completed()
    expect(await requestIn(reference)).toBeNull()
    const { status, body } = await ask(reference, { reason: 'Order 1 was\ncancelled' })
    const { respond_by } = body.data
    expect([status, body.data]).toEqual([202, { reference, status: 'open', respond_by }])
    const request = { kind: 'refund', reason: 'Order 1 was cancelled', respond_by }
    const open = { ...request, status: 'open', note: null, resolved_at: null }
    expect(await requestIn(reference)).toEqual(open)
    const [listed] = await call('exception', 'list', { kind: 'reversal_request', status: 'open' })
    expect(listed).toMatchObject({
      reference,
      report: request.reason,
      reported_by: 'provider:demo',
    })
    const { refund } = await call('exception', 'refund', { reference })
    expect(refund).toMatchObject({ status: 'pending', reason: request.reason })
    const after = await service.until(reference, 'reversed')
    expect(after.reversal_request).toMatchObject({ ...request, status: 'accepted' })
    expect(await requestIn(reference)).toMatchObject({ note: `refund ${refund.uuid}` })
    expect(await service.exceptions(reference)).toMatchObject([{ is_accepted: true }])
    // Its text can name the customer, and records of changes outlive an erasure.
    const changed = { status: { from: 'completed', to: 'reversed' } }
    expect((await service.changeOf(reference)).changed).toEqual(changed)
    expect(codeOf(await ask(reference))).toBe('409/3006')
  })

  test('a repeated request gets the reply of the first, and two at once make one', async () => {
    const { reference } = await completed()
    const replies = await Promise.all([ask(reference), ask(reference, { reason: 'Other' })])
    const again = await ask(reference)
    const replayed = [...replies, again].map(({ headers }) => headers.get('idempotent-replayed'))
    expect(replayed.filter((header) => header === null)).toHaveLength(1)
    expect(new Set([...replies, again].map(({ body }) => JSON.stringify(body.data))).size).toBe(1)
    expect(await service.exceptions(reference)).toHaveLength(1)
  })

  test('a declined request shows its note to the provider, who cannot request again', async () => {
    const { reference } = await completed()
    await ask(reference, { reason: 'Charged twice', kind: 'complaint' })
    await call('exception', 'resolve', { reference, note: 'Delivered on Monday' })
    const declined = { kind: 'complaint', status: 'declined', note: 'Delivered on Monday' }
    expect(await requestIn(reference)).toMatchObject(declined)
    const again = await ask(reference)
    expect(codeOf(again)).toBe('409/1409')
    expect(again.body.details.note).toBe('Delivered on Monday')
    await call('debit', 'reverse', { reference, reason: 'Court order' })
    expect(await requestIn(reference)).toMatchObject(declined)
  })

  test('a reversal on an operator’s own decision accepts the request, with or without a refund', async () => {
    for (const refund of [{}, { refund: 'none' }]) {
      const { reference } = await completed()
      await ask(reference)
      await call('debit', 'reverse', { reference, reason: 'Goods returned', ...refund })
      expect(await requestIn(reference)).toMatchObject({ status: 'accepted' })
    }
  })

  test('a reversal can be repeated only with the same choice about the money', async () => {
    const choices = [{}, { refund: 'none' }] as Record<string, string>[]
    const words = ['with a refund', 'with --refund none']
    for (const [n, choice] of choices.entries()) {
      const { reference } = await completed()
      const reverse = { reference, reason: 'Goods returned' }
      await call('debit', 'reverse', { ...reverse, ...choice })
      await call('debit', 'reverse', { ...reverse, ...choice, reason: 'Repeated' })
      const other = { ...reverse, ...choices[1 - n] }
      expect(await refusal('debit', 'reverse', other)).toBe(
        `the debit is already reversed ${words[n]}`,
      )
    }
  })

  test('a request and a reversal at once end in an accepted request, or in a refused one', async () => {
    const { reference } = await completed()
    const [asked] = await Promise.all([
      ask(reference),
      call('debit', 'reverse', { reference, reason: 'Goods returned' }),
    ])
    const request = await requestIn(reference)
    expect([codeOf(asked), request?.status]).toEqual(
      asked.status === 202 ? ['202', 'accepted'] : ['409/3006', undefined],
    )
  })

  test('a decline and a reversal at once leave one decision', async () => {
    const { reference } = await completed()
    await ask(reference)
    await Promise.all([
      service.operate('exception', 'resolve', { reference, note: 'No' }),
      service.operate('debit', 'reverse', { reference, reason: 'Yes' }),
    ])
    const { note, status } = await requestIn(reference)
    expect((await service.show(reference)).status).toBe('reversed')
    expect([
      ['declined', 'No'],
      ['accepted', expect.stringMatching(/^refund /)],
    ]).toContainEqual([status, note])
  })

  test('a bank that withdraws the completion blocks the refund, and each note has its own reader', async () => {
    const { reference, uuid } = await completed()
    await ask(reference)
    const failed = { status: 'failed', bank_reference: 'GCB-0001', error_message: 'No money' }
    expect(codeOf(await service.report(uuid, failed))).toBe('422/3001')
    expect(await refusal('exception', 'refund', { reference })).toMatch(/bank reported a failure/)
    expect(await refusal('exception', 'resolve', { reference, note: 'Fraud' })).toBe(
      '--kind: is required: the debit has contradiction and reversal_request',
    )
    await call('debit', 'reverse', { reference, reason: 'No debit', refund: 'none' })
    await call('exception', 'resolve', { reference, kind: 'contradiction', note: 'Not debited' })
    expect(await requestIn(reference)).toMatchObject({ note: 'reversed without a refund' })
  })

  test.each([
    ['an empty body', {}, '422/1007'],
    ['a blank reason', { reason: ' ' }, '422/1007'],
    ['a long reason', { reason: 'x'.repeat(201) }, '422/1007'],
    ['another kind', { reason: 'x', kind: 'chargeback' }, '422/1007'],
  ])('a request with %s is refused', async (_, body, code) => {
    expect(codeOf(await ask((await completed()).reference, body))).toBe(code)
  })

  test('a request is refused without the setting, for foreign debits and before completion', async () => {
    const { reference } = await completed()
    expect(codeOf(await ask(reference, undefined, 'sk_sandbox_other'))).toBe('403/1403')
    await call('provider', 'update', { provider: 'other', reversals: 'request' })
    expect(codeOf(await ask(reference, undefined, 'sk_sandbox_other'))).toBe('404/3404')
    expect(codeOf(await ask('DCS-20261121-XXXXXX'))).toBe('404/3404')
    const { reference: waiting } = await service.chargeUntil('processing', { phone_number: SILENT })
    expect(codeOf(await ask(waiting))).toBe('422/3001')
  })

  testInProcess(
    'a settled debit that is requested is not settled again, and its day for a decision skips free days',
    async () => {
      const { reference } = await completed()
      await clock().advance(48 * HOUR_MS)
      const { settlement } = await read(reference)
      expect(settlement).toMatchObject({ adjusted_in: null })
      const placeOf = async () => {
        const { pk } = keys.debit(reference as Reference)
        const items = await service.items()
        const { work, due, expiresAt } = items.find((one) => one.pk === pk && one.sk === 'DEBIT')
        return { work, due, expiresAt }
      }
      const place = await placeOf()
      const today = dayOf(clock().now())
      await call('calendar', 'add', { date: dayAfter(today), name: 'Declared' })
      const { body } = await ask(reference)
      expect(await placeOf()).toEqual(place)
      const days = Array.from({ length: 12 }, (_, n) => dayAfter(today, n + 1))
      const working = days.slice(1).filter((day) => ![0, 6].includes(new Date(day).getUTCDay()))
      expect(body.data.respond_by).toBe(working[4])
      await clock().advance(24 * HOUR_MS)
      const batches = (await service.get('/api/v1/payment-providers/settlements')).body.data
      const settled = batches.map(({ debits }: Shown) => debits ?? 0)
      expect(settled.reduce((sum: number, n: number) => sum + n, 0)).toBeGreaterThan(0)
      expect((await read(reference)).settlement).toEqual(settlement)
    },
  )

  testInProcess(
    'the reversal of a request first appends the events that the stream lost',
    async () => {
      const events = async (reference: string): Promise<string[]> => {
        const { body } = await service.get('/api/v1/payment-providers/events?per_page=100')
        const own = body.data.filter(({ data }: Shown) => data.transaction?.reference === reference)
        return own.map(({ event }: Shown) => event)
      }
      const references = [await completed(), await completed()].map(({ reference }) => reference)
      for (const reference of references) {
        await ask(reference)
        await eventually(async () => expect(await events(reference)).toHaveLength(4))
      }
      const pages = await readCollection({
        pk: keys.feedPage(providerId('demo'), 1).pk,
        prefix: '',
      })
      await Promise.all(pages.map((page) => remove(keyOf(page))))
      for (const reference of references) expect(await events(reference)).toEqual([])
      // After the grace of the sweep, and before its walk has come so far.
      await clock().advance(121_000)
      for (const reference of references) {
        await call('exception', 'refund', { reference })
        await eventually(async () => expect(await events(reference)).toHaveLength(5))
      }
    },
  )

  testInProcess(
    'a debit can be requested for thirty days, and a month counts its requests',
    async () => {
      const [last, late] = [await completed(), await completed()].map(({ reference }) => reference)
      await clock().advance(29 * 24 * HOUR_MS)
      const month = dayOf(clock().now()).slice(0, 7)
      const countsOf = async () => (await call('exception', 'summary', { month })).refund
      // Those of earlier tests can be of the same month.
      const { declined, in_time, late: decidedLate } = await countsOf()
      expect(codeOf(await ask(last ?? ''))).toBe('202')
      await clock().advance(25 * HOUR_MS)
      const refused = await ask(late ?? '')
      expect(codeOf(refused)).toBe('400/1400')
      expect(refused.body.details).toMatch(
        /^a reversal could be requested until \d{4}-\d\d-\d\dT[\d:.]+Z$/,
      )
      await call('exception', 'resolve', { reference: last ?? '', note: 'Too late' })
      const expected = { declined: declined + 1, in_time: in_time + 1, late: decidedLate }
      expect(await countsOf()).toMatchObject(expected)
    },
  )

  testInProcess('a request that is decided while a month is counted counts once', async () => {
    const { reference } = await completed()
    const month = dayOf(clock().now()).slice(0, 7)
    const count = async () => (await call('exception', 'summary', { month })).refund.opened
    const before = await count()
    await ask(reference)
    let isDecided = false
    const restore = aroundTableCalls(async (name, next) => {
      const reply = await next()
      if (name === 'Query' && !isDecided) {
        isDecided = true
        await call('exception', 'resolve', { reference, note: 'No' })
      }
      return reply
    })
    expect(await count().finally(restore)).toBe(before + 1)
  })
})
