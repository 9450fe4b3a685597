import { expect } from 'vitest'
import { FAILS_AT_ONCE, statusPath } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'
import { useRunbooks } from './runbook.ts'

/** Runbooks about the data of a customer. */

const service = useService()
const runbook = useRunbooks(service)

const NAMED = '+233241234567'
const AMA = 'arn:aws:iam::123456789012:user/ama'

const failed = async () => service.chargeUntil('failed', { phone_number: FAILS_AT_ONCE })

runbook('operators.md#export-a-customer')(
  'a customer gets the own data, and the reads of them are listed',
  async ({ run, values }) => {
    const { reference } = await failed()
    values[NAMED] = FAILS_AT_ONCE
    const recipients = expect.arrayContaining([
      expect.objectContaining({ kind: 'bank', id: 'GCB' }),
    ])
    const debits = [expect.objectContaining({ reference })]
    await run('customer export', { debits, recipients }, {}, AMA)
    const read = expect.objectContaining({ by: AMA, noun: 'customer', verb: 'export' })
    await run('customer accesses', expect.arrayContaining([read]))
  },
)

runbook('operators.md#erase-a-customer')(
  'a customer is erased from accounts and debits',
  async ({ run, values }) => {
    const { reference } = await failed()
    values[NAMED] = FAILS_AT_ONCE
    const result = await run('customer erase', { later: 0, last_on: null })
    expect(result.erased).toBeGreaterThan(0)
    const { body } = await service.get(statusPath(reference))
    expect(body.data.customer.phone_number).toBeNull()
    expect(await service.call('customer', 'list', { phone: FAILS_AT_ONCE })).toEqual([])
  },
)
