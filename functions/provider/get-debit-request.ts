import * as v from 'valibot'
import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { Reference } from '../../shared/domain/ids.ts'
import { real } from '../../shared/runtime.ts'
import { findProviderDebit } from '../../shared/store/debits/debits.ts'
import { findRefundOf } from '../../shared/store/debits/refunds.ts'
import { statusView } from '../../shared/views/debit.ts'

/** Returns the current status of a debit (docs/api.md#status-read). */
export const getDebitRequest = endpoint('get-debit-request', async ({ path, caller }) => {
  const reference = v.safeParse(Reference, path.reference)
  const debit = reference.success && (await findProviderDebit(caller.provider.id, reference.output))
  if (!debit) return notFound('get-debit-request')
  return { data: statusView(debit, await findRefundOf(debit)) }
})

export const handler = getDebitRequest(real)
