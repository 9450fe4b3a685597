import * as v from 'valibot'
import { statuses } from './lifecycle.ts'
import { Cursor, pageParameters } from './page.ts'
import { PhoneNumber } from './phone.ts'
import { oneOf } from './text.ts'

/** The query of a partner's list (specification, List debit requests by status). */
export const DebitListQuery = v.object(
  { status: oneOf(statuses), ...pageParameters, cursor: v.optional(Cursor) },
  'is required',
)

/** The query of a bank's list (specification, Bank: list customer transactions). */
export const BankListQuery = v.object(
  {
    phone_number: PhoneNumber,
    status_filter: v.optional(
      oneOf(['pending', 'processing', 'completed', 'failed', 'all']),
      'pending',
    ),
  },
  'is required',
)
