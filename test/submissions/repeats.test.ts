import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { statusPath } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'

/** Submissions whose reply is lost, and which a query precedes (docs/bank-protocol.md#query). */

const service = useService()
const bank = useHttpBank(service)

test.each([
  [
    'the linked account',
    '+233247771234',
    false,
    { name: 'Ama Mensah', account_number: '*********1001' },
  ],
  [
    'no account if another was linked since the charge',
    '+233247771235',
    true,
    { name: null, account_number: null },
  ],
])('a repeated submission records %s', async (_, phone_number, isChanged, expected) => {
  const link = (name: string, account: string) =>
    service.call('customer', 'link', {
      ...{ phone: phone_number, bank: 'HTB', name, 'account-number': account },
    })
  await link('Ama Mensah', '1041001001')
  bank.conducts.push('hang')
  const { reference, uuid } = await service.charge({ bank_identifier: 'HTB', phone_number })
  await eventually(() => expect(bank.requestsFor(uuid)).toHaveLength(1))
  if (isChanged) await link('Kofi Boateng', '1041002002')
  await service.runJob('submit-to-bank', { reference, resubmission: true })
  const { body } = await service.get(statusPath(reference))
  expect(body.data).toMatchObject({ status: 'processing', customer: { phone_number, ...expected } })
})

test('a failure that a query returns fails a debit that another worker has just recorded as accepted', async () => {
  bank.conducts.push({ status: 503, body: '' })
  const { reference, uuid } = await service.charge({ bank_identifier: 'HTB', amount: '120.50' })
  await eventually(() => expect(bank.requestsFor(uuid)).toHaveLength(1))
  const repeat = () => service.runJob('submit-to-bank', { reference, resubmission: true })
  const reply = { uuid, amount: '120.50', bank_reference: 'HTB-82' }
  bank.outcomes.set(uuid, async () => {
    bank.outcomes.set(uuid, { ...reply, status: 'accepted' })
    await repeat()
    expect((await service.show(reference)).status).toBe('processing')
    return { ...reply, status: 'failed', code: 'transaction_declined', message: 'Declined' }
  })
  await repeat()
  await service.until(reference, 'failed')
})

const declined = { status: 'failed', code: 'transaction_declined', message: 'Declined' }

test.each([
  ['contradicts its end', ['late_completion'], { status: 'completed', bank_reference: 'HTB-7' }, 1],
  ['agrees with its end', [], declined, 2],
])(
  'two repeated submissions of a failed debit whose bank %s open the exceptions %j',
  async (_, kinds, outcome, queries) => {
    bank.conducts.push('reject')
    const { reference, uuid } = await service.charge({ bank_identifier: 'HTB' })
    await service.until(reference, 'failed')
    bank.outcomes.set(uuid, outcome)
    for (const _ of [1, 2]) {
      await service.runJob('submit-to-bank', { reference, resubmission: true })
    }
    expect((await service.exceptions(reference)).map(({ kind }) => kind)).toEqual(kinds)
    const methods = bank.requestsFor(uuid).map(({ method }) => method)
    expect(methods).toEqual(['POST', ...Array(queries).fill('GET')])
  },
)

test('a debit that operators completed and reversed has no exception when its bank reports the completion', async () => {
  bank.conducts.push({ status: 503, body: '' })
  const { reference, uuid } = await service.charge({ bank_identifier: 'HTB' })
  await eventually(() => expect(bank.requestsFor(uuid)).toHaveLength(1))
  const evidence = { 'bank-reference': 'HTB-8', reason: 'Statement' }
  await service.call('debit', 'complete', { reference, ...evidence })
  await service.call('debit', 'reverse', { reference, reason: 'Dispute' })
  bank.outcomes.set(uuid, { uuid, amount: '100.00', status: 'completed', bank_reference: 'HTB-8' })
  await service.runJob('submit-to-bank', { reference, resubmission: true })
  expect(bank.requestsFor(uuid).map(({ method }) => method)).toContain('GET')
  expect(await service.exceptions(reference)).toEqual([])
})
