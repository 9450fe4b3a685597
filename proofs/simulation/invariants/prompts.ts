import type { Observations } from '../engine/observations.ts'
import type { Check, DebitHistory, ObservationIndex } from './observation-index.ts'
import type { Entry } from './raw-items.ts'
import { MINUTE_MS } from './time-and-money.ts'

/** 65: the cap on the approval prompts of a customer, and of one provider within it. */

const PROMPT_MS = 10 * MINUTE_MS

/** Reports whether an entry is the failure of a debit that the service did not submit. */
export const isRefusal = ({ by, set }: Pick<Entry, 'by' | 'set'>): boolean =>
  by === 'job:submit-to-bank' && set.errorMessage === 'Too many approval requests for this customer'

const LATEST_MS: Partial<Record<Observations['strikes'][number]['name'], number>> = {
  'index late': MINUTE_MS,
  'index far behind': PROMPT_MS,
}

/** Returns the longest delay of an index in the run. */
const indexDelay = ({ strikes }: Observations): number =>
  Math.max(0, ...strikes.map(({ name }) => LATEST_MS[name] ?? 0))

const placeOf = ({ createdAt, item }: DebitHistory): string =>
  `${new Date(createdAt).toISOString()}#${item.reference}`

/** The debits of the same bank and phone number in the ten minutes before a debit. */
const earlierThan = (debit: DebitHistory, debits: readonly DebitHistory[]): DebitHistory[] =>
  debits.filter(
    (other) => placeOf(other) < placeOf(debit) && other.createdAt >= debit.createdAt - PROMPT_MS,
  )

const customersIn = ({ debits }: ObservationIndex) =>
  Map.groupBy(debits.values(), ({ item }) => `${item.bank.identifier} ${item.phone}`)

const refusalIn = ({ entries }: DebitHistory): Entry | undefined => entries.find(isRefusal)

/** Reports whether prompts reach the cap, or the share of a provider. */
const isFull = (prompts: readonly DebitHistory[], { item }: DebitHistory, cap: number): boolean => {
  const share = Math.ceil(0.6 * cap)
  const byProvider = Map.groupBy(prompts, ({ item: { provider } }) => provider)
  const counts = [...byProvider.values()].map(({ length }) => Math.min(length, share))
  const own = byProvider.get(item.provider)?.length ?? 0
  return own >= share || counts.reduce((sum, count) => sum + count, 0) >= cap
}

/** A debit that a bank received had room, among those that the index had to show. */
export const promptsAreCapped: Check = (index, report) => {
  const { observations, bankPostsOf, startOf } = index
  const { openPromptsMax: cap, endpoints, isRestored } = observations.setup
  if (cap === undefined || isRestored) return
  const delay = indexDelay(observations)
  const unchecked = new Set(
    observations.measurements.flatMap(({ name, by }) => (name === 'PromptsUnchecked' ? [by] : [])),
  )
  const postOf = ({ uuid }: DebitHistory) => bankPostsOf.get(uuid)?.[0]
  for (const debits of customersIn(index).values()) {
    const sent = debits.filter((debit) => postOf(debit) && !refusalIn(debit))
    for (const debit of sent) {
      const { at = 0, by } = postOf(debit) ?? {}
      const { identifier } = debit.item.bank
      if (!endpoints.includes(identifier) || unchecked.has(by)) continue
      const shownBy = startOf(by, at) - delay
      const shown = earlierThan(debit, sent).filter(
        ({ changes: [created] }) => (created?.at ?? Infinity) < shownBy,
      )
      if (isFull(shown, debit, cap)) report(debit.item.reference, 'is a prompt above the cap')
    }
  }
}

/** A refused debit was above the cap, and its bank never got it while the index was current. */
export const refusalsAreAboveCap: Check = (index, report) => {
  const { observations, bankPostsOf } = index
  const { openPromptsMax: cap, isRestored } = observations.setup
  if (isRestored) return
  const delay = indexDelay(observations)
  for (const debits of customersIn(index).values()) {
    for (const debit of debits) {
      const refusal = refusalIn(debit)
      if (!refusal) continue
      const { reference } = debit.item
      const refusedAt = debit.changes.find(({ after }) => after?.status === 'failed')?.at ?? 0
      const counted = earlierThan(debit, debits).filter((other) => {
        const failedAt = refusalIn(other)?.writtenAt ?? Infinity
        return failedAt >= refusedAt - delay - 2 * observations.setup.skew - MINUTE_MS
      })
      if (cap === undefined || !isFull(counted, debit, cap))
        report(reference, 'was refused below the cap')
      if (delay === 0 && observations.setup.isHealthy && bankPostsOf.has(debit.uuid))
        report(reference, 'was refused, but submitted')
    }
  }
}
