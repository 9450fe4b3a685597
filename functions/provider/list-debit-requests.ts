import { endpoint } from '../../shared/api/endpoint.ts'
import { following, listHash, positionIn } from '../../shared/api/pagination.ts'
import { type DebitFilter, isListed } from '../../shared/domain/debits/list-query.ts'
import { type PagePlace, pageRequest, placeOf } from '../../shared/domain/page.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { logUnreadable } from '../../shared/log.ts'
import { real } from '../../shared/runtime.ts'
import { countDebits, listDebits } from '../../shared/store/debits/debit-lists.ts'
import { findByOwnReference } from '../../shared/store/debits/debits.ts'
import { debitView } from '../../shared/views/debit.ts'
import { countView, pageNumbersView } from '../../shared/views/page.ts'

/** Lists the debits of a provider, newest first. Only numbered pages have counts (docs/api.md#debit-list). */
export const listDebitRequests = endpoint('list-debit-requests', async ({ caller, query }) => {
  const { id } = caller.provider
  const { status, created_from: from, created_to: to, partner_reference: own } = query
  const filter = { status, from, to }
  const list = listHash('list-debit-requests', id, { ...filter, own })
  const position = positionIn(list, query.cursor)
  if (position instanceof Refusal) return position
  const request = pageRequest(query)
  const place = placeOf(request, position)
  const { debits, next, total } =
    own === undefined
      ? await readPage(id, filter, place)
      : await readByReference(id, own, filter, place)
  return {
    data: debits.map(debitView),
    page: {
      per_page: request.perPage,
      ...(total ? { ...pageNumbersView(request, total), ...countView(total) } : {}),
      ...following(list, next),
    },
  }
})

const readPage = async (provider: ProviderId, filter: DebitFilter, place: PagePlace) => {
  const unreadable = logUnreadable('list-debit-requests')
  const [page, total] = await Promise.all([
    listDebits(provider, filter, place, unreadable),
    place.before === undefined ? countDebits(provider, filter, unreadable) : undefined,
  ])
  return { ...page, total }
}

/** Reads the debit of a partner_reference if it matches the other filters. */
const readByReference = async (
  provider: ProviderId,
  partnerReference: string,
  filter: DebitFilter,
  { slice: { skip, limit } }: PagePlace,
) => {
  const debit = await findByOwnReference(provider, partnerReference)
  const matches = debit && isListed(debit, filter) ? [debit] : []
  const total = { count: matches.length, isAtLeast: false }
  return { debits: matches.slice(skip, skip + limit), next: null, total }
}

export const handler = listDebitRequests(real)
