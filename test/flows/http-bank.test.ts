import { beforeAll, describe, expect, test, vi } from 'vitest'
import { useHttpBank } from '../support/http-bank.ts'
import { useReceiver } from '../support/receiver.ts'
import { useService } from '../support/running-service.ts'

/** A bank with an HTTP endpoint (docs/bank-protocol.md). */

const service = useService()
const receiver = useReceiver()
const bank = useHttpBank()

beforeAll(async () => {
  await service.call('bank', 'create', { ...bank.options(), 'connector-url': `${bank.url()}/` })
  await service.call('credential', 'issue', { bank: 'HTB', token: 'bt_sandbox_htb' })
  await service.call('webhook', 'set', { provider: 'demo', url: receiver.url() })
})

const charge = () => service.charge({ bank_identifier: 'HTB', amount: '120.50' })

/** Waits for a number of events of a debit and returns the body of the last one. */
const lastOf = async (reference: string, count: number) =>
  (await receiver.events(reference, count)).at(-1)?.body

describe('a charge', () => {
  test('is submitted to the bank and completed by a report', async () => {
    const { reference, uuid } = await charge()
    const bank_reference = `HTB-${uuid.slice(0, 8)}`
    expect(await lastOf(reference, 3)).toMatchObject({
      event: 'transaction.processing',
      data: { transaction: { bank_reference } },
    })
    const debit = { uuid, reference, phone_number: '+233241234567', amount: '120.50' }
    const request = { method: 'POST', body: { ...debit, currency: 'GHS' } }
    expect(bank.requestsFor(uuid)).toMatchObject([request])
    const report = { status: 'completed', bank_reference: 'HTB-DONE', approval_method: 'ussd' }
    expect((await service.report(uuid, report, 'bt_sandbox_htb')).status).toBe(200)
    expect(await lastOf(reference, 4)).toMatchObject({
      event: 'transaction.completed',
      data: { transaction: { bank_reference: 'HTB-DONE', amount: 120.5 } },
    })
  })

  test('whose reply is lost is queried and leads to one debit at the bank', async () => {
    bank.conducts.push('accept, then break off')
    const { reference, uuid } = await charge()
    // The message becomes visible again after a second; a duplicate one queries the bank.
    await service.until(reference, 'processing')
    const bank_reference = `HTB-${uuid.slice(0, 8)}`
    expect(await service.show(reference)).toMatchObject({ bank_reference })
    expect(bank.debits.filter((debit) => debit === uuid)).toHaveLength(1)
    expect(bank.requestsFor(uuid).map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  test('that the bank rejects fails with the code and message of the bank', async () => {
    bank.conducts.push('reject')
    const error_details = { code: 'invalid_account', message: 'No such account' }
    expect(await lastOf((await charge()).reference, 3)).toMatchObject({
      event: 'transaction.failed',
      data: { previous_status: 'pending', error_details },
    })
  })

  test('that the bank never accepts fails with a timeout and leads to no debit at the bank', async () => {
    const broken = { status: 500, body: 'Core banking is down' }
    bank.conducts.push(...Array(9).fill(broken))
    const { reference, uuid } = await charge()
    await receiver.events(reference, 2)
    await service.runJob('expire-debit', { reference, phase: 'processing' }, 600)
    const { data } = await lastOf(reference, 3)
    const message = 'Bank processing timeout'
    expect(data.error_details).toEqual({ code: 'timeout', message })
    const { length } = bank.requestsFor(uuid)
    await service.runJob('submit-to-bank', { reference }, 601)
    expect(bank.requestsFor(uuid)).toHaveLength(length)
    expect(bank.debits).not.toContain(uuid)
    bank.conducts.length = 0
  })
})

describe('the query before a timeout', () => {
  const completed = { status: 'completed', bank_reference: 'HTB-9', fee: '1.25' }
  const failed = { status: 'failed', code: 'insufficient_funds', message: 'Too little money' }
  const won = { status: 'completed', bank_reference: 'HTB-9', fee: '1.25', error_message: null }
  const lost = { status: 'failed', error_code: 'insufficient_funds', error_message: failed.message }
  const timedOut = { status: 'failed', error_code: 'timeout', error_message: 'Transaction timeout' }
  const uuid = '85cb9470-fd1a-4344-b945-18a86d2efeac'

  test.each([
    ['completed wins', completed, won, 'bank:HTB'],
    ['failed wins with its code', failed, lost, 'bank:HTB'],
    ['accepted lets the timeout proceed', undefined, timedOut, 'job:expire-debit'],
    [
      'another amount lets it proceed',
      { ...completed, amount: '1.00' },
      timedOut,
      'job:expire-debit',
    ],
    ['another debit lets it proceed', { ...completed, uuid }, timedOut, 'job:expire-debit'],
  ])('is sent once: %s', async (_name, outcome, expected, by) => {
    const { reference, uuid } = await charge()
    await service.until(reference, 'processing')
    // With its timers set, no other job runs on the clock that is ahead.
    await vi.waitFor(() =>
      expect(String(service.sandbox().schedules())).toContain(`${uuid}-approval`),
    )
    if (outcome) bank.outcomes.set(uuid, outcome)
    for (const _ of [1, 2]) {
      await service.runJob('expire-debit', { reference, phase: 'approval' }, 301)
    }
    const shown = await service.show(reference)
    expect(shown).toMatchObject(expected)
    expect(shown.history.at(-1)).toMatchObject({ by })
    expect(bank.requestsFor(uuid).map(({ method }) => method)).toEqual(['POST', 'GET'])
  })
})
