import { describe, expect, test, vi } from 'vitest'
import {
  type Charged,
  callbackPath,
  type Reply,
  type Shown,
  SILENT,
  updatePath,
  useService,
} from '../support/running-service.ts'

/** Each bank report changes its debit or becomes an exception (docs/api.md#exceptions). */

const service = useService()
const gcb = 'bt_sandbox_gcb'

const processing = () => service.chargeUntil('processing', { phone_number: SILENT })

type Sending = { credential?: string; headers?: Record<string, string> }

// The sandbox allows 60 callbacks and 10 updates a minute; both share their code.
const report = (
  { uuid }: Pick<Charged, 'uuid'>,
  body: unknown,
  sending: Sending = {},
): Promise<Reply> => service.send('POST', callbackPath(uuid), { credential: gcb, body, ...sending })

const exceptionsOf = async ({ reference }: Charged): Promise<Shown[]> => {
  const reply = await service.operate('exception', 'show', { reference })
  return 'error' in reply ? [] : (reply.result as Shown[])
}

const completed = { status: 'completed', bank_reference: 'GCB-78' }
const failed = { status: 'failed', bank_reference: 'GCB-79', error_message: 'Declined' }

describe('a report with a tolerated deviation', () => {
  test.each([
    ['a fee above the amount', { ...completed, fee: '100.01' }, { fee: '100.01' }],
    [
      'a fee of a float',
      '{"status":"completed","bank_reference":"G","fee":0.30000000000000004}',
      { fee: '0.30' },
    ],
    [
      'the provider’s name of an approval method',
      { ...completed, approval_method: 'mobile_app' },
      { approval_method: 'mobile_api' },
    ],
    [
      'a bank reference of 255 characters',
      { ...completed, bank_reference: 'x'.repeat(255) },
      { bank_reference: 'x'.repeat(255) },
    ],
    [
      'null in every optional field',
      { ...completed, approval_method: null, fee: null, metadata: null, error_message: null },
      { fee: null },
    ],
    [
      'a line break in the error message',
      { ...failed, error_message: 'Insufficient funds\nbalance 0' },
      { error_message: 'Insufficient funds balance 0' },
    ],
    [
      'a long error message',
      { ...failed, error_message: 'e'.repeat(3_000) },
      { error_message: 'e'.repeat(500) },
    ],
  ])('ends its debit without an exception: %s', async (_name, body, shown) => {
    const debit = await processing()
    const reply = await report(debit, body)
    expect(reply.status).toBe(200)
    expect(reply.body.data).toMatchObject(shown)
    expect(await exceptionsOf(debit)).toEqual([])
  })
})

describe('a rejected report of the owning bank', () => {
  const text = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

  test.each([
    ['an unknown approval method', { ...completed, approval_method: 'fax' }, 422, 1007],
    ['no bank reference', { status: 'completed' }, 422, 1007],
    ['a negative fee', { ...completed, fee: '-0.01' }, 422, 1007],
    ['metadata above 8 KiB', { ...completed, metadata: { a: 'x'.repeat(9_000) } }, 422, 1007],
    ['a status that no bank reports', { ...completed, status: 'processing' }, 422, 1007],
    ['unreadable JSON', '{"status":"completed",', 400, 1400],
    ['a key twice', '{"status":"failed","status":"completed","bank_reference":"x"}', 400, 1400],
    ['an empty list', '[]', 400, 1400],
  ])('%s', async (_name, body, status, code) => {
    const debit = await processing()
    const reply = await report(debit, body)
    expect([reply.status, reply.body.error.code]).toEqual([status, code])
    expect(await exceptionsOf(debit)).toEqual([
      expect.objectContaining({
        reference: debit.reference,
        kind: 'refused_report',
        bank: 'GCB',
        amount: '100.00',
        code,
        details: reply.body.details,
        report: text(body),
        request_id: reply.body.meta.request_id,
        resolved_at: null,
      }),
    ])
  })

  test('is kept as base64 when its body is not UTF-8', async () => {
    const debit = await processing()
    const bytes = Buffer.from('{"status":"completed","bank_reference":"\xff"}', 'latin1')
    expect((await report(debit, new Uint8Array(bytes))).status).toBe(400)
    const [exception] = await exceptionsOf(debit)
    expect(exception.report).toBe(`base64:${bytes.toString('base64')}`)
  })

  test('is kept when its content type is wrong', async () => {
    const debit = await processing()
    const headers = { 'Content-Type': 'text/plain' }
    expect((await report(debit, JSON.stringify(completed), { headers })).status).toBe(400)
    expect(await exceptionsOf(debit)).toMatchObject([{ report: JSON.stringify(completed) }])
  })

  test.each([
    ['completed after failed is a late completion', failed, completed, 'late_completion'],
    ['failed after completed is a contradiction', completed, failed, 'contradiction'],
    [
      'approved after failed is a refused report',
      failed,
      { ...completed, status: 'approved' },
      'refused_report',
    ],
  ])('%s gets 422/3001 and is kept', async (_name, first, second, kind) => {
    const debit = await processing()
    expect((await report(debit, first)).status).toBe(200)
    const reply = await report(debit, second)
    expect([reply.status, reply.body.error.code]).toEqual([422, 3001])
    expect(await exceptionsOf(debit)).toMatchObject([
      { kind, debit_status: first.status, code: 3001, report: JSON.stringify(second) },
    ])
  })

  test('is kept by the update as by the callback', async () => {
    const debit = await processing()
    const body = { ...completed, fee: '-1' }
    const reply = await service.send('POST', updatePath(debit.uuid), { credential: gcb, body })
    expect(reply.status).toBe(422)
    expect(await exceptionsOf(debit)).toMatchObject([{ kind: 'refused_report' }])
  })
})

describe('no exception is created for', () => {
  test('a report that repeats the status of its debit', async () => {
    const debit = await processing()
    await report(debit, completed)
    expect((await report(debit, { ...completed, fee: '2.00' })).status).toBe(200)
    expect(await exceptionsOf(debit)).toEqual([])
  })

  test('a report of another bank or without a credential', async () => {
    const debit = await processing()
    const invalid = { status: 'completed' }
    expect((await report(debit, invalid, { credential: 'bt_sandbox_eco' })).status).toBe(422)
    expect((await report(debit, completed, { credential: 'bt_sandbox_eco' })).status).toBe(404)
    expect((await report(debit, completed, { credential: 'bt_unknown' })).status).toBe(401)
    expect(await exceptionsOf(debit)).toEqual([])
  })
})

test('resolve requires a note, covers the open exceptions of one kind and records the operator', async () => {
  const debit = await processing()
  await report(debit, { ...completed, fee: '-1' })
  await report(debit, failed)
  await report(debit, completed)
  const { reference } = debit
  const withoutNote = await service.operate('exception', 'resolve', { reference })
  expect(withoutNote).toEqual({ error: '--note: is required' })
  const kind = 'late_completion'
  await service.call('exception', 'resolve', {
    reference,
    kind,
    note: 'The bank gave the money back',
  })
  const open = (await exceptionsOf(debit)).filter(({ resolved_at }) => resolved_at === null)
  expect(open.map((one) => one.kind)).toEqual(['refused_report'])
  const listed = async (options: Record<string, string>) =>
    (await service.call('exception', 'list', options)).map((one: Shown) => one.reference)
  await vi.waitFor(async () => {
    expect(await listed({ status: 'open', kind: 'refused_report' })).toContain(reference)
    expect(await listed({ status: 'open', kind })).not.toContain(reference)
    expect(await listed({ status: 'resolved', kind })).toContain(reference)
  })
  await service.call('exception', 'resolve', { reference, note: 'Another note' })
  const notes = (await exceptionsOf(debit)).map(({ kind, note, resolved_by }) => [
    kind,
    note,
    resolved_by !== null,
  ])
  expect(notes.sort()).toEqual([
    ['late_completion', 'The bank gave the money back', true],
    ['refused_report', 'Another note', true],
  ])
})
