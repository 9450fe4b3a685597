import { endpoint } from '../../shared/api/endpoint.ts'
import { notFound } from '../../shared/api/operations.ts'
import { real } from '../../shared/runtime.ts'
import { findAttached } from '../../shared/store/debits/attached.ts'
import { findProviderDebit } from '../../shared/store/debits/debits.ts'
import { statusView } from '../../shared/views/debit.ts'

/** Returns the current status of a debit (docs/api.md#status-read). */
export const getDebitRequest = endpoint('get-debit-request', async ({ path, caller }) => {
  const debit = await findProviderDebit(caller.provider.id, path.reference)
  if (!debit) return notFound('get-debit-request')
  return { data: statusView(debit, await findAttached(debit)) }
})

export const handler = getDebitRequest(real)
