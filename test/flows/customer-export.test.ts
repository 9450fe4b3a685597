import type { ServerResponse } from 'node:http'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { HOUR_MS } from '../../shared/domain/time.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import type { Verb } from '../../shared/operator/verbs.ts'
import { keys } from '../../shared/store/keys.ts'
import { findCustomerHash } from '../../shared/store/operator/customer-hash.ts'
import { put, remove } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { untilRefundWaits } from '../support/refunds.ts'
import { FAILS_AT_ONCE, SILENT } from '../support/requests.ts'
import { type Charged, type Shown, testInProcess, useService } from '../support/running-service.ts'
import { useSubscribers } from '../support/subscriber.ts'

/** Exports of a customer, and the record of reads (docs/compliance.md#personal-data). */

const service = useService()
const { subscribe } = useSubscribers(service)
const { call } = service
const actor = 'arn:aws:iam::123456789012:user/ama'

let debit: Charged
let failed: Charged

beforeAll(async () => {
  debit = await service.charge({ phone_number: SILENT })
  failed = await service.chargeCompletedLate()
})

const accesses = (phone: string): Promise<Shown[]> => call('customer', 'accesses', { phone })

describe('customer export', () => {
  test('an export has accounts, debits, exceptions and recipients, and is recorded', async () => {
    const document = await call('customer', 'export', { phone: FAILS_AT_ONCE }, actor)
    expect(Object.keys(document)).toEqual(['accounts', 'debits', 'exceptions', 'recipients'])
    expect(document).toMatchObject({
      accounts: [{ bank: 'GCB', phone_number: FAILS_AT_ONCE }],
      debits: [{ reference: failed.reference, customer: { phone_number: FAILS_AT_ONCE } }],
      exceptions: [{ reference: failed.reference, kind: 'late_completion' }],
      recipients: [
        { kind: 'provider', id: 'demo' },
        { kind: 'bank', id: 'GCB' },
      ],
    })
    const [account] = document.accounts
    expect(document.debits[0].customer.account_number).toBe(account.account_number)
    const [record] = await call('change', 'list', { phone: FAILS_AT_ONCE })
    expect(record).toMatchObject({ verb: 'export', by: actor, changed: { debits: { to: 1 } } })
  })

  test('an export has each response of a receiver once', async () => {
    const { provider, ...own } = await subscribe('echo', { events: 'transaction.failed' })
    const body = 'Received +233201118888'
    const respond = (code: number) => (response: ServerResponse) =>
      response.writeHead(code).end(body)
    own.script(respond(503))
    own.respond(respond(200))
    const phone = FAILS_AT_ONCE
    const { reference } = await service.charge({ phone_number: phone }, provider.credential)
    await provider.delivery(reference, 'failed', 'delivered')
    const { debits } = await call('customer', 'export', { phone })
    const exported = debits.find((one: Shown) => one.reference === reference)
    const response = { at: expect.any(String), response_body: body }
    expect(exported.responses).toEqual([response, response])
  })

  test('an unknown number has an empty document', async () => {
    const empty = { accounts: [], debits: [], exceptions: [], recipients: [] }
    expect(await call('customer', 'export', { phone: '+233249000001' })).toEqual(empty)
  })

  testInProcess('a document over a megabyte is a link to a file', async () => {
    const report = 'r'.repeat(60_000)
    const at = '2026-01-01T00:00:00.000Z'
    for (let n = 0; n < 20; n += 1) {
      const key = { pk: keys.debit(failed.reference as never).pk, sk: `EXCEPTION#${at}#${n}` }
      const bank = { provider: 'demo', bank: 'GCB', amount: 100, by: 'bank:GCB' }
      const more = { ...bank, reference: failed.reference, kind: 'refused_report' }
      await put(key, 'exception', { ...more, at, requestId: String(n), report })
    }
    const { download } = await call('customer', 'export', { phone: FAILS_AT_ONCE })
    expect(download).toMatch(/exports\/[\w-]+\.json\?/)
  })
})

describe('customer accesses', () => {
  const outcome = { 'bank-reference': 'GCB-9', reason: 'By telephone' }
  const ofLate = () => ({ reference: failed.reference })
  const processing = async () => {
    const { reference } = await service.chargeUntil('processing', { phone_number: SILENT })
    return { reference, ...outcome }
  }
  const unanswered = async (): Promise<object> => {
    const { reference } = await service.chargeCompleted()
    await call('bank', 'behave', { bank: 'GCB', as: 'down' })
    onTestFinished(() => call('bank', 'behave', { bank: 'GCB', as: 'normal' }))
    await call('debit', 'reverse', { reference, reason: 'Dispute' })
    await untilRefundWaits(reference)
    return { reference, reason: 'By telephone' }
  }
  const resolved = async (): Promise<object> => {
    const { reference } = await service.chargeCompletedLate()
    await call('exception', 'resolve', { reference, note: 'Returned' })
    return { reference }
  }
  const delivered = async (): Promise<object> => {
    await call('webhook', 'set', { provider: 'demo', url: 'http://127.0.0.1:9/events' })
    const { reference } = await service.chargeCompletedLate()
    return eventually(async () => {
      const [delivery] = await call('delivery', 'list', { reference })
      return { id: String(delivery.id) }
    })
  }

  /** Every verb that prints data of customers, with the options of a call. */
  const calls: Record<string, { phone?: string; options: () => object | Promise<object> }> = {
    'debit show': { options: ofLate },
    'debit list': { options: () => ({ provider: 'demo' }) },
    'debit reverse': {
      phone: SILENT,
      options: async () => ({ ...(await service.chargeCompleted()), reason: 'Dispute' }),
    },
    'debit complete': { phone: SILENT, options: processing },
    'debit fail': { phone: SILENT, options: processing },
    'debit fail-refund': { phone: SILENT, options: unanswered },
    'delivery list': { options: ofLate },
    'delivery show': { options: delivered },
    'delivery redeliver': { options: delivered },
    'exception show': { options: ofLate },
    'exception list': { options: () => ({ kind: 'late_completion' }) },
    'exception resolve': { options: async () => ({ ...(await resolved()), note: 'Again' }) },
    'exception refund': { options: async () => await service.chargeCompletedLate() },
    'customer show': { options: () => ({ phone: FAILS_AT_ONCE, bank: 'GCB' }) },
    'customer list': { options: () => ({ phone: FAILS_AT_ONCE }) },
    'customer export': { options: () => ({ phone: FAILS_AT_ONCE }) },
    'customer link': {
      options: () => ({
        phone: FAILS_AT_ONCE,
        bank: 'GCB',
        name: 'A',
        'account-number': '0241000001',
      }),
    },
  }

  test('each verb that prints data of customers is in the table', () => {
    const marked = Object.values(nouns).flatMap(({ name, verbs }) =>
      Object.entries<Verb>(verbs).flatMap(([verb, { shows }]) =>
        shows === 'customers' && name !== 'approval' ? [`${name} ${verb}`] : [],
      ),
    )
    expect(Object.keys(calls).sort()).toEqual(marked.sort())
  })

  test.each(Object.entries(calls))(
    'the call %s is recorded by the keyed hash of the customer',
    async (words, { phone = FAILS_AT_ONCE, options }) => {
      const [noun = '', verb = ''] = words.split(' ')
      const { uuid: _, ...given } = (await options()) as Record<string, string>
      // The first record of a stage creates the key of the hashes.
      await remove(keys.hashKey).catch(() => false)
      expect(await accesses(phone)).toEqual([])
      await call(noun, verb, given, actor)
      expect(await accesses(phone)).toMatchObject([{ by: actor, noun, verb }])
      const other = phone === SILENT ? FAILS_AT_ONCE : SILENT
      expect(await accesses(other)).toHaveLength(words === 'debit list' ? 1 : 0)
    },
  )

  testInProcess(
    'the reads of an hour have one record for each verb and operator, listed in pages',
    async () => {
      const { clock } = service.sandbox().control
      await clock.moveTo(new Date(Math.ceil(clock.now().getTime() / HOUR_MS) * HOUR_MS))
      await remove(keys.hashKey).catch(() => false)
      const { reference } = debit
      for (const by of [actor, actor]) await call('debit', 'show', { reference }, by)
      await service.pass(1)
      await call('debit', 'show', { reference }, 'local:kofi')
      await service.pass(1)
      for (let n = 0; n < 2; n += 1) await call('delivery', 'list', { reference }, actor)
      const options = { phone: SILENT, limit: '2' }
      const page: Shown = await service.operate('customer', 'accesses', options)
      expect(page.result).toMatchObject([
        { by: actor, noun: 'delivery' },
        { by: 'local:kofi', noun: 'debit' },
      ])
      const older = { ...options, cursor: page.next_cursor }
      expect(await call('customer', 'accesses', older)).toMatchObject([
        { by: actor, noun: 'debit' },
      ])
    },
  )

  testInProcess('the reads that an earlier version recorded are listed in pages', async () => {
    await call('debit', 'show', { reference: failed.reference }, actor)
    const customer = await findCustomerHash(FAILS_AT_ONCE as PhoneNumber)
    for (const second of [1, 2, 3]) {
      const at = `2026-01-01T00:00:0${second}.000Z`
      const time = `${at}#3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e#${customer}`
      const list = { byCustomer: keys.accessesOf(String(customer)), byTime: time }
      const access = { at, by: actor, noun: 'debit', verb: 'show', ...list }
      await put(keys.access(time), 'access', access)
    }
    const page = async (cursor?: string): Promise<Shown> => {
      const options = { phone: FAILS_AT_ONCE, to: '2026-01-01', limit: '2' }
      return service.operate('customer', 'accesses', { ...options, ...(cursor && { cursor }) })
    }
    const { result, next_cursor } = await page()
    const times = [...result, ...(await page(next_cursor)).result].map(({ at }: Shown) => at)
    expect(times.map((at) => at.slice(17, 19))).toEqual(['03', '02', '01'])
  })

  test('a read without data of customers is not recorded', async () => {
    await remove(keys.hashKey).catch(() => false)
    await call('provider', 'show', { provider: 'demo' })
    await call('change', 'list', { phone: SILENT })
    expect(await accesses(SILENT)).toEqual([])
    expect(debit.reference).toMatch(/^DCS-/)
  })
})
