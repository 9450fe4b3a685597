import { beforeAll, expect } from 'vitest'
import { dayAfter, startOf } from '../../shared/domain/time.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { keys } from '../../shared/store/keys.ts'
import { put } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { bankMove, pendingDebit, providerId } from '../support/examples.ts'
import { createPayee, type Payee } from '../support/payee.ts'
import { useReceiver } from '../support/receiver.ts'
import { granted } from '../support/refused.ts'
import { CHARGE, chargeBody, pathOf, SILENT } from '../support/requests.ts'
import { codeOf, type Shown, useService } from '../support/running-service.ts'
import { advance, entriesOf, play, today, useRunbooks } from './runbook.ts'

/** Runbooks about debits, their banks and their exceptions. */

const service = useService()
const runbook = useRunbooks(service)
const receiver = useReceiver()

const REFERENCE = 'DCS-20261121-ABC123'
let acme: Payee

beforeAll(async () => {
  acme = await createPayee(service, 'acme')
  await acme.webhook('set', { url: receiver.url() })
})

const openExceptions = async (reference: string): Promise<Shown[]> =>
  (await service.exceptions(reference)).filter(({ resolved_at }) => resolved_at === null)

const eventsOf = async (reference: string, count: number): Promise<string[]> =>
  (await receiver.events(reference, count)).map(({ body }) => body.event)

const silent = () => service.chargeUntil('processing', { phone_number: SILENT }, acme.credential)

runbook('operations.md#a-bank-is-down')(
  'a disabled bank that is down gets no charges, and its pending debit is completed when it is up',
  async ({ run }) => {
    await service.call('bank', 'behave', { bank: 'GCB', as: 'down' })
    const charge = async () =>
      codeOf(
        await service.send('POST', CHARGE, { credential: acme.credential, body: chargeBody() }),
      )
    const { reference } = await service.charge({}, acme.credential)
    await advance(service, 150)
    await run('bank show', { health: { state: 'down' } })
    await run('bank update', { when_down: 'refuse' })
    expect(await charge()).toBe('503/2003')
    await run('bank disable', { status: 'inactive' })
    await advance(service, 31)
    expect(await charge()).toBe('402/1402')
    expect((await service.show(reference)).status).toBe('pending')
    await service.call('bank', 'behave', { bank: 'GCB', as: 'normal' })
    await run('bank enable', { status: 'live' })
    await advance(service, 120)
    expect(await charge()).toBe('202')
    await service.until(reference, 'completed')
    expect(await entriesOf(service, reference)).toEqual(['completion'])
    expect((await eventsOf(reference, 4)).at(-1)).toBe('transaction.completed')
  },
)

runbook('operations.md#a-provider-sends-unwanted-prompts')(
  'a provider whose prompts are declined is disabled, and a bank gets another cap on prompts',
  async ({ run, values }) => {
    const { credential } = await createPayee(service, 'pushy')
    const silent = { phone_number: SILENT }
    const { reference, uuid } = await service.chargeUntil('processing', silent, credential)
    const declined = { bank_reference: 'GCB-1', error_message: 'Declined by customer' }
    await service.report(uuid, { status: 'failed', ...declined })
    // Other tests charge at GCB.
    Object.assign(values, { acme: 'pushy', GCB: 'ECO' })
    await run('debit list', [{ reference, status: 'failed' }])
    await run('provider disable', { status: 'suspended' })
    const refused = await service.send('POST', CHARGE, { credential, body: chargeBody() })
    expect(codeOf(refused)).toBe('403/1403')
    await run('bank update', { open_prompts_max: 3 })
    await advance(service, 31)
    const fields = { ...silent, bank_identifier: 'ECO' }
    // One provider has three fifths of the three prompts, rounded up.
    for (const status of ['processing', 'processing', 'failed']) {
      const { reference } = await service.chargeUntil(status, fields, acme.credential)
      const isCapped = (await service.show(reference)).error_message?.startsWith('Too many')
      expect(isCapped ?? false).toBe(status === 'failed')
    }
  },
)

runbook('operators.md#a-customer-asks-about-a-debit')(
  'a debit is found by phone, days, amount and bank reference',
  async ({ run, values }) => {
    const { reference, uuid } = await silent()
    await service.report(uuid, { status: 'completed', bank_reference: 'GCB-ASKED' })
    const { amount, partner_reference } = await service.until(reference, 'completed')
    values['+233241234567'] = SILENT
    values['2026-11-01'] = values['2026-11-21'] = today(service)
    values['100.00'] = amount
    values['GCB-0001'] = 'GCB-ASKED'
    const found = [expect.objectContaining({ reference, status: 'completed' })]
    await run('debit list', expect.arrayContaining(found))
    await run('debit list', expect.arrayContaining(found))
    await run('debit list', found)
    values['order-4711'] = partner_reference
    await run('debit list', found)
  },
)

runbook('operators.md#other-exceptions')(
  'a rejected refund is refunded again, and another that was repaid by hand is resolved by a note',
  async ({ run, values }) => {
    const refunded = await play(service, 'refund-rejected')
    const repaid = await play(service, 'refund-rejected')
    const listed = await run('exception list', expect.any(Array))
    expect(listed.map(({ reference, kind }: Shown) => [reference, kind])).toEqual([
      [repaid.reference, 'refund'],
      [refunded.reference, 'refund'],
    ])
    values[REFERENCE] = refunded.reference
    await run('exception refund', { reference: refunded.reference })
    await service.untilRefund(refunded.reference, 'completed')
    values['DCS-20261121-ABC456'] = repaid.reference
    await run('exception resolve', [{ kind: 'refund', resolved_by: 'local:engineer' }])
    const entries = ['completion', 'refund', 'reversal']
    expect(await entriesOf(service, refunded.reference)).toEqual(entries)
    expect(await entriesOf(service, repaid.reference)).toEqual([
      'completion',
      'repayment',
      'reversal',
    ])
    expect(await service.call('exception', 'list', { status: 'open' })).toEqual([])
  },
)

runbook('operators.md#a-debit-hangs')(
  'an open debit gets the outcome that its bank reports by telephone',
  async ({ run, values }) => {
    const [paid, declined] = [await silent(), await silent()]
    const open = await run('debit list', expect.any(Array))
    expect(open.map(({ reference }: Shown) => reference)).toEqual(
      expect.arrayContaining([paid.reference, declined.reference]),
    )
    values[REFERENCE] = paid.reference
    await run('debit show', { status: 'processing', bank: 'GCB' })
    await run('debit complete', { status: 'completed', bank_reference: 'GCB-0001' })
    values[REFERENCE] = declined.reference
    await run('debit fail', { status: 'failed', error_code: 'insufficient_funds' })
    expect(await entriesOf(service, paid.reference)).toEqual(['completion'])
    expect(await entriesOf(service, declined.reference)).toEqual([])
    expect((await eventsOf(paid.reference, 4)).at(-1)).toBe('transaction.completed')
    expect((await eventsOf(declined.reference, 4)).at(-1)).toBe('transaction.failed')
  },
)

runbook('operators.md#decide-on-a-reversal-request')(
  'one request is accepted and its money returned, another is declined with a note',
  async ({ run, values }) => {
    const ask = async (): Promise<string> => {
      const { reference, uuid } = await silent()
      await service.report(uuid, {
        status: 'completed',
        bank_reference: `B-${uuid}`,
        approval_method: 'ussd',
      })
      const path = pathOf('request-reversal', { reference })
      const body = { reason: 'Cancelled', kind: 'complaint' }
      const reply = await service.send('POST', path, { credential: acme.credential, body })
      expect(codeOf(reply)).toBe('202')
      return reference
    }
    await run('provider update', { reversals: 'request' })
    const [accepted, declined] = [await ask(), await ask()]
    Object.assign(values, {
      [REFERENCE]: accepted,
      'DCS-20261121-ABC456': declined,
      '2026-11': today(service).slice(0, 7),
    })
    await run('exception list', [{ reference: accepted }, { reference: declined }])
    await run('exception refund', { refund: { status: 'pending', reason: 'Cancelled' } })
    await run('exception resolve', [{ note: 'Delivered on 2026-11-22', is_accepted: false }])
    const counts = { opened: 2, accepted: 1, declined: 1, in_time: 2, late: 0 }
    await run('exception summary', { complaint: counts })
  },
)

runbook('operators.md#a-late-completion')(
  'a late completion is either refunded or resolved by a note, never both',
  async ({ run, values }) => {
    const [refunded, returned] = [
      (await play(service, 'late-completion')).reference,
      (await play(service, 'late-completion')).reference,
    ]
    values[REFERENCE] = refunded
    await run('exception show', [{ kind: 'late_completion', resolved_at: null }])
    const { refund } = await run('exception refund', { refund: { status: 'pending' } })
    values[REFERENCE] = returned
    await run('exception resolve', [{ note: expect.stringContaining('ticket 4711') }])
    const refusal = await service.refusal('exception', 'refund', { reference: returned })
    expect(refusal).toContain('a note says that the customer has the money')
    // A repetition finishes the same refund.
    await service.operate('exception', 'refund', { reference: refunded })
    await eventually(async () => {
      expect((await service.show(refunded)).refund).toMatchObject({ status: 'completed' })
    })
    expect((await service.show(refunded)).refund.uuid).toBe(refund.uuid)
    expect(await Promise.all([refunded, returned].map(openExceptions))).toEqual([[], []])
    expect((await service.show(returned)).refund).toBeNull()
    const entries = ['late_completion', 'refund', 'refund_opened']
    expect(await entriesOf(service, refunded)).toEqual(entries)
    expect(await entriesOf(service, returned)).toEqual(['late_completion', 'resolution'])
  },
)

runbook('operators.md#a-contradiction')(
  'a debit that its bank never made is reversed without a refund, and a failed refund is decided apart',
  async ({ run, values }) => {
    const { reference } = await play(service, 'contradiction')
    values[REFERENCE] = reference
    const refusal = await service.refusal('debit', 'reverse', { reference, reason: 'Dispute' })
    expect(refusal).toContain('reported a failure')
    await run('debit reverse', { status: 'reversed', refund: null })
    await run('exception resolve', [{ kind: 'contradiction', resolved_by: 'local:engineer' }])
    await advance(service, 900)
    expect((await service.show(reference)).refund).toBeNull()
    expect(await openExceptions(reference)).toEqual([])
    expect(await entriesOf(service, reference)).toEqual(['completion', 'reversal'])
    const refunding = async (): Promise<string> => {
      const { reference } = await play(service, 'refund-rejected')
      const { uuid } = await service.show(reference)
      const denial = { status: 'failed', bank_reference: 'GCB-1', error_message: 'Not debited' }
      expect(codeOf(await service.report(uuid, denial))).toBe('422/3001')
      return reference
    }
    const [debited, unmoved] = [await refunding(), await refunding()]
    const both = { reference: unmoved, note: 'GCB debited nothing' }
    expect(await service.refusal('exception', 'resolve', both)).toMatch(/^--kind: is required/)
    await service.call('exception', 'resolve', { ...both, kind: 'contradiction' })
    Object.assign(values, { 'DCS-20261121-ABC456': debited, 'DCS-20261121-ABC789': unmoved })
    await run('exception resolve', [{ kind: 'contradiction' }])
    await run('exception refund', { refund: { status: 'pending' } })
    await run('exception resolve', [{ kind: 'refund' }])
    await service.untilRefund(debited, 'completed')
    expect(await Promise.all([debited, unmoved].map(openExceptions))).toEqual([[], []])
    const entries = await Promise.all([debited, unmoved].map((one) => entriesOf(service, one)))
    expect(entries).toEqual([
      ['completion', 'refund', 'reversal'],
      ['completion', 'repayment', 'reversal'],
    ])
  },
)

runbook('operators.md#refund-a-customer')(
  'a reversed debit is refunded to the customer, and its provider is notified',
  async ({ run, values }) => {
    const [reference = ''] = await acme.complete('80.00')
    values[REFERENCE] = reference
    await run('debit reverse', { status: 'reversed', amount: '80.00' })
    await service.untilRefund(reference, 'completed')
    await run('debit show', { refund: { status: 'completed', amount: '80.00' } })
    expect(await entriesOf(service, reference)).toEqual(['completion', 'refund', 'reversal'])
    expect((await eventsOf(reference, 5)).at(-1)).toBe('transaction.reversed')
  },
)

runbook('operations.md#the-stream-is-late-or-lost')(
  'a repair publishes the events of a day whose stream records were lost',
  async ({ run, values }) => {
    const day = dayAfter(today(service), -5)
    const noon = new Date(startOf(day).getTime() + 43_200_000)
    const opened = pendingDebit({ provider: providerId('acme') }, noon)
    const declined = { errorMessage: 'Declined', errorCode: 'timeout' } as const
    const debit = granted(bankMove('failed', { changes: declined, at: noon })(opened))
    const { reference } = debit.facts
    // The relay skips unknown kinds of items.
    await put(keys.debit(reference), 'restored' as 'debit', toDebitItem(debit))
    values['2026-11-17'] = day
    await run('debit repair', { repaired: [reference], unreadable: [], is_done: true })
    const feed = await acme.get('/api/v1/payment-providers/events?per_page=100')
    const events = feed.body.data.filter(
      (one: Shown) => one.data.transaction.reference === reference,
    )
    expect(events.map(({ event }: Shown) => event)).toEqual([
      'transaction.created',
      'transaction.pending',
      'transaction.failed',
    ])
  },
)
