import type { Check, Reporter } from './invariant.ts'
import type { DebitHistory, ObservationIndex } from './observation-index.ts'
import { membersOf } from './reply.ts'

/** 45: a debit has only the outcomes that its bank gave, an operator recorded or a timeout caused. */

export const outcomesComeFromBank: Check = (index, report) => {
  const { setup, bankPosts, queries } = index.observations
  const postsOf = Map.groupBy(bankPosts, ({ idempotencyKey }) => idempotencyKey)
  const queriesOf = Map.groupBy(queries, ({ uuid }) => uuid)
  for (const debit of index.debits.values()) {
    const { uuid, bank } = debit.item
    if (!setup.endpoints.includes(bank.identifier)) continue
    const words = [...(postsOf.get(uuid) ?? []), ...(queriesOf.get(uuid) ?? [])].map((word) => ({
      at: word.at,
      says: 'verdict' in word ? word.verdict : word.answer,
    }))
    checkOutcome(debit, words, index, report)
  }
}

type Words = readonly { at: number; says: string }[]

const SAID: Record<string, readonly string[]> = {
  processing: ['accepted'],
  completed: ['completed'],
  failed: ['failed', 'rejected'],
}

const checkOutcome = (
  { item, changes }: DebitHistory,
  words: Words,
  { askedBy }: ObservationIndex,
  report: Reporter,
): void => {
  for (const { before, after, at, by } of changes) {
    const said = after && before?.status !== after.status ? SAID[after.status] : undefined
    const entry = after?.history.at(-1)
    if (!said || !after || !by || entry?.by?.startsWith('operator:')) continue
    const isTimeout = after.status === 'failed' && entry?.set?.errorCode === 'timeout'
    if (isTimeout && entry?.by?.startsWith('job:')) continue
    const call = askedBy.get(by.invocation)
    const isReported =
      call?.caller?.kind === 'bank' &&
      call.caller.id === item.bank.identifier &&
      call.path.uuid === item.uuid &&
      membersOf(call.sent).status === after.status
    const isSaid = words.some((word) => word.at <= at && said.includes(word.says))
    if (!isReported && !isSaid) {
      report(item.reference, `is ${after.status}, which its bank never said`)
    }
  }
}
