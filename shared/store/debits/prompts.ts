import { type Debit, stateAt, wholeFacts } from '../../domain/debits/debit.ts'
import { isPromptRefused, PROMPT_SECONDS } from '../../domain/debits/prompts.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { secondsAfter } from '../../domain/time.ts'
import { queryOf } from '../index-lists.ts'
import { keys } from '../keys.ts'
import { examine } from '../table.ts'

/** Entries of half a read unit. Refused debits have a partition of their own, so more are rare. */
const PAGE = 20
const EXAMINED_MAX = 1_000

/**
 * Reports whether the customer has had too many approval prompts, by the earlier debits in the index.
 * The oldest decide first. Usually one query of half a read unit.
 * @throws Error if the index is unreadable or too many debits are undecided
 */
export const hasTooManyPrompts = async (debit: Debit, promptsMax: number): Promise<boolean> => {
  const { bank, phone, provider, reference } = wholeFacts(debit)
  const { createdAt } = stateAt(debit, 0)
  const until = keys.byTime(createdAt, reference)
  const query = queryOf({
    index: 'by-customer',
    key: keys.byCustomer(bank.identifier, phone),
    from: secondsAfter(createdAt, -PROMPT_SECONDS).toISOString(),
    until,
  })
  const earlier: ProviderId[] = []
  let examined = 0
  for await (const { items } of examine({ ...query, ScanIndexForward: true, Limit: PAGE })) {
    const before = items.filter(({ byTime }) => String(byTime) < until)
    earlier.push(...before.map(({ byStatus }) => String(byStatus).split('#')[0] as ProviderId))
    if (isPromptRefused(earlier, provider, promptsMax)) return true
    examined += items.length
    if (examined >= EXAMINED_MAX)
      throw new Error(`${examined} debits of one customer are undecided`)
  }
  return false
}
