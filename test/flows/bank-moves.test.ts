import { expect, vi } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createPayee, nightAfter, settlementAccount } from '../support/payee.ts'
import { untilPayoutWaits } from '../support/payouts.ts'
import { untilRefundWaits } from '../support/refunds.ts'
import { SILENT } from '../support/requests.ts'
import { testInProcess, useService } from '../support/running-service.ts'

/**
 * A new URL of a bank, whose server may not know the uuids of the one before, and the removal of its connector
 * (docs/operations.md#a-bank-is-down).
 */

const service = useService()
const bank = useHttpBank(service)

const own = () => ({ bank: 'HTB', 'connector-url': bank.url() })
const other = () => ({ bank: 'HTB', 'connector-url': `${bank.url()}/other` })
/** Checks that the bank moves only to a server that knows its uuids, and moves it back. */
const staysWith = async (reason: string) => {
  const advice = 'or --knows-uuids true if the new server of HTB knows its uuids'
  for (const [noun, verb] of [
    ['connector', 'set'],
    ['bank', 'update'],
  ] as const) {
    expect(await service.refusal(noun, verb, other())).toBe(`${reason}, ${advice}`)
    const none = { bank: 'HTB', connector: 'none', 'knows-uuids': 'true' }
    expect(await service.refusal(noun, verb, none)).toBe(reason)
  }
  expect(await service.refusal('connector', 'remove', { bank: 'HTB' })).toBe(reason)
  const offline = { ...other(), status: 'inactive' }
  expect(await service.refusal('bank', 'update', offline)).toBe(`${reason}, ${advice}`)
  const moved = await service.call('connector', 'set', { ...other(), 'knows-uuids': 'true' })
  expect(moved.connector_url).toBe(other()['connector-url'])
  // The secret of the same URL may change at any time.
  const same = { ...other(), 'connector-secret': bank.secret }
  expect(await service.call('connector', 'set', same)).toMatchObject(moved)
  await service.call('connector', 'set', { ...own(), 'knows-uuids': 'true' })
}
/** Moves the bank to any server, and back, and removes its connector for a while. */
const moves = async () => {
  expect(await service.call('connector', 'set', other())).toMatchObject({ bank: 'HTB' })
  await service.call('connector', 'set', own())
  const removed = await service.call('connector', 'remove', { bank: 'HTB' })
  expect(removed).toMatchObject({ connector: 'none' })
  const secret = { 'connector-secret': bank.secret }
  await service.call('connector', 'set', { ...own(), connector: 'http', ...secret })
}

testInProcess(
  'the connector of a disabled bank changes or is removed once its debits, payouts and refunds have ended; its URL also if the new server knows their uuids',
  async () => {
    const payee = await createPayee(service, 'moving', settlementAccount('7001007001', 'HTB'))
    const fields = { phone_number: SILENT, bank_identifier: 'HTB', amount: '100.00' }
    await moves()
    vi.stubEnv('SANDBOX_BANK', 'false')
    await staysWith('HTB is live: disable it')
    const { reference, uuid } = await service.chargeUntil('processing', fields, payee.credential)
    // Later debits of another bank do not hide it.
    vi.stubEnv('SANDBOX_BANK', 'true')
    const elsewhere = { ...fields, bank_identifier: 'GCB' }
    for (const _ of [1, 2]) await service.chargeUntil('processing', elsewhere, payee.credential)
    vi.stubEnv('SANDBOX_BANK', 'false')
    await service.call('bank', 'disable', { bank: 'HTB' })
    await staysWith(`debit ${reference} is processing: end it first`)
    const report = { status: 'completed', bank_reference: 'HTB-1' }
    await service.report(uuid, report, 'bt_sandbox_htb')
    await moves()

    const [batch] = (await payee.run(nightAfter(0))).built
    bank.conducts.push('take its time')
    await payee.batch('process', batch.id)
    await staysWith(`the payout of ${batch.id} is processing: end it first`)
    bank.outcomes.set(batch.uuid, { status: 'rejected', message: 'No such account' })
    expect(await payee.batch('process', batch.id)).toMatchObject({ status: 'failed' })
    await staysWith(`the payout of ${batch.id} is failed: end it first`)
    // Another bank pays now. If it rejects the payout, a retry queries HTB first.
    vi.stubEnv('SANDBOX_BANK', 'true')
    const slow = settlementAccount('1041009999')
    await service.call('provider', 'update', { provider: 'moving', ...slow })
    expect(await payee.batch('retry', batch.id)).toMatchObject({ status: 'processing' })
    vi.stubEnv('SANDBOX_BANK', 'false')
    await staysWith(`the payout of ${batch.id} is processing: end it first`)
    vi.stubEnv('SANDBOX_BANK', 'true')
    expect(await payee.batch('process', batch.id)).toMatchObject({ status: 'completed' })
    vi.stubEnv('SANDBOX_BANK', 'false')
    await moves()

    bank.conducts.push('take its time')
    const { refund } = await payee.reverse(reference)
    await eventually(() => expect(bank.outcomes.has(refund.uuid)).toBe(true))
    await staysWith(`the refund of ${reference} is processing: end it first`)
    bank.outcomes.set(refund.uuid, { status: 'rejected', message: 'No such account' })
    await service.runJob('sweep', {}, 600)
    await service.untilRefund(reference, 'failed')
    await staysWith(`the refund of ${reference} is failed: end it first`)
    await service.call('exception', 'resolve', { reference, note: 'Repaid in cash' })
    await moves()
  },
)

testInProcess(
  'the connector of a bank that never gives a final reply is removed once operators have recorded what it said',
  async () => {
    await service.call('bank', 'enable', { bank: 'HTB' })
    const payee = await createPayee(service, 'left', settlementAccount('7001007001', 'HTB'))
    const fields = { phone_number: SILENT, bank_identifier: 'HTB', amount: '100.00' }
    const { reference, uuid } = await service.chargeUntil('processing', fields, payee.credential)
    const report = { status: 'completed', bank_reference: 'HTB-2' }
    await service.report(uuid, report, 'bt_sandbox_htb')
    const [batch] = (await payee.run(nightAfter(0))).built
    const refused = { status: 400, body: '' }
    bank.conducts.push(refused)
    await expect(payee.batch('process', batch.id)).rejects.toThrow('HTTP 400')
    bank.conducts.push(refused)
    await payee.reverse(reference)
    await untilRefundWaits(reference)
    vi.stubEnv('SANDBOX_BANK', 'false')
    await service.call('bank', 'disable', { bank: 'HTB' })
    const said = { reason: 'HTB says that it will never pay this' }
    await staysWith(`the payout of ${batch.id} is processing: end it first`)
    await untilPayoutWaits(batch.id)
    await payee.batch('fail', batch.id, said)
    const evidence = { 'bank-reference': 'GCB-1', reason: 'Paid by GCB' }
    await payee.batch('complete', batch.id, evidence)
    await staysWith(`the refund of ${reference} is processing: end it first`)
    await service.call('debit', 'fail-refund', { reference, ...said })
    await staysWith(`the refund of ${reference} is failed: end it first`)
    await service.call('exception', 'resolve', { reference, note: 'Repaid in cash' })
    await moves()
  },
)
