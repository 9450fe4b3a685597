import { expect, test } from 'vitest'
import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import { createPayee, nightAfter } from '../support/payee.ts'
import { SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** The closing of a day by the command (docs/operators.md#close-a-day). */

const service = useService()

const operate = async (noun: string, verb: string, options: Record<string, string>) => {
  const reply = await operateFully({ noun, verb, options }, (call) =>
    service.operate(call.noun, call.verb, call.options),
  )
  if ('error' in reply) throw new Error(reply.error)
  return reply.result as Shown
}

const today = () => dayOf(new Date())
const close = (date: Day = today()) => operate('day', 'close', { date })
/** What is open but the end of the day, which the clock of this test has not reached. */
const openOf = async (): Promise<[string, string][]> =>
  (await close()).open
    .filter(({ check }: Shown) => check !== 'day')
    .map(({ check, subject }: Shown) => [check, subject])

const HEADER = 'uuid,amount,currency,completed_at,kind'
const compare = (bank: string, rows: readonly (readonly string[])[], header = HEADER) => {
  const lines = rows.map(([uuid, amount, kind]) => `${uuid},${amount},GHS,${today()},${kind}`)
  const statement = [header, ...lines].join('\n')
  return operate('reconciliation', 'statement', { bank, date: today(), statement })
}

const aged = (ofDay: string) => ({ 0: ofDay, 1: '0.00', 2: '0.00', more: '0.00' })

test('a day without money is clean when it has ended', async () => {
  expect(await close(dayAfter(today(), -3))).toMatchObject({
    ...{ date: dayAfter(today(), -3), result: 'clean', open: [], banks: [], owing: [] },
  })
})

test('a day is open until each bank that moved money has a statement of these kinds', async () => {
  const payee = await createPayee(service, 'closed')
  const [paidFor = '', reversed = ''] = await payee.complete('70.00', '30.00')
  const [{ id: batch, uuid: payout }] = (await payee.run(nightAfter(0))).built
  const [{ paid }] = (await payee.run(nightAfter(1))).paid
  const { uuid } = await service.show(paidFor)
  const other = await service.show(reversed)
  await payee.reverse(reversed)
  await service.until(reversed, 'reversed')
  const refund = await service.untilRefund(reversed, 'completed')
  expect(await openOf()).toEqual([['statement', 'GCB']])
  expect((await close()).open.at(-1).command).toBe(
    `operator reconcile --bank GCB --statement FILE --date ${today()}`,
  )
  await compare('GCB', [[uuid, '70.00', '']], HEADER.replace('kind', 'branch'))
  expect((await close()).open.map(({ reason }: Shown) => reason)).toEqual([
    'the day has not ended',
    'the statement has no row of a refund',
    'the statement has no row of a payout',
    `movements that are missing at the bank: 1, such as ${reversed}`,
  ])
  await compare('GCB', [
    [uuid, '70.00', 'debit'],
    [other.uuid, '30.00', 'debit'],
    [refund.uuid, '30.00', 'refund'],
    [payout, paid, 'payout'],
  ])
  const closed = await close()
  expect(closed.open.map(({ check }: Shown) => check)).toEqual(['day'])
  expect(closed.banks).toEqual([
    {
      ...{ bank: 'GCB', debits: '100.00', refunds: '30.00', payouts: paid, remitted: '0.00' },
      ...{ receivable: '70.00', ages: aged('70.00'), statement: 'agrees' },
    },
  ])
  // The fee of the reversed debit returns with its adjustment.
  expect(closed.owing).toEqual([{ provider: 'closed', balance: '-30.00', ages: aged('30.00') }])
  expect(batch).toMatch(/^STL-/)
})

test('a late completion, a failed payout, and rows that differ are open by their names', async () => {
  const { reference } = await service.chargeCompletedLate()
  const payee = await createPayee(service, 'unpaid')
  await payee.complete('5.00')
  const [{ id: batch }] = (await payee.run(nightAfter(0))).built
  await service.call('provider', 'update', { provider: 'unpaid', 'settlement-account': 'none' })
  await compare('ECO', [[crypto.randomUUID(), '1.00', 'payout']])
  const later = await close(nightAfter(1))
  expect(later.result).toBe('open')
  const open = later.open.map(({ check, subject }: Shown) => [check, subject])
  expect(open).toContainEqual(['exception', reference])
  expect(open).toContainEqual(['batch', batch])
  expect(await openOf()).toContainEqual(['statement', 'ECO'])
  await service.charge({ phone_number: SILENT })
})

test('a closing is a page to print, and is open without a reconciliation', async () => {
  const page = await operate('day', 'close', { date: today(), format: 'html' })
  expect(page).toContain(`<h1>Closing of ${today()}</h1>`)
  expect(page).toContain('operator reconcile --bank ECO')
  const { result, open } = await service.call('day', 'close', { date: dayAfter(today(), -3) })
  expect([result, open[0].reason]).toEqual(['open', 'the day is not reconciled'])
})

test('a day is open for each invariant of which its reconciliation found differences', async () => {
  const date = dayAfter(today(), -3)
  const found = [
    { number: 4, title: 'A charge exists', differences: 2, example: 'DCS-1' },
    { number: 9, title: 'A total is a sum', differences: 1, example: null },
  ]
  const reconciled = JSON.stringify(found)
  const { result, open } = await service.call('day', 'close', { date, reconciled })
  const own = { check: 'reconciliation', command: `operator reconcile --date ${date}` }
  expect([result, open]).toEqual([
    'open',
    [
      { ...own, subject: 'invariant 4', reason: 'A charge exists: 2 differences, such as DCS-1' },
      { ...own, subject: 'invariant 9', reason: 'A total is a sum: 1 differences' },
    ],
  ])
})
