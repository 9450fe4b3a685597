import { beforeAll, expect } from 'vitest'
import { CHARGE, chargeBody } from '../support/requests.ts'
import { codeOf, type Shown, useService } from '../support/running-service.ts'
import { advance, entriesOf, today, useRunbooks } from './runbook.ts'

/** Runbooks whose calls are about many debits or accounts, with one approval each. */

const service = useService({ approvals: true })
const runbook = useRunbooks(service)

const [AMA, KOFI] = ['local:ama', 'local:kofi']
const PENDING = { approval: { status: 'pending' } }

beforeAll(async () => {
  const limit = { provider: 'demo', operation: 'charge', 'per-minute': '100000' }
  await service.call('limit', 'set', limit, AMA)
})

/** Creates debits that GCB completed after they had failed. */
const lateCompletions = (count: number): Promise<string[]> =>
  Promise.all(
    Array.from(
      { length: count },
      async () => (await service.chargeCompletedLate({ amount: '10.00' })).reference,
    ),
  )

runbook('operations.md#many-at-once')(
  'the late completions of an outage are refunded, and those that the bank returned are resolved',
  async ({ run, values }) => {
    const returned = await lateCompletions(3)
    await advance(service, 2 * 86_400)
    const late = await lateCompletions(12)
    values['2026-11-21'] = values['2026-11-22'] = today(service)
    const refund = await run('exception refund', PENDING, {}, AMA)
    values['returned.csv'] = ['reference', ...returned].join('\n')
    const resolve = await run('exception resolve', PENDING, {}, AMA)
    values.ID = refund.approval.id
    await run('approval show', { scope: { count: 12, sum: '120.00' }, requested_by: AMA })
    await run('approval grant', { done: 12, skipped: [], refused: [] }, {}, KOFI)
    const { id } = resolve.approval
    expect(await service.call('approval', 'grant', { id }, KOFI)).toMatchObject({ done: 3 })
    for (const reference of late) {
      await service.untilRefund(reference, 'completed')
      const entries = ['late_completion', 'refund', 'refund_opened']
      expect(await entriesOf(service, reference)).toEqual(entries)
    }
    for (const reference of returned) {
      expect((await service.show(reference)).refund).toBeNull()
      expect(await entriesOf(service, reference)).toEqual(['resolution'])
    }
    expect(await service.call('exception', 'list', { status: 'open' })).toEqual([])
  },
)

runbook('operations.md#customers-of-a-bank')(
  'a bank’s file adds, changes and removes accounts, and its bank is asked for other numbers',
  async ({ run, values }) => {
    const numbers = Array.from({ length: 12 }, (_, n) => `+2332050000${n + 10}`)
    const [changed = '', removed = '', ...added] = numbers
    for (const phone of [changed, removed]) {
      const account = { phone, bank: 'GCB', name: 'Ama', 'account-number': '1041000001' }
      await service.approved('customer', 'link', account)
    }
    const rows = [changed, ...added].map((phone) => `${phone},Esi,1041${phone.slice(-6)},true`)
    const header = 'phone,name,account_number,active'
    const file = [header, ...rows, `${removed},,,false`, '0205000010,Esi,1041000002,true']
    values['customers.csv'] = file.join('\n')
    const counts = { added: 10, changed: 1, removed: 1, refused: 1 }
    const { approval } = await run('customer import', { approval: { scope: counts } }, {}, AMA)
    values.ID = approval.id
    await run('approval grant', counts, {}, KOFI)
    const accountsOf = (phone: string): Promise<Shown> =>
      service.call('customer', 'list', { phone })
    expect(await accountsOf(changed)).toMatchObject([{ account_number: '1041000010' }])
    expect(await accountsOf(removed)).toEqual([])
    await run('bank update', { account_lookup: 'on' })
    await advance(service, 31)
    const body = chargeBody({ phone_number: removed })
    const reply = await service.send('POST', CHARGE, { credential: 'sk_sandbox_demo', body })
    expect(codeOf(reply)).toBe('202')
    expect(await accountsOf(removed)).toMatchObject([{ bank: 'GCB', status: 'active' }])
  },
)
