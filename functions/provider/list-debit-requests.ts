import { endpoint } from '../../shared/api/endpoint.ts'
import { type Debit, stateAt } from '../../shared/domain/debit.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { cursorFor, pageRequest, REACH } from '../../shared/domain/page.ts'
import { transactionView } from '../../shared/domain/transaction.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { listByStatus, listByStatusAfter } from '../../shared/store/debit-lists.ts'

/** A partner's debits in one status, newest first: in pages, and by cursor as deep as they go. */
export const listDebitRequests = (runtime: Runtime) =>
  endpoint('list-debit-requests', runtime, async ({ caller, query }) => {
    const { id } = caller.partner
    const { page, perPage } = pageRequest(query)
    if (query.cursor !== undefined) {
      const after = { before: query.cursor, perPage }
      const { debits, cursor } = await listByStatusAfter(id, query.status, after)
      return { data: debits.map(view), page: { per_page: perPage, next_cursor: next(cursor) } }
    }
    const { debits, count, cursor } = await listByStatus(id, query.status, { page, perPage })
    return {
      data: debits.map(view),
      page: {
        current_page: page,
        per_page: perPage,
        total_pages: Math.ceil(count / perPage),
        total_count: count,
        ...(count === REACH ? { total_is_at_least: true as const } : {}),
        next_cursor: next(cursor),
      },
    }
  })

const next = (position: string | null): string | null =>
  position === null ? null : cursorFor(position)

const view = (debit: Debit) => {
  const state = stateAt(debit)
  return { ...transactionView(state, formatAmount), metadata: state.metadata }
}

export const handler = listDebitRequests(real)
