import { expect } from 'vitest'
import { dayAfter } from '../../shared/domain/time.ts'
import { settlementAccount } from '../support/payee.ts'
import { useReceiver, verifies } from '../support/receiver.ts'
import { type Shown, useService } from '../support/running-service.ts'
import { advance, clockOf, entriesOf, today, useRunbooks } from './runbook.ts'
import { chargeThere, setUp, useNewBank } from './set-up.ts'

/** Runbooks whose commands wait for a second operator, as in production. */

const service = useService({ approvals: true })
const runbook = useRunbooks(service)
const receiver = useReceiver()
const bank = useNewBank()

const AMA = 'local:ama'
const KOFI = 'local:kofi'
const PENDING = { approval: { status: 'pending' } }
const REFERENCE = 'DCS-20261121-ABC123'

/** Requests a call as ama, and returns the id of the request. */
const request = async (noun: string, verb: string, options: Record<string, string>) =>
  (await service.call(noun, verb, options, AMA)).approval.id
const grant = (id: string): Promise<Shown> => service.call('approval', 'grant', { id }, KOFI)
/** Returns the result of a call, which kofi grants if it waits. */
const granted = async (result: Shown): Promise<Shown> =>
  result.approval ? grant(result.approval.id) : result

const complete = async (provider: string): Promise<string> =>
  (await service.chargeCompleted({}, `sk_sandbox_${provider}`)).reference

const batchOf = async (provider: string): Promise<Shown> => {
  await complete(provider)
  const date = dayAfter(today(service))
  return (await service.call('settlement', 'run', { date, provider })).built[0]
}

/** Builds a batch of which an older one below zero offsets half. */
const batchAfterDebt = async (provider: string): Promise<Shown> => {
  const reference = await complete(provider)
  const { id: batch } = await batchOf(provider)
  await grant(await request('settlement', 'process', { batch }))
  await grant(await request('debit', 'reverse', { reference, reason: 'Dispute' }))
  const date = dayAfter(today(service))
  const [below] = (await service.call('settlement', 'run', { date, provider })).built
  expect(below).toMatchObject({ net: '-98.50' })
  await complete(provider)
  return batchOf(provider)
}

runbook('operators.md#set-up-a-bank-and-a-provider')(
  'a new stage has a bank and a provider whose calls with money a second operator granted',
  async (runbook) => {
    const webhook = receiver.url('/newcomer')
    const made = await setUp({ runbook, bank, granted, webhook })
    expect(made.provider).toMatchObject({ fee_schedule: { basis_points: 150 } })
    await runbook.run('webhook ping', { delivered: true })
    await granted(await runbook.run('customer link', PENDING, {}, AMA))
    const row = '+233205000011,Esi Boateng,1041000003,true'
    runbook.values['customers.csv'] = `phone,name,account_number,active\n${row}`
    const imported = await granted(await runbook.run('customer import', PENDING, {}, AMA))
    expect(imported).toMatchObject({ added: 1, refused: 0 })
    const reference = await chargeThere(service, made, bank.submitted)
    const events = await receiver.events(reference, 4)
    expect(events.every((event) => verifies(event, made.secret))).toBe(true)
  },
)

/** Returns the seconds since midnight, by the clock of the sandbox. */
const secondsOfDay = (): number => Math.floor((clockOf(service).now().getTime() / 1000) % 86_400)

runbook('operations.md#approvals')(
  'a granted reversal runs once, a denied one never, and a held batch is paid after its hold',
  async ({ run, values }) => {
    // Its hold of 24 hours ends before the batch is due, also if the test runs in the last hours of a day.
    await advance(service, 86_400 - secondsOfDay())
    const [reversed, kept] = [await complete('demo'), await complete('demo')]
    values[REFERENCE] = reversed
    const { approval } = await run('debit reverse', PENDING, {}, AMA)
    const pending = await run('approval list', expect.any(Array))
    expect(pending).toMatchObject([{ id: approval.id, target: reversed }])
    values.ID = approval.id
    const options = { reason: 'Dispute 4711' }
    await run('approval show', { noun: 'debit', verb: 'reverse', requested_by: AMA, options })
    const own = await service.operate('approval', 'grant', { id: approval.id }, AMA)
    expect(own).toHaveProperty('error')
    await run('approval grant', { reference: reversed, status: 'reversed' }, {}, KOFI)
    values.ID = await request('debit', 'reverse', { reference: kept, reason: 'Dispute 4712' })
    await run('approval deny', { status: 'denied', decided_by: KOFI }, {}, KOFI)
    expect((await service.show(kept)).status).toBe('completed')
    expect((await service.show(kept)).refund).toBeNull()
    await service.untilRefund(reversed, 'completed')
    expect(await entriesOf(service, reversed)).toEqual(['completion', 'refund', 'reversal'])
    const { id: batch } = await batchOf('other')
    const provider = { provider: 'other', ...settlementAccount('1041000000002') }
    await grant(await request('provider', 'update', provider))
    await service.call('provider', 'disable', { provider: 'other' }, AMA)
    await advance(service, 90_000)
    await grant(await request('provider', 'enable', { provider: 'other' }))
    const paid = await granted(await run('settlement process', PENDING, { ID: batch }, AMA))
    expect(paid).toMatchObject({ status: 'completed', paid: '98.50' })
  },
)

runbook('operators.md#a-failed-payout')(
  'a rejected payout is paid to the corrected account after its hold, and one by hand is recorded, each once',
  async ({ run, values }) => {
    const { id, uuid } = await batchOf('demo')
    await service.call('bank', 'behave', { bank: 'GCB', as: 'rejecting' })
    await grant(await request('settlement', 'process', { batch: id }))
    await service.call('bank', 'behave', { bank: 'GCB', as: 'normal' })
    Object.assign(values, { 'STL-20261122-ABC123': id, acme: 'demo' })
    await run('settlement show', { status: 'failed', failure: expect.any(String) })
    const changed = await granted(await run('provider update', PENDING, {}, AMA))
    expect(changed.settlement_account.account_number).toBe('1041000000002')
    const early = await request('settlement', 'retry', { batch: id })
    const refused = await service.refusal('approval', 'grant', { id: early }, KOFI)
    expect(refused).toContain('payouts are held until')
    expect(await service.call('settlement', 'show', { batch: id })).toMatchObject({ uuid })
    // The noon after the hold: a request from then on expires after the night.
    await advance(service, 2 * 86_400 - secondsOfDay() + 43_200)
    const paid = await granted(await run('settlement retry', PENDING, {}, AMA))
    expect(paid).toMatchObject({ status: 'completed', paid: '98.50' })
    expect(paid.uuid).not.toBe(uuid)
    const entries = await entriesOf(service, id)
    // Its fees were earned before the hold.
    expect(entries.filter((type) => type !== 'fees')).toEqual(['payout'])

    const byHand = await batchAfterDebt('demo')
    values['STL-20261122-ABC456'] = byHand.id
    const payout = { 'bank-reference': 'RTGS-4713', amount: '98.50', reason: 'Transfer' }
    const unheld = await service.refusal(
      'settlement',
      'complete',
      { batch: byHand.id, ...payout },
      AMA,
    )
    expect(unheld).toContain('the service would pay this batch too')
    const { open } = await run('provider disable', { status: 'suspended' })
    const due = open.find(({ subject }: Shown) => subject === byHand.id)
    expect(due.reason).toBe('the payout of 98.50 is not made')
    const { approval } = await run('settlement complete', PENDING, {}, AMA)
    // The approver comes after the night.
    await advance(service, 86_400 - secondsOfDay() + 7_200)
    expect(await service.call('settlement', 'show', { batch: byHand.id })).toMatchObject({
      status: 'pending',
    })
    expect(await grant(approval.id)).toMatchObject({
      ...{ status: 'completed', net: '197.00', paid: '98.50' },
      bank_reference: 'RTGS-4713',
    })
    await run('provider enable', { status: 'active' })
    const ended = await entriesOf(service, byHand.id)
    expect(ended.filter((type) => type !== 'fees')).toEqual(['payout'])
  },
)
