import { expect, test } from 'vitest'
import { createProvider } from '../support/provider.ts'
import { SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'

const service = useService({ timeScale: 60 })
const PHONE = '+233241234567'

const search = async (options: Record<string, string>): Promise<string[]> =>
  (await service.call('debit', 'list', options)).map(({ reference }: Shown) => reference)

const dayOf = async (reference: string): Promise<string> =>
  (await service.show(reference)).created_at.slice(0, 10)

test('a list has the debits of a phone number at all banks and of all providers', async () => {
  const { charge } = await createProvider(service, 'found')
  const { reference: first } = await service.charge({ phone_number: PHONE, amount: 12.34 })
  const second = await charge(PHONE)
  const { reference: third } = await service.charge({ phone_number: PHONE, bank_identifier: 'ECO' })
  const stranger = await service.chargeUntil('processing', { phone_number: SILENT })
  const { bank_reference } = await service.until(first, 'completed')
  const phone = { phone: PHONE }
  expect(await search(phone)).toEqual([third, second, first])
  expect(await search({ ...phone, provider: 'found' })).toEqual([second])
  expect(await search({ ...phone, amount: '12.34' })).toEqual([first])
  expect(await search({ ...phone, status: 'failed' })).toEqual([])
  expect(await search({ 'bank-reference': bank_reference })).toEqual([first])
  expect(await search({ bank: 'ECO', phone: PHONE })).toEqual([third])
  const { uuid, partner_reference } = await service.show(second)
  for (const text of [uuid, uuid.toUpperCase()]) {
    expect(await search({ uuid: text })).toEqual([second])
  }
  expect(
    await search({ uuid: uuid.replace(/^./, (digit: string) => (digit === '1' ? '2' : '1')) }),
  ).toEqual([])
  expect(await search({ 'partner-reference': partner_reference })).toEqual([second])
  expect(await search({ 'partner-reference': partner_reference, provider: 'demo' })).toEqual([])
  const days = { from: await dayOf(first), to: await dayOf(stranger.reference) }
  expect(await search(days)).toEqual([...[stranger.reference, third, second, first]])
  expect(await search({ ...phone, to: '2020-01-01' })).toEqual([])
  const padded = { status: 'failed', bank_reference: 'PAD-1   ', error_message: 'No' }
  await service.report(stranger.uuid, padded, 'bt_sandbox_gcb')
  for (const text of ['PAD-1', padded.bank_reference])
    expect(await search({ 'bank-reference': text })).toEqual([stranger.reference])
})

test('the references of a late completion and of its refund find the debit, which shows the open exception', async () => {
  const { reference, uuid } = await service.chargeUntil('processing', { phone_number: SILENT })
  const failed = { status: 'failed', bank_reference: 'GCB-F1', error_message: 'No' }
  await service.report(uuid, failed, 'bt_sandbox_gcb')
  const { open_exceptions } = await service.show(reference)
  expect(open_exceptions).toEqual([])
  const completed = { status: 'completed', bank_reference: 'STMT-998877' }
  await service.report(uuid, completed, 'bt_sandbox_gcb')
  expect(await service.show(reference)).toMatchObject({ open_exceptions: ['late_completion'] })
  await service.call('exception', 'refund', { reference })
  const refund = await service.untilRefund(reference, 'completed')
  const day = await dayOf(reference)
  for (const text of ['STMT-998877', refund.bank_reference]) {
    for (const span of [{ phone: SILENT }, { from: day, to: day }])
      expect(await search({ ...span, 'bank-reference': text })).toEqual([reference])
  }
  expect(await service.show(reference)).toMatchObject({ open_exceptions: [] })
})

test('a list continues at its cursor, in the console too, and a cursor belongs to one list', async () => {
  const phone = '+233200000009'
  for (const amount of [1.01, 1.02, 1.03]) await service.charge({ phone_number: phone, amount })
  const all = await search({ phone })
  const page = async (options: Record<string, string>) => {
    const body = { noun: 'debit', verb: 'list', options: { phone, limit: '2', ...options } }
    const reply = await fetch(`${service.sandbox().address}/console/operator`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    const { data, next_cursor: cursor } = (await reply.json()) as Shown
    return { references: data.map(({ reference }: Shown) => reference), cursor }
  }
  const first = await page({})
  expect(first.references).toEqual(all.slice(0, 2))
  expect(await page({ cursor: first.cursor })).toEqual({ references: all.slice(2) })
  const other = { phone: PHONE, cursor: first.cursor }
  expect(await service.refusal('debit', 'list', other)).toBe(
    '--cursor: must be a cursor of this list',
  )
})
