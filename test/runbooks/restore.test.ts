import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test } from 'vitest'
import { table, tableName } from '../../shared/store/table.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createPayee, settlementAccount } from '../support/payee.ts'
import { FAILS_AT_ONCE } from '../support/requests.ts'
import { codeOf, type Shown, useService } from '../support/running-service.ts'
import { advance, entriesOf, nightAfter, today, useRunbooks } from './runbook.ts'

/** The runbook of a restore, with a table that lost the outcomes of some minutes. */

const service = useService()
const runbook = useRunbooks(service)
const bank = useHttpBank(service)

type Row = { pk: string; sk: string }

const items = async (): Promise<Row[]> => service.items()
const nameOf = ({ pk, sk }: Row) => `${pk} ${sk}`

/** Gives the table the items of an earlier second. */
const restoreTo = async (earlier: readonly Row[]): Promise<void> => {
  const kept = new Map(earlier.map((item) => [nameOf(item), JSON.stringify(item)]))
  for (const item of await items()) {
    const { pk, sk } = item
    const text = kept.get(nameOf(item))
    if (!text) await table.send(new DeleteCommand({ TableName: tableName(), Key: { pk, sk } }))
    else if (text !== JSON.stringify(item)) {
      const Item = earlier.find((one) => nameOf(one) === nameOf(item))
      await table.send(new PutCommand({ TableName: tableName(), Item }))
    }
  }
}

const report = (uuid: string, body: object) => service.report(uuid, body, 'bt_sandbox_htb')

runbook('restore.md#restore-the-table')(
  'the outcomes and a payout of the lost time are recorded once, and an undecided debit times out',
  async ({ run, values }) => {
    const payee = await createPayee(service, 'restored', settlementAccount('7001007001', 'HTB'))
    const open = () =>
      service.chargeUntil('processing', { bank_identifier: 'HTB' }, payee.credential)
    await payee.complete('100.00')
    const [batch] = (await payee.run(nightAfter(service, 0))).built
    const [paid, declined, undecided] = [await open(), await open(), await open()]
    const erased = await service.chargeUntil('failed', { phone_number: FAILS_AT_ONCE })
    await service.sandbox().control.clock.idle()
    const earlier = await items()
    const second = new Date().toISOString()
    await report(paid.uuid, { status: 'completed', bank_reference: 'HTB-1' })
    await report(declined.uuid, { status: 'failed', error_message: 'Insufficient funds' })
    const payout = await payee.batch('process', batch.id)
    expect(payout).toMatchObject({ status: 'completed' })
    const lost = await open()
    await service.call('customer', 'erase', { phone: FAILS_AT_ONCE, reason: 'Request 1' })
    await service.sandbox().control.clock.idle()
    await restoreTo(earlier)

    Object.assign(values, { N: '2', P: 'restored', D: today(service), ID: batch.id })
    await run('restore show', { generation: 1, highest_generation: 1 })
    await run('restore begin', { generation: 2, held: expect.arrayContaining(['restored']) })
    const processing = await run('debit list', expect.any(Array))
    expect(processing.map(({ reference }: Shown) => reference).sort()).toEqual(
      [paid, declined, undecided].map(({ reference }) => reference).sort(),
    )
    Object.assign(values, { R: paid.reference, B: 'HTB-1' })
    await run('debit complete', { status: 'completed' })
    Object.assign(values, { R: declined.reference, B: 'HTB-2' })
    await run('debit fail', { status: 'failed', error_code: 'insufficient_funds' })
    await run('settlement list', [{ id: batch.id, status: 'pending' }])
    await run(
      'settlement complete',
      { status: 'completed' },
      { B: payout.bank_reference, A: payout.paid },
    )
    await run('debit repair', { is_done: true, unreadable: [] })
    await run('reconciliation run', { held: expect.anything() })
    values['2026-11-21T09:59:00Z'] = second
    await run('customer repeat-erasures', { repeated: 1, erased: 1, refused: [], next: null })
    expect((await service.show(erased.reference)).phone_number).toBeNull()
    await run('restore release', { held: expect.not.arrayContaining(['restored']) })
    await run('restore release', { held: [] })

    expect(codeOf(await report(lost.uuid, { status: 'completed', bank_reference: 'HTB-3' }))).toBe(
      '404/1404',
    )
    expect(await entriesOf(service, paid.reference)).toEqual(['completion'])
    expect(await entriesOf(service, batch.id)).toEqual(['fees', 'payout'])
    await advance(service, 900)
    await service.until(undecided.reference, 'failed')
    expect(bank.made.filter((uuid) => uuid === payout.uuid)).toHaveLength(1)
    const { data } = (await payee.get('/api/v1/payment-providers/events?per_page=100')).body
    const own = data.filter((one: Shown) => one.data.transaction?.reference === paid.reference)
    const statuses = ['created', 'pending', 'processing', 'completed']
    expect(own.map(({ event }: Shown) => event)).toEqual(
      statuses.map((status) => `transaction.${status}`),
    )
  },
)

test('each line of a lost, paid batch is paid once, although the new batch has another amount', async () => {
  const account = settlementAccount('7001007001', 'HTB')
  const payee = await createPayee(service, 'lost-batch', account)
  await payee.complete('100.00')
  await service.sandbox().control.clock.idle()
  const earlier = await items()
  await payee.complete('20.00')
  const [lost] = (await payee.run(nightAfter(service, 0))).built
  const { paid } = await payee.batch('process', lost.id)
  const linesOf = async ({ id }: Shown): Promise<Shown[]> =>
    (await payee.batch('report', id, { format: 'json' })).lines
  const settled = await linesOf(lost)
  await service.sandbox().control.clock.idle()
  await restoreTo(earlier)
  const { highest_generation } = await service.call('restore', 'show')
  await service.call('restore', 'begin', { generation: String(highest_generation + 1) })
  await payee.complete('200.00')
  await service.call('provider', 'disable', { provider: payee.id })
  await service.call('restore', 'release')

  const [batch] = (await payee.run(nightAfter(service, 0))).built
  expect(batch.id).not.toBe(lost.id)
  const record = { 'bank-reference': 'RTGS-1', reason: 'HTB paid 118.20, and RTGS-1 197.00' }
  const refusal = service.refusal('settlement', 'complete', {
    ...{ batch: batch.id, amount: paid },
    ...record,
  })
  expect(await refusal).toContain(
    '118.20 was paid, but 295.50 is due: settle the difference of 177.30 first',
  )
  const references = new Set(settled.map(({ reference }) => reference))
  const unpaid = (await linesOf(batch)).filter(({ reference }) => !references.has(reference))
  expect(unpaid.map(({ net }) => net)).toEqual(['197.00'])
  const recorded = await payee.batch('complete', batch.id, { amount: '295.50', ...record })
  expect(recorded).toMatchObject({ status: 'completed', paid: '295.50' })
  await service.call('provider', 'enable', { provider: payee.id })
  await expect(payee.run(nightAfter(service, 1))).rejects.toThrow('5002')
})
