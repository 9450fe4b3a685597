import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { useService } from '../support/running-service.ts'

/** Replies of a bank about a debit that has ended before (docs/bank-protocol.md#submission). */

const service = useService()
const bank = useHttpBank(service)

test('a rejection of a debit that was completed before the reply is a contradiction', async () => {
  bank.conducts.push({ status: 503, body: '' })
  const { reference, uuid } = await service.charge({ bank_identifier: 'HTB', amount: '120.50' })
  await eventually(() => expect(bank.requestsFor(uuid)).toHaveLength(1))
  bank.outcomes.set(uuid, async () => {
    const options = { reference, 'bank-reference': 'HTB-80', reason: 'By telephone' }
    await service.call('debit', 'complete', options)
    const declined = { code: 'insufficient_funds', message: 'Too little money' }
    return { status: 'failed', uuid, amount: '120.50', bank_reference: 'HTB-81', ...declined }
  })
  await service.runJob('submit-to-bank', { reference, resubmission: true })
  await eventually(async () => {
    const [exception, ...others] = await service.exceptions(reference)
    const expected = { kind: 'contradiction', debit_status: 'completed', reported_by: 'bank:HTB' }
    expect(exception).toMatchObject(expected)
    expect(JSON.parse(exception?.report)).toMatchObject({
      ...{ status: 'failed', bank_reference: 'HTB-81', error_message: 'Too little money' },
    })
    expect(others).toEqual([])
  })
  expect(await service.show(reference)).toMatchObject({ status: 'completed', refund: null })
})

test.each([
  ['while its bank replies', true],
  ['before its submission is repeated', false],
])('a completion of a debit that fails %s is stored as late', async (_, isDuring) => {
  bank.conducts.push({ status: 503, body: '' })
  const { reference, uuid } = await service.charge({ bank_identifier: 'HTB', amount: '120.50' })
  await eventually(() => expect(bank.requestsFor(uuid)).toHaveLength(1))
  const options = { reference, 'bank-reference': 'HTB-80', reason: 'By telephone' }
  const fail = () => service.call('debit', 'fail', options)
  if (!isDuring) await fail()
  bank.outcomes.set(uuid, async () => {
    if (isDuring) await fail()
    return { status: 'completed', uuid, amount: '120.50', bank_reference: 'HTB-81' }
  })
  await service.runJob('submit-to-bank', { reference, resubmission: true })
  await eventually(async () => {
    const exceptions = await service.exceptions(reference)
    expect(exceptions).toMatchObject([{ kind: 'late_completion', reported_by: 'bank:HTB' }])
  })
  expect(await service.show(reference)).toMatchObject({ status: 'failed' })
})
