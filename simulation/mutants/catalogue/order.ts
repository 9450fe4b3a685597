import { type Mutant, mutantsOf } from '../mutant.ts'

/** Transitions, histories and their events. */

export const order: readonly Mutant[] = [
  ...mutantsOf('order', 'shared/store/debits/transitions.ts', [
    {
      name: 'move-whatever-stands',
      from: "ConditionExpression: '#status = :from AND #version = :current',",
      to: "ConditionExpression: '#status = :from OR #version >= :current',",
      invariants: [5, 6, 12],
      needs: 'a report and a clock at once, or a report on a debit that failed',
    },
    {
      name: 'reversal-by-an-old-version',
      from: "ConditionExpression: '#status = :from AND #version = :current',",
      to: "ConditionExpression: '#status = :from AND #version >= :current',",
      invariants: [6, 27],
      needs: 'a reversal that is judged before its debit gets its line and written after it',
    },
    {
      name: 'history-written-over',
      from: "'#history = list_append(#history, :entries)',",
      to: "'#history = :entries',",
      invariants: [5, 12, 14],
      needs: 'any move',
    },
    {
      name: 'loser-told-that-it-won',
      from: 'return committed ?? transitionFresh(assumed, decide, runtime)',
      to: 'return committed ?? (next instanceof Refusal ? transitionFresh(assumed, decide, runtime) : next)',
      invariants: [3, 6, 31],
      needs: 'a report of another end than the one a debit has come to',
    },
    {
      name: 'failure-without-its-place-in-the-history',
      from: `      .slice(previous.history.length)
      .map(`,
      to: `      .slice(previous.history.length)
      .filter(({ changes }) => changes.errorCode !== 'timeout')
      .map(`,
      invariants: [5, 8, 12],
      needs: 'a clock that runs out',
    },
  ]),
  ...mutantsOf('order', 'shared/domain/debits/lifecycle.ts', [
    {
      name: 'failed-is-not-final',
      from: '  failed: [],',
      to: "  failed: ['completed'],",
      invariants: [5, 31],
      needs: 'a bank that reports a completion after the debit failed',
    },
    {
      name: 'completed-may-fail',
      from: "  completed: ['reversed'],",
      to: "  completed: ['reversed', 'failed'],",
      invariants: [5, 6],
      needs: 'a bank that reports a failure after the debit was completed',
    },
  ]),
  ...mutantsOf('order', 'shared/views/webhook-payload.ts', [
    {
      name: 'payload-of-the-latest-state',
      from: 'const state = stateAt(debit, n)',
      to: 'const state = stateAt(debit)',
      invariants: [12, 14],
      needs: 'an event that is delivered after a later one was written',
    },
    {
      name: 'event-numbered-by-the-latest-state',
      from: '    sequence: n,',
      to: '    sequence: debit.history.length - 1,',
      invariants: [14],
      needs: 'an event that is delivered after a later one was written',
    },
  ]),
  ...mutantsOf('order', 'shared/domain/debits/debit.ts', [
    {
      name: 'payload-with-later-fields',
      from: 'const known = entries.map(({ changes }) => changes)',
      to: 'const known = debit.history.map(({ changes }) => changes)',
      invariants: [8, 14],
      needs: 'an event that is delivered after a later one was written',
    },
    {
      name: 'previous-status-of-the-latest-state',
      from: 'previousStatus: entries.at(-2)?.type ?? null,',
      to: 'previousStatus: debit.history.at(-2)?.type ?? null,',
      invariants: [12, 14],
      needs: 'an event that is delivered after a later one was written',
    },
    {
      name: 'completed-is-processed',
      from: "processedAt: atOf('processing'),",
      to: "processedAt: atOf('processing') ?? atOf('completed'),",
      invariants: [8, 14],
      needs: 'a debit that is completed straight from pending, and is asked for or told',
    },
    {
      name: 'failed-has-completed-at',
      from: "completedAt: atOf('completed'),",
      to: "completedAt: atOf('completed') ?? atOf('failed'),",
      invariants: [8, 14],
      needs: 'a debit that failed, and is asked for or told',
    },
  ]),
  ...mutantsOf('order', 'shared/store/debits/debit-item.ts', [
    {
      name: 'audit-forgets-who',
      from: '...(entry.by === previous?.by ? {} : { by: entry.by }),',
      to: '...(previous ? {} : { by: entry.by }),',
      invariants: [33],
      needs: 'any move',
    },
  ]),
]
