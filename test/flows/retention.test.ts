import { DeleteCommand } from '@aws-sdk/lib-dynamodb'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DAY_SECONDS, dayAfter, dayOf, monthOf, startOf } from '../../shared/domain/time.ts'
import { keyOf, table, tableName } from '../../shared/store/table.ts'
import { createProvider } from '../support/provider.ts'
import { CHARGE, chargeBody, FAILS_AT_ONCE, SILENT, statusPath } from '../support/requests.ts'
import { codeOf, type Shown, testInProcess, useService } from '../support/running-service.ts'

/** Debits that expire after the years of the stage (docs/table.md#retention). */

const service = useService({ timeScale: 60 })
const YEAR_SECONDS = 366 * DAY_SECONDS

const itemsOf = async (reference: string): Promise<Shown[]> =>
  (await service.items()).filter(({ pk }) => pk === `DEBIT#${reference}`)

/** Removes items as DynamoDB does when they have expired. */
const expire = async (items: readonly Shown[]): Promise<void> => {
  for (const item of items)
    await table.send(new DeleteCommand({ TableName: tableName(), Key: keyOf(item) }))
}

test.each(['return', 'reject'])(
  'a repeated reference of an expired debit with duplicates: %s is 409/3003, never a second charge',
  async (duplicates) => {
    const { id, credential } = await createProvider(service, `expired-${duplicates}`, {
      duplicates,
    })
    const body = chargeBody({ phone_number: FAILS_AT_ONCE })
    const charge = (more = {}) =>
      service.send('POST', CHARGE, { credential, body: { ...body, ...more } })
    const { reference, response } = (await charge()).body.data
    await service.until(reference, 'failed')
    await expire(await itemsOf(reference))
    for (const more of [{}, { narration: 'Another' }, { amount: '3.00' }]) {
      const repeated = await charge(more)
      expect(codeOf(repeated)).toBe('409/3003')
      expect(repeated.body.details).toEqual({ reference, uuid: response.uuid })
    }
    expect(codeOf(await service.get(statusPath(reference), credential))).toBe('404/3404')
    const { partner_reference } = body
    const query = `?status=failed&partner_reference=${partner_reference}`
    const list = await service.get(`/api/v1/payment-providers/debit-requests${query}`, credential)
    expect([list.status, list.body.data]).toEqual([200, []])
    expect(await service.call('debit', 'list', { provider: id })).toEqual([])
    expect(await itemsOf(reference)).toEqual([])
  },
)

testInProcess('a night extends the debit of an open exception, and no other', async () => {
  vi.stubEnv('RETAIN_YEARS', '7')
  onTestFinished(() => void vi.unstubAllEnvs())
  const [open, other] = [
    await service.chargeUntil('processing', { phone_number: SILENT }),
    await service.chargeUntil('failed', { phone_number: FAILS_AT_ONCE }),
  ]
  await service.report(open.uuid, { status: 'failed', bank_reference: 'B-1', error_message: 'No' })
  await service.report(open.uuid, { status: 'completed', bank_reference: 'B-1' })
  const expiries = async (reference: string) =>
    (await itemsOf(reference)).map(({ entity, expiresAt }) => [entity, expiresAt])
  const [before, others] = [await expiries(open.reference), await expiries(other.reference)]
  expect(Object.fromEntries(before)).toEqual({ debit: expect.any(Number), exception: undefined })
  await service.runJob('reconcile-day', {}, 5 * YEAR_SECONDS)
  expect(await expiries(open.reference)).toEqual(before)
  await service.runJob('reconcile-day', {}, 6.5 * YEAR_SECONDS)
  const after = Object.fromEntries(await expiries(open.reference))
  expect(after.debit).toBeGreaterThan(Object.fromEntries(before).debit + 1.4 * YEAR_SECONDS)
  expect(await expiries(other.reference)).toEqual(others)
})

testInProcess('the service refuses the books of a day whose debits may have expired', async () => {
  vi.stubEnv('RETAIN_YEARS', '7')
  onTestFinished(() => void vi.unstubAllEnvs())
  const first = dayAfter(dayOf(new Date()), 1 - 7 * 366)
  const date = dayAfter(first, -1)
  const refused = expect.stringContaining(`must not be before ${first}`)
  const statement = JSON.stringify({ format: true })
  for (const [noun, verb, options] of [
    ['ledger', 'show', { date }],
    ['ledger', 'account', { account: 'cash', from: date, to: first }],
    ['day', 'close', { date }],
    ['reconciliation', 'run', { date }],
    ['reconciliation', 'statement', { date, bank: 'GCB', statement }],
    ['exception', 'summary', { month: monthOf(startOf(date)) }],
  ] as const) {
    expect([noun, verb, await service.refusal(noun, verb, options)]).toEqual([noun, verb, refused])
  }
  expect(await service.refusal('ledger', 'show', { date: first })).toBeUndefined()
})
