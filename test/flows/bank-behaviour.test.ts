import { afterEach, expect, test } from 'vitest'
import { failureCodes } from '../../shared/domain/banks/failure-code.ts'
import { keys } from '../../shared/store/keys.ts'
import { read } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { createPayee, nightAfter, settlementAccount } from '../support/payee.ts'
import { statusPath } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'

/** The sandbox bank behaves as an operator chose (docs/testing.md#bank-behaviour). */

// The timeouts stay longer than a busy machine needs.
const service = useService({ timeScale: 10 })
afterEach(() => behave('normal'))

const behave = (as: string, options = {}) =>
  service.call('bank', 'behave', { bank: 'ECO', as, ...options })
const charge = () => service.charge({ bank_identifier: 'ECO' })
const payee = (id: string) => createPayee(service, id, settlementAccount('2441007001', 'ECO'))

/** Completes a debit: its outcome follows after three seconds. */
const completed = async (bank_identifier = 'ECO') => {
  const charged = await service.chargeUntil('processing', { bank_identifier })
  await service.pass(3)
  await service.until(charged.reference, 'completed')
  return charged
}

const reversed = async () => {
  const { reference } = await completed()
  return async () => {
    await service.call('debit', 'reverse', { reference, reason: 'Dispute' })
    return reference
  }
}

test('a bank that is down gets its debits when it is up again, and other banks are not delayed', async () => {
  expect(await behave('down')).toMatchObject({ behaviour: { as: 'down', code: null, until: null } })
  const { reference } = await charge()
  await completed('GCB')
  expect((await service.show(reference)).status).toBe('pending')
  await behave('normal')
  await service.pass(12)
  await service.until(reference, 'completed')
})

test('a debit of a silent bank is processing until the customer’s timeout', async () => {
  await behave('silent')
  const { reference } = await charge()
  await service.until(reference, 'processing')
  await service.runJob('expire-debit', { reference, phase: 'approval' }, 31)
  const failed = { status: 'failed', error_message: 'Transaction timeout' }
  expect(await service.show(reference)).toMatchObject(failed)
})

test.each(failureCodes)('a rejecting bank fails a debit with %s', async (code) => {
  await behave('rejecting', { code })
  const { reference } = await charge()
  await service.until(reference, 'failed')
  const { data } = (await service.get(statusPath(reference))).body
  expect(data).toMatchObject({ processed_at: null, error_details: { code } })
})

test('the debits of a slow bank are submitted by the workers that wait longer', async () => {
  await behave('slow')
  await charge()
  const isSlow = () => read(keys.bankHealth('ECO'))
  await eventually(async () => expect(await isSlow()).toMatchObject({ state: 'slow' }))
  const { reference } = await charge()
  const { history } = await service.until(reference, 'completed')
  const [created, processing] = [0, 2].map((index) => Date.parse(history[index].at))
  expect(Number(processing) - Number(created)).toBeGreaterThan(4_900)
})

test('a rejecting bank rejects payouts and refunds', async () => {
  const provider = await payee('rejected-by-eco')
  const reverse = await reversed()
  await provider.complete('100.00')
  const [{ id }] = (await provider.run(nightAfter(0))).built
  await behave('rejecting')
  expect(await provider.batch('process', id)).toMatchObject({ status: 'failed' })
  const reference = await reverse()
  const exceptions = () => service.exceptions(reference)
  await eventually(async () => expect(await exceptions()).toMatchObject([{ kind: 'refund' }]))
  await behave('normal')
  expect(await provider.batch('retry', id)).toMatchObject({ status: 'completed' })
})

test('a payout is underway at a silent bank', async () => {
  const provider = await payee('underway-at-eco')
  await provider.complete('100.00')
  const [{ id }] = (await provider.run(nightAfter(0))).built
  await behave('silent')
  expect(await provider.batch('process', id)).toMatchObject({ status: 'processing' })
  await behave('normal')
  expect(await provider.batch('process', id)).toMatchObject({ status: 'completed' })
})

test('a payout and a refund are retried while the bank is down', async () => {
  const reverse = await reversed()
  await behave('down')
  const reference = await reverse()
  await service.untilRefund(reference, 'processing')
  await behave('normal')
  await service.pass(12)
  await service.untilRefund(reference, 'completed')
})

const shown = async () => (await service.call('bank', 'show', { bank: 'ECO' })).behaviour

test('a behaviour is shown with its end and recorded', async () => {
  const { behaviour } = await behave('rejecting', { for: '1h' })
  const rejecting = { as: 'rejecting', code: 'transaction_declined' }
  expect(behaviour).toEqual({ ...rejecting, until: expect.stringMatching(/Z$/) })
  const changed = { behaviour: { from: null, to: behaviour } }
  expect(await service.changeOf('ECO')).toMatchObject({ noun: 'bank', verb: 'behave', changed })
  expect(await shown()).toEqual(behaviour)
})

test('a behaviour ends after its duration', async () => {
  await behave('rejecting', { for: '1s' })
  await service.pass(1)
  await eventually(async () => expect(await shown()).toBeNull())
  await completed()
})
