import { expect, test } from 'vitest'
import { submittedCustomer } from '../../../shared/domain/debits/submission.ts'

/** What a debit keeps of the account that its bank was told. */

const createdAt = new Date('2026-11-21T10:00:00.000Z')
const customer = { customerName: 'Ama Mensah', accountNumber: '1041001001' }

test.each([
  ['the first submission', false, undefined, customer],
  ['the first submission after a change of the account', false, '2026-11-21T10:00:01Z', customer],
  ['a repeat', true, undefined, customer],
  ['a repeat after an earlier change', true, '2026-11-21T09:59:59Z', customer],
  ['a repeat after a change of the account', true, '2026-11-21T10:00:01Z', {}],
])(
  'the debit of %s keeps the customer that its bank certainly has',
  (_, repeated, changedAt, kept) => {
    const account = { ...customer, status: 'active', ...(changedAt && { changedAt }) } as const
    expect(submittedCustomer({ account, createdAt, repeated } as never)).toEqual(kept)
  },
)
