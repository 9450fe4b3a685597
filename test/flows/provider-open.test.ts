import { expect, test } from 'vitest'
import { createPayee, nightAfter, settlementAccount } from '../support/payee.ts'
import { SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'

const service = useService()

test('a disabled provider has open debits, payouts, debts and exceptions by their names, each with the next command', async () => {
  const payee = await createPayee(service, 'leaving')
  const [paidFor = ''] = await payee.complete('70.00')
  const [{ id: paid }] = (await payee.run(nightAfter(0))).built
  await payee.run(nightAfter(1))
  await payee.reverse(paidFor)
  const { built } = await payee.run(nightAfter(1))
  const [late = ''] = await payee.complete('20.00')
  await service.chargeUntil('processing', { phone_number: SILENT }, payee.credential)
  const { uuid } = await service.show(late)
  await service.report(uuid, { status: 'failed', error_message: 'Declined' })
  const { status, open } = await service.call('provider', 'disable', { provider: 'leaving' })
  expect(status).toBe('suspended')
  expect(open.map(({ check, subject, reason }: Shown) => [check, subject, reason])).toEqual([
    ['debit', 'processing', '1 debits are in progress'],
    ['batch', 'leaving', 'debits or reversals are not settled'],
    ['batch', built[0].id, 'the provider owes 68.95'],
    ['exception', late, expect.any(String)],
  ])
  expect(open.map(({ command }: Shown) => command)).toEqual([
    'operator debit list --provider leaving --status processing',
    'operator settlement list --provider leaving',
    `operator settlement show --batch ${built[0].id}`,
    `operator exception show --reference ${late}`,
  ])
  expect(paid).not.toBe(built[0].id)
  const other = await service.call('provider', 'disable', { provider: 'other' })
  expect(other.open).toEqual([])
  await service.call('provider', 'enable', { provider: 'other' })
})

test('a payout is open with the amount after the debt that it offsets, one in progress without that debt, a failed one with its failure', async () => {
  const payee = await createPayee(service, 'underway')
  const payTo = (account: string) =>
    service.call('provider', 'update', { provider: payee.id, ...settlementAccount(account) })
  const openBatches = async () => {
    const { open } = await service.call('provider', 'disable', { provider: payee.id })
    await service.call('provider', 'enable', { provider: payee.id })
    return open
      .filter(({ subject }: Shown) => subject.startsWith('STL-'))
      .map(({ subject, reason }: Shown) => [subject, reason])
  }
  const [settled = ''] = await payee.complete('20.00')
  await payee.run(nightAfter(0))
  await payee.reverse(settled)
  const [below] = (await payee.run(nightAfter(1))).built
  await payee.complete('100.00')
  const [{ id }] = (await payee.run(nightAfter(2))).built
  const owes = [below.id, 'the provider owes 19.70']
  expect(await openBatches()).toEqual([owes, [id, 'the payout of 78.80 is not made']])
  await payTo('1041000000')
  const { failure } = await payee.batch('process', id)
  expect(await openBatches()).toEqual([owes, [id, `the payout of 78.80 failed: ${failure}`]])
  await payTo('1041009999')
  await payee.batch('retry', id)
  expect(await openBatches()).toEqual([[id, 'the payout of 78.80 is in progress']])
})
