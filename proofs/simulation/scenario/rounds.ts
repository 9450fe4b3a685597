import type { BatchStatus } from '../../../shared/domain/settlement/batch.ts'
import type { Api } from '../peers/api.ts'
import type { Books } from '../peers/books.ts'
import type { Operators } from '../peers/operators.ts'
import { simulatedProviders } from './fixtures.ts'
import { newRunbooks } from './runbooks.ts'
import type { Scenario } from './scenario.ts'
import { bankNames } from './script.ts'

/** The work of operators: retries and resolutions. */

type Deps = { api: Api; operators: Operators; books: Books }

/** The last half hour, without faults and other work. */
const AUDIT_MS = 1_800_000

type Batch = { id: string; status: BatchStatus }

export const newRounds = (deps: Deps) => {
  const { api } = deps
  const follow = newRunbooks(deps)

  /** Each provider reads its lists, then another one tries to read its batches. */
  const audit = async (): Promise<void> => {
    const query = { per_page: '100' }
    for (const [index, { id }] of simulatedProviders.entries()) {
      const caller = { kind: 'provider' as const, id }
      const other = simulatedProviders[(index + 1) % simulatedProviders.length] ?? { id }
      await api.ask({ name: 'list-debit-requests', caller, query })
      await api.ask({ name: 'list-events', caller, query: { per_page: '20' } })
      const batches = await api.ask({ name: 'list-settlements', caller, query })
      const { data = [] } = (batches?.reply?.body ?? {}) as { data?: Batch[] }
      for (const { id: batch } of data.slice(0, 2)) {
        for (const reader of [id, other.id]) {
          const path = { id: batch }
          await api.ask({ name: 'get-settlement', caller: { ...caller, id: reader }, path })
        }
      }
    }
    const listed = { phone_number: '+233241234567', status_filter: 'completed' }
    for (const id of bankNames) {
      await api.ask({
        name: 'list-debit-transactions',
        caller: { kind: 'bank', id },
        query: listed,
      })
    }
  }

  return {
    start: ({ rounds, endAt }: Scenario): void => {
      void api.until(endAt - AUDIT_MS).then(audit)
      for (const at of rounds) void api.until(at).then(follow)
    },
  }
}
