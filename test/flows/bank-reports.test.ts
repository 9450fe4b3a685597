import { describe, expect, test } from 'vitest'
import {
  callbackPath,
  codeOf,
  type Shown,
  SILENT,
  updatePath,
  useService,
} from '../support/running-service.ts'

/** Each bank report changes its debit or becomes an exception (docs/api.md#exceptions). */

const service = useService()

const processing = () => service.chargeUntil('processing', { phone_number: SILENT })

const completed = { status: 'completed', bank_reference: 'GCB-78' }
const failed = { status: 'failed', bank_reference: 'GCB-79', error_message: 'Declined' }
const textOf = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))

const nulls = { approval_method: null, fee: null, metadata: null, error_message: null }
const float = '{"status":"completed","bank_reference":"G","fee":0.30000000000000004}'
const long = 'x'.repeat(255)
const breaks = { ...failed, error_message: 'Insufficient funds\nbalance 0' }

test.each([
  ['a fee above the amount', { ...completed, fee: '100.01' }, { fee: '100.01' }],
  ['a fee of a float', float, { fee: '0.30' }],
  [
    'a bank reference of 255 characters',
    { ...completed, bank_reference: long },
    { bank_reference: long },
  ],
  ['null in every optional field', { ...completed, ...nulls }, { fee: null }],
  ['a line break in the message', breaks, { error_message: 'Insufficient funds balance 0' }],
  [
    'a long message',
    { ...failed, error_message: 'e'.repeat(3_000) },
    { error_message: 'e'.repeat(500) },
  ],
  [
    'the provider’s name of an approval method',
    { ...completed, approval_method: 'mobile_app' },
    { approval_method: 'mobile_api' },
  ],
])('a report with %s ends its debit without an exception', async (_name, body, shown) => {
  const { reference, uuid } = await processing()
  const reply = await service.report(uuid, body)
  expect(reply.status).toBe(200)
  expect(reply.body.data).toMatchObject(shown)
  expect(await service.exceptions(reference)).toEqual([])
})

describe('debit-callback with a rejected report of the owning bank', () => {
  test.each([
    ['an unknown approval method', { ...completed, approval_method: 'fax' }, '422/1007'],
    ['metadata above 8 KiB', { ...completed, metadata: { a: 'x'.repeat(9_000) } }, '422/1007'],
    ['a status that no bank reports', { ...completed, status: 'processing' }, '422/1007'],
    ['unreadable JSON', '{"status":"completed",', '400/1400'],
    ['a key twice', '{"status":"failed","status":"completed","bank_reference":"x"}', '400/1400'],
    ['an empty list', '[]', '400/1400'],
  ])('becomes an exception: %s', async (_name, body, code) => {
    const { reference, uuid } = await processing()
    const reply = await service.report(uuid, body)
    expect(codeOf(reply)).toBe(code)
    expect(await service.exceptions(reference)).toEqual([
      {
        ...{ reference, provider: 'demo', bank: 'GCB', kind: 'refused_report', amount: '100.00' },
        ...{ at: expect.stringMatching(/Z$/), debit_status: null },
        ...{ code: reply.body.error.code, details: reply.body.details, report: textOf(body) },
        ...{ request_id: reply.body.meta.request_id, reported_by: 'bank:GCB' },
        ...{ resolved_at: null, resolved_by: null, note: null },
      },
    ])
  })

  test('is stored from the update as from the callback, as base64 when it is not UTF-8', async () => {
    const { reference, uuid } = await processing()
    const bytes = Buffer.from('{"status":"completed","bank_reference":"\xff"}', 'latin1')
    const credential = 'bt_sandbox_gcb'
    const body = new Uint8Array(bytes)
    expect((await service.send('POST', updatePath(uuid), { credential, body })).status).toBe(400)
    const headers = { 'Content-Type': 'text/plain' }
    const text = textOf(completed)
    const plain = await service.send('POST', callbackPath(uuid), {
      credential,
      body: text,
      headers,
    })
    expect(plain.status).toBe(400)
    const reports = (await service.exceptions(reference)).map(({ report }) => report)
    expect(reports.sort()).toEqual([`base64:${bytes.toString('base64')}`, text].sort())
    const update = await service.send('POST', updatePath(uuid), { credential, body: failed })
    expect(update.status).toBe(200)
  })

  test.each([
    ['late_completion', failed, completed],
    ['contradiction', completed, failed],
    ['refused_report', failed, { ...completed, status: 'approved' }],
  ])('gets 422/3001 after the opposite outcome and is a %s', async (kind, first, second) => {
    const { reference, uuid } = await processing()
    expect((await service.report(uuid, first)).status).toBe(200)
    const reply = await service.report(uuid, second)
    expect(codeOf(reply)).toBe('422/3001')
    const to = second.status === 'approved' ? 'approved' : second.status
    const status = [expect.stringContaining(`cannot transition from ${first.status} to `)]
    if (to !== 'approved') expect(reply.body.details).toEqual({ status })
    expect(await service.exceptions(reference)).toMatchObject([
      { kind, debit_status: first.status, code: 3001, report: textOf(second) },
    ])
  })
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

test('resolve requires a note, covers the open exceptions of one kind and keeps the first note', async () => {
  const { reference, uuid } = await processing()
  expect(await service.refusal('exception', 'show', { reference })).toBe('no such exception')
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
  await resolve('Another note')
  const shown = (await service.exceptions(reference)).map((one) => [
    ...[one.kind, one.note, one.resolved_by !== null],
  ])
  expect(shown.sort()).toEqual([
    ['late_completion', 'The bank gave the money back', true],
    ['refused_report', 'Another note', true],
  ])
})
