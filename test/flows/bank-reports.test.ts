import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { refuseCalls } from '../../sandbox/aws/sdk.ts'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { afterFailure, type BankHealth } from '../../shared/domain/banks/health.ts'
import { exceptionKinds } from '../../shared/domain/debits/exception.ts'
import { changeBankHealth } from '../../shared/store/banks/health.ts'
import { keys } from '../../shared/store/keys.ts'
import { read } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { useReceiver } from '../support/receiver.ts'
import { callbackPath, SILENT, updatePath } from '../support/requests.ts'
import { codeOf, type Shown, testInProcess, useService } from '../support/running-service.ts'

/**
 * The outcomes of debits that a bank reports or returns to a query. Each report changes its debit or
 * becomes an exception (docs/api.md#exceptions).
 */

const service = useService()
const bank = useHttpBank(service)
const receiver = useReceiver()

const processing = () => service.chargeUntil('processing', { phone_number: SILENT })

const completed = { status: 'completed', bank_reference: 'GCB-78' }
const failed = { status: 'failed', bank_reference: 'GCB-79', error_message: 'Declined' }
const textOf = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))

test('a report with lenient fields ends its debit without an exception', async () => {
  const { reference, uuid } = await processing()
  const lenient = { approval_method: 'mobile_app', metadata: null, error_message: null, fee: 0 }
  const fee = '"fee":100.30000000000000004'
  const body = JSON.stringify({ ...completed, ...lenient }).replace('"fee":0', fee)
  const reply = await service.report(uuid, body)
  expect(reply.status).toBe(200)
  expect(reply.body.data).toMatchObject({ fee: '100.30', approval_method: 'mobile_api' })
  expect(await service.exceptions(reference)).toEqual([])
})

test('a number that a double changes is refused in a field of the report alone', async () => {
  const codes = ['switch_id', 'metadata'].map(async (name) => {
    const number = `"${name}":{"id":20261122075413018123}`
    const text = JSON.stringify(completed).replace('{', `{${number},`)
    return codeOf(await service.report(randomUUID(), text))
  })
  expect(await Promise.all(codes)).toEqual(['404/1404', '422/1007'])
})

test.each([
  ['update', updatePath],
  ['callback', callbackPath],
])('a report of a debit whose uuid is in upper case ends the debit: %s', async (_name, pathOf) => {
  const { reference, uuid } = await processing()
  const path = pathOf(uuid.toUpperCase())
  const reply = await service.send('POST', path, { credential: 'bt_sandbox_gcb', body: completed })
  expect(reply.status).toBe(200)
  expect(await service.show(reference)).toMatchObject({ uuid, status: 'completed' })
})

describe('debit-callback with a rejected report of the owning bank', () => {
  test.each([
    ['an unknown approval method', { ...completed, approval_method: 'fax' }, '422/1007'],
    ['metadata above 8 KiB', { ...completed, metadata: { a: 'x'.repeat(9_000) } }, '422/1007'],
    ['a status that no bank reports', { ...completed, status: 'processing' }, '422/1007'],
    ['unreadable JSON', '{"status":"completed",', '400/1400'],
    ['a key twice', '{"status":"failed","status":"completed","bank_reference":"x"}', '400/1400'],
    ['an empty list', '[]', '400/1400'],
    ['no body', '', '400/1400'],
    ['a reserved key', { ...completed, constructor: {} }, '422/1007'],
  ])('a rejected report becomes an exception: %s', async (_name, body, code) => {
    const { reference, uuid } = await processing()
    const reply = await service.report(uuid, body)
    expect(codeOf(reply)).toBe(code)
    expect(await service.exceptions(reference)).toEqual([
      {
        ...{ reference, provider: 'demo', bank: 'GCB', kind: 'refused_report', amount: '100.00' },
        ...{ meaning: exceptionKinds.refused_report.meaning, debit_status: null },
        at: expect.stringMatching(/Z$/),
        ...{ code: reply.body.error.code, details: reply.body.details, report: textOf(body) },
        ...{ request_id: reply.body.meta.request_id, reported_by: 'bank:GCB' },
        ...{ resolved_at: null, resolved_by: null, note: null, request: null, is_accepted: null },
      },
    ])
  })

  test.each([
    ['late_completion', failed, completed],
    ['contradiction', completed, failed],
    ['refused_report', failed, { ...completed, status: 'approved' }],
  ])('a report of the opposite outcome gets 422/3001 and is a %s', async (kind, first, second) => {
    const { reference, uuid } = await processing()
    expect((await service.report(uuid, first)).status).toBe(200)
    const reply = await service.report(uuid, second)
    expect(codeOf(reply)).toBe('422/3001')
    const status = [expect.stringContaining(`cannot transition from ${first.status} to `)]
    if (kind !== 'refused_report') expect(reply.body.details).toEqual({ status })
    expect(await service.exceptions(reference)).toMatchObject([
      { kind, debit_status: first.status, code: 3001, report: textOf(second) },
    ])
  })
})

describe('update-debit-transaction with a rejected report', () => {
  test('a rejected update is stored as a callback is, as base64 when it is not UTF-8', async () => {
    const { reference, uuid } = await processing()
    const body = Buffer.from('{"status":"completed","bank_reference":"\xff"}', 'latin1')
    const headers = { 'Content-Type': 'text/plain' }
    const send = async (options: object) => {
      const sent = { credential: 'bt_sandbox_gcb', ...options }
      return (await service.send('POST', updatePath(uuid), sent)).status
    }
    expect([await send({ body }), await send({ body: '{}', headers })]).toEqual([400, 400])
    const reports = (await service.exceptions(reference)).map(({ report }) => report)
    expect(reports.sort()).toEqual([`base64:${body.toString('base64')}`, '{}'])
    expect(await send({ body: failed })).toBe(200)
  })
})

testInProcess(
  'a malformed report whose exception cannot be stored is repeated by its bank',
  async () => {
    const { reference, uuid } = await processing()
    const malformed = { ...completed, fee: 'none' }
    refuseCalls(({ input }) =>
      JSON.stringify(input).includes('refused_report')
        ? new Error('No exception is written')
        : undefined,
    )
    onTestFinished(() => refuseCalls(() => undefined))
    expect((await service.report(uuid, malformed)).status).toBe(500)
    refuseCalls(() => undefined)
    expect((await service.report(uuid, malformed)).status).toBe(422)
    expect(await service.exceptions(reference)).toMatchObject([{ kind: 'refused_report' }])
  },
)

test('the loser of two opposite reports at the same time is an exception of the status that won', async () => {
  const { reference, uuid } = await processing()
  const bodies = [completed, failed]
  const replies = await Promise.all(bodies.map((body) => service.report(uuid, body)))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 422])
  const { status } = await service.show(reference)
  const kind = status === 'completed' ? 'contradiction' : 'late_completion'
  expect(await service.exceptions(reference)).toMatchObject([{ kind, debit_status: status }])
})

test('no exception is created for a repeated status, another bank or an unknown credential', async () => {
  const { reference, uuid } = await processing()
  const other = await service.report(uuid, { status: 'completed' }, 'bt_sandbox_eco')
  expect(codeOf(other)).toBe('422/1007')
  expect(codeOf(await service.report(uuid, completed, 'bt_sandbox_eco'))).toBe('404/1404')
  expect(codeOf(await service.report(uuid, completed, 'bt_unknown'))).toBe('401/1401')
  await service.report(uuid, completed)
  expect((await service.report(uuid, { ...completed, fee: '2.00' })).status).toBe(200)
  expect(await service.exceptions(reference)).toEqual([])
})

test('the verb resolve requires a note, covers the open exceptions of one kind and keeps the first note', async () => {
  const { reference, uuid } = await processing()
  expect(await service.call('exception', 'show', { reference })).toEqual([])
  const unknown = { reference: 'DCS-20200101-ABC123' }
  expect(await service.refusal('exception', 'show', unknown)).toBe('no such debit')
  for (const body of [{ ...completed, fee: '-1' }, failed, completed]) {
    await service.report(uuid, body)
  }
  const line = '--note: is required'
  expect(await service.refusal('exception', 'resolve', { reference })).toBe(line)
  const kind = 'late_completion'
  const resolve = (note: string, options = {}) =>
    service.call('exception', 'resolve', { reference, note, ...options })
  await resolve('The bank gave the money back', { kind })
  const listed = async (options: Record<string, string>) =>
    (await service.call('exception', 'list', options)).map((one: Shown) => one.reference)
  expect(await listed({ status: 'open', kind: 'refused_report' })).toContain(reference)
  expect(await listed({ status: 'open', kind })).not.toContain(reference)
  expect(await listed({ status: 'resolved', kind })).toContain(reference)
  expect(await listed({ limit: '1' })).toEqual([reference])
  await resolve('A later note', { kind })
  await resolve('Another note')
  const shown = (await service.exceptions(reference)).map((one) => [
    ...[one.kind, one.note, one.resolved_by !== null],
  ])
  expect(shown.sort()).toEqual([
    ['late_completion', 'The bank gave the money back', true],
    ['refused_report', 'Another note', true],
  ])
})

const charge = () => service.charge({ bank_identifier: 'HTB', amount: '120.50' })
const health = () => read<BankHealth>(keys.bankHealth('HTB'))

test('a bank gets each debit, and its rejection fails the debit with its code and message', async () => {
  await service.call('webhook', 'set', { provider: 'demo', url: receiver.url() })
  const { reference, uuid } = await charge()
  const { bank_reference } = await service.until(reference, 'processing')
  expect(bank_reference).toBe(`HTB-${uuid.slice(0, 8)}`)
  const debit = { uuid, reference, phone_number: '+233241234567', amount: '120.50' }
  const request = { method: 'POST', body: { ...debit, currency: 'GHS' } }
  expect(bank.requestsFor(uuid)).toMatchObject([request])
  bank.conducts.push('reject')
  const error_details = { code: 'invalid_account', message: 'No such account' }
  const event = (await receiver.events((await charge()).reference, 3)).at(-1)
  expect(event?.body).toMatchObject({
    event: 'transaction.failed',
    data: { previous_status: 'pending', error_details },
  })
})

const markSlow = (bank: string) => {
  const at = new Date()
  const late = (health: BankHealth) => afterFailure(health, { from: at, at, isLate: true })
  return changeBankHealth(bank as BankIdentifier, late, at)
}

test('a bank is slow without a reply in two seconds: its submissions move until it is prompt again', async () => {
  bank.conducts.push('hang')
  const first = await charge()
  await eventually(async () => expect(await health()).toMatchObject({ state: 'slow' }))
  expect((await service.show(first.reference)).status).toBe('pending')
  // The queue delays it by 20 s, in which the bank accepts it.
  await service.runJob('submit-sidelined', { reference: first.reference, resubmission: true })
  await service.until(first.reference, 'processing')
  expect(bank.requestsFor(first.uuid).map(({ method }) => method)).toEqual(['POST', 'GET'])
  expect(await health()).toMatchObject({ state: 'up' })
  await markSlow('HTB')
  await markSlow('GCB')
  const [second, atSandboxBank] = [await charge(), await service.charge()]
  await service.until(second.reference, 'processing')
  await service.until(atSandboxBank.reference, 'processing')
  expect(bank.requestsFor(second.uuid).map(({ method }) => method)).toEqual(['POST'])
  expect(await health()).toMatchObject({ state: 'up' })
})

test('a submission that waited for ten minutes is not sent', async () => {
  bank.conducts.push('hang')
  const { reference, uuid } = await charge()
  await eventually(async () => expect(await health()).toMatchObject({ state: 'slow' }))
  await service.runJob('submit-sidelined', { reference, resubmission: true }, 601)
  const shown = { status: 'failed', error_message: 'Bank processing timeout' }
  expect(await service.show(reference)).toMatchObject(shown)
  expect(bank.requestsFor(uuid).map(({ method }) => method)).toEqual(['POST', 'GET'])
})

const fields = { bank_reference: 'HTB-9', fee: '1.25' }
const declined = { status: 'failed', code: 'insufficient_funds', message: 'Too little money' }
const lost = { error_code: 'insufficient_funds', error_message: 'Too little money' }
const timedOut = { error_code: 'timeout', error_message: 'Transaction timeout' }

test.each([
  ['completed wins', { status: 'completed', ...fields }, 'completed', fields],
  ['failed wins with its code', declined, 'failed', lost],
  ['accepted lets the timeout proceed', undefined, 'failed', timedOut],
  ['another amount lets it proceed', { ...declined, amount: '1.00' }, 'failed', timedOut],
])('a bank is queried once before a timeout: %s', async (_name, outcome, status, expected) => {
  const { reference, uuid } = await charge()
  await service.until(reference, 'processing')
  await service.runJob('schedule-timeout', { reference })
  const schedules = service.sandbox().schedules()
  expect(schedules).toEqual(expect.arrayContaining([`${uuid}-approval`, `${uuid}-processing`]))
  if (outcome) bank.outcomes.set(uuid, outcome)
  for (const _ of [1, 2]) {
    await service.runJob('expire-debit', { reference, phase: 'approval' }, 301)
  }
  const shown = await service.show(reference)
  expect(shown).toMatchObject({ status, ...expected })
  const by = expected === timedOut ? 'job:expire-debit' : 'bank:HTB'
  expect(shown.history.at(-1)).toMatchObject({ by })
  expect(bank.requestsFor(uuid).map(({ method }) => method)).toEqual(['POST', 'GET'])
})
