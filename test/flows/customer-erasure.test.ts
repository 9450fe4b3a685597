import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { DAY_SECONDS, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import {
  chargeRequest,
  customerAccount,
  debitChanges,
  debitFacts,
  erased,
  textsIn,
} from '../support/personal-fields.ts'
import { useReceiver } from '../support/receiver.ts'
import { CHARGE, chargeBody, pathOf, statusPath } from '../support/requests.ts'
import {
  type Charged,
  codeOf,
  type Shown,
  testInProcess,
  useService,
} from '../support/running-service.ts'

/** The erasure of a customer (docs/compliance.md#personal-data). */

const service = useService({ timeScale: 60 })
const bank = useHttpBank(service, { bank: 'CNB' })
const receiver = useReceiver()
const { call, items, refusal } = service

const PHONE = chargeRequest.phone_number
const BANK_TOKEN = 'bt_sandbox_cnb'
const TOKEN = 'sk_sandbox_erasing'
const ERASE = { phone: PHONE, reason: 'Request 7' }
const texts = {
  reason: 'CanaryReasonZq',
  note: 'CanaryNoteZq',
  report: 'CanaryReportZq',
  response: 'CanaryResponseZq',
}
const canaries = [
  ...textsIn(erased('facts', debitFacts)),
  ...textsIn(erased('changes', debitChanges)),
  ...textsIn(erased('account', customerAccount)),
  ...Object.values(texts),
  PHONE.slice(4),
].filter((text) => text.length > 1)

const erasuresOf = async (reference: string) =>
  (await items()).filter(
    ({ pk, references }) => String(pk).startsWith('ERASURE#') && references.includes(reference),
  )

/** Returns the canaries in raw items, with the items. */
const canariesInItems = async (): Promise<string[]> => {
  const quoted = canaries.map((canary) => JSON.stringify(canary).slice(1, -1))
  return (await items()).flatMap((item) => {
    const text = JSON.stringify(item)
    return quoted
      .filter((canary) => text.includes(canary))
      .map((canary) => `${item.pk} ${item.sk}: ${canary}`)
  })
}

const charge = (partner_reference: string): Promise<Charged> =>
  service.chargeUntil(
    'processing',
    { ...chargeRequest, bank_identifier: 'CNB', partner_reference },
    TOKEN,
  )

const report = async ({ uuid }: Charged, status: string, more = {}) =>
  service.report(uuid, { status, bank_reference: 'B-1', ...more }, BANK_TOKEN)
const complete = (debit: Charged) => report(debit, 'completed', { metadata: debitChanges.metadata })

let payee: Payee
let debits: Record<'completed' | 'failed' | 'reversed' | 'requested', Charged>

/** Creates a debit of each end, with every text that people write about them. */
beforeAll(async () => {
  payee = await createPayee(service, 'erasing', { reversals: 'request' })
  await payee.webhook('set', { url: receiver.url() })
  receiver.otherwise =
    ({ raw }) =>
    (response) =>
      response.writeHead(200).end(`${raw} ${texts.response}`)
  const { customerName: name, accountNumber } = customerAccount
  const account = { phone: PHONE, bank: 'CNB', name, 'account-number': accountNumber }
  await call('customer', 'link', account)
  const [completed, failed, reversed, requested] = await Promise.all(
    ['e-1', 'e-2', 'e-3', 'e-4'].map(charge),
  )
  if (!completed || !failed || !reversed || !requested) throw new Error('Four are charged')
  debits = { completed, failed, reversed, requested }
  for (const one of [completed, reversed, requested]) await complete(one)
  const { errorMessage: error_message } = debitChanges
  await report(failed, 'failed', { error_message })
  await report(failed, 'completed', { bank_reference: 'B-2', metadata: { x: texts.report } })
  const path = pathOf('request-reversal', { reference: requested.reference })
  const body = { reason: texts.reason }
  expect((await service.send('POST', path, { credential: TOKEN, body })).status).toBe(202)
  for (const { reference } of [completed, reversed, requested]) {
    await receiver.events(reference, 4)
  }
})

const reverseAndRefund = async (): Promise<void> => {
  const { reference } = debits.reversed
  await payee.reverse(reference, texts.reason)
  await service.untilRefund(reference, 'completed')
}

const resolve = async (reference: string): Promise<void> =>
  void (await call('exception', 'resolve', { reference, note: texts.note }))

const read = async ({ reference }: Charged): Promise<Shown> =>
  (await service.get(statusPath(reference), TOKEN)).body.data

const booksOf = async (batches: readonly string[]): Promise<string> => {
  const reports = await Promise.all(
    batches.flatMap((batch) =>
      ['json', 'csv'].map((format) => call('settlement', 'report', { batch, format })),
    ),
  )
  return JSON.stringify(reports)
}

describe('customer erase', () => {
  test('an erasure is refused while work is open, and the refusal names it', async () => {
    const { completed, failed, requested } = debits
    expect(await refusal('customer', 'erase', ERASE)).toMatch(
      `${completed.reference} is not settled`,
    )
    await payee.run(nightAfter(0))
    expect(await refusal('customer', 'erase', ERASE)).not.toMatch(completed.reference)
    await reverseAndRefund()
    const refused = await refusal('customer', 'erase', ERASE)
    expect(refused).toContain(`${debits.reversed.reference} is reversed, but not adjusted`)
    expect(refused).toContain(`${failed.reference} is with an open late_completion exception`)
    expect(refused).toContain(`${requested.reference} is with an open reversal_request exception`)
    await payee.run(nightAfter(1))
    await resolve(failed.reference)
    await resolve(requested.reference)
    expect(await canariesInItems()).not.toEqual([])
  })

  test('an erasure leaves no number, name, account or text of the customer in any item', async () => {
    const batches = (await call('settlement', 'list', { provider: 'erasing' })).map(
      ({ id }: Shown) => id,
    )
    const before = await booksOf(batches)
    const result = await call('customer', 'erase', ERASE)
    expect(result).toEqual({ erased: 4, later: 0, last_on: null })
    // Change records are append-only: operators must not write about customers in reasons and notes.
    const isReason = /^CHANGES .*: Canary(?:Reason|Note)Zq$/
    expect((await canariesInItems()).filter((line) => !isReason.test(line))).toEqual([])
    expect(await booksOf(batches)).toBe(before)
    expect(await call('customer', 'erase', ERASE)).toMatchObject({ erased: 0, later: 0 })
    expect(await call('debit', 'list', { phone: PHONE })).toEqual([])
  })

  test('the fields of an erased customer read as null, and amounts, times and references stay', async () => {
    const customer = { name: null, phone_number: null, account_number: null }
    const { completed, failed, reversed, requested } = debits
    expect(await read(completed)).toMatchObject({
      ...{ status: 'completed', amount: '100.00', bank_reference: 'B-1' },
      ...{ partner_reference: 'e-1', narration: null, metadata: null, customer },
    })
    expect((await read(failed)).error_details).toMatchObject({ message: null })
    expect(await read(reversed)).toMatchObject({ metadata: null, refund: { reason: null } })
    expect(await read(requested)).toMatchObject({ reversal_request: { reason: null, note: null } })
    const shown = await service.show(completed.reference)
    expect(shown).toMatchObject({ phone_number: null, narration: null, metadata: null })
    const outcome = JSON.stringify({ status: 'completed', bank_reference: 'B-2' })
    expect(await service.exceptions(failed.reference)).toMatchObject([
      { report: outcome, note: null },
    ])
    const list = await payee.get('/api/v1/payment-providers/debit-requests?status=reversed')
    expect(list.body.data).toMatchObject([{ narration: null, customer }])
  })

  test('a redelivered event of an erased debit has nulls', async () => {
    const { reference } = debits.reversed
    const records = await call('delivery', 'list', { reference })
    receiver.received.length = 0
    for (const { id } of records) await call('delivery', 'redeliver', { id: String(id) })
    const events = await receiver.events(reference, records.length)
    for (const { body } of events) {
      const { narration, customer } = body.data.transaction
      expect([narration, body.data.metadata, customer.phone_number]).toEqual([null, null, null])
    }
    expect(events.at(-1)?.body.data.refund.reason).toBeNull()
  })

  test('a report about an erased debit is an exception without its texts', async () => {
    const { reference } = debits.failed
    await report(debits.failed, 'completed', {
      bank_reference: 'B-3',
      metadata: { x: texts.report },
    })
    const late = (await call('exception', 'show', { reference })).find(
      ({ resolved_at }: Shown) => resolved_at === null,
    )
    expect(late).toMatchObject({ kind: 'late_completion', details: null })
    expect(JSON.parse(late.report)).toEqual({ status: 'completed', bank_reference: 'B-3' })
    expect(JSON.stringify(await items())).not.toContain(texts.report)
    await resolve(reference)
  })

  test('no text that an operator writes about an erased debit has the number of its customer', async () => {
    const { reference } = debits.reversed
    const written = `Called ${PHONE.replace('+233', '0')}`
    const calls = [
      ['exception', 'refund', { reference, reason: written }],
      ['exception', 'resolve', { reference, note: written }],
      ['debit', 'reverse', { reference, reason: written }],
      ['customer', 'erase', { phone: PHONE, reason: written }],
    ] as const
    for (const [noun, verb, options] of calls)
      expect(await refusal(noun, verb, options)).toMatch(/^--(?:reason|note): must not contain/)
    expect(JSON.stringify(await items())).not.toContain(written)
  })

  test('a repeated reference of an erased debit is refused, because no hash of its request stays', async () => {
    const body = chargeBody({ ...chargeRequest, bank_identifier: 'CNB', partner_reference: 'e-1' })
    const repeat = await service.send('POST', CHARGE, { credential: TOKEN, body })
    expect(codeOf(repeat)).toBe('409/3003')
    expect(repeat.body.error.details.reference).toBe(debits.completed.reference)
  })

  test('a repeat of a resolved report about an erased debit is resolved too', async () => {
    await report(debits.failed, 'completed', { bank_reference: 'B-2', metadata: { x: 'Again' } })
    const shown = await service.exceptions(debits.failed.reference)
    expect(shown.map(({ resolved_at }: Shown) => resolved_at)).not.toContain(null)
  })

  test('the later work on an erased debit stores no text about its customer', async () => {
    const { reference } = debits.completed
    const path = pathOf('request-reversal', { reference })
    const body = { reason: 'CanaryLaterRequestZq' }
    await service.send('POST', path, { credential: TOKEN, body })
    bank.conducts.push('reject')
    await call('debit', 'reverse', { reference, reason: 'CanaryLaterReasonZq' })
    await service.untilRefund(reference, 'failed')
    await call('exception', 'refund', { reference, reason: 'CanaryLaterRetryZq' })
    await receiver.events(reference, 1)
    const request = (await read(debits.completed)).reversal_request
    expect(request).toMatchObject({ reason: null })
    for (const one of await service.exceptions(reference)) expect(one.report).toBeNull()
    const isRecord = /^(?:CHANGES|JOURNAL)/
    const later = (await items()).filter(({ pk }) => !isRecord.test(String(pk)))
    expect(JSON.stringify(later)).not.toMatch(/Canary(?:Later|Response)|No such account/)
  })

  test('the record of an erasure names the customer by the keyed hash alone', async () => {
    const records: Shown[] = await call('change', 'list', { phone: PHONE })
    const own = records.filter(({ verb }) => verb === 'erase')
    const target = expect.stringMatching(/^[\w-]{22}( CNB)?$/)
    expect(own.map(({ changed }) => Object.keys(changed))).toContainEqual(['reason', 'debits'])
    for (const record of own) expect(record).toMatchObject({ noun: 'customer', target })
  })

  test('the reconciliation of the day finds nothing about erased debits', async () => {
    const date = new Date().toISOString().slice(0, 10)
    const { invariants } = await call('reconciliation', 'run', { date })
    expect(JSON.stringify(invariants)).not.toMatch(
      new RegExp(
        Object.values(debits)
          .map(({ reference }) => reference)
          .join('|'),
      ),
    )
  })

  testInProcess(
    'a younger debit follows on its day, and a keyed hash names its customer until then',
    async () => {
      vi.stubEnv('ERASE_AFTER_DAYS', '10')
      onTestFinished(() => void vi.unstubAllEnvs())
      const phone_number = '+233247777778'
      const charged = await service.charge({ phone_number, bank_identifier: 'CNB' }, TOKEN)
      await service.until(charged.reference, 'processing')
      await report(charged, 'failed', { error_message: 'No' })
      const result = await call('customer', 'erase', { ...ERASE, phone: phone_number })
      const last_on = dayAfter(dayOf(new Date()), 10)
      expect(result).toEqual({ erased: 0, later: 1, last_on })
      const pages = await erasuresOf(charged.reference)
      expect(pages).toHaveLength(1)
      expect(JSON.stringify(pages)).not.toContain(phone_number.slice(4))
      await service.runJob('sweep', {}, 9 * DAY_SECONDS)
      expect(await erasuresOf(charged.reference)).toHaveLength(1)
      // A later report is open work: the sweep tries again a day later.
      await report(charged, 'completed', { bank_reference: 'B-9' })
      await service.runJob('sweep', {}, 10 * DAY_SECONDS + 60)
      expect((await read(charged)).customer.phone_number).toBe(phone_number)
      await resolve(charged.reference)
      await service.runJob('sweep', {}, 11 * DAY_SECONDS + 120)
      expect((await read(charged)).customer.phone_number).toBeNull()
      await service.runJob('sweep', {}, 11 * DAY_SECONDS + 600)
      expect(await erasuresOf(charged.reference)).toEqual([])
    },
  )
})
