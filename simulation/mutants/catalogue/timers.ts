import type { Fault } from '../mutant.ts'

/** The clocks of a debit. */

const debit = { area: 'timers', file: 'shared/domain/debits/debit.ts' } as const
const sweep = { area: 'timers', file: 'shared/sweep/overdue.ts' } as const

export const timers: readonly Fault[] = [
  {
    ...debit,
    name: 'five-minutes-from-the-charge',
    from: 'secondsAfter(processedAt, clocks.approvalSeconds)',
    to: 'secondsAfter(createdAt, clocks.approvalSeconds)',
    invariants: [4, 8],
    needs: 'a debit whose submission took long and whose customer stays silent',
  },
  {
    ...debit,
    name: 'clock-goes-on-after-the-approval',
    from: 'return processedAt && !debit.approval\n',
    to: 'return processedAt\n',
    invariants: [4, 8],
    needs: 'a debit whose customer approved and whose bank stays silent',
  },
  {
    ...debit,
    name: 'clocks-confused',
    from: `  approval: 'Transaction timeout',
  processing: 'Bank processing timeout',`,
    to: `  processing: 'Transaction timeout',
  approval: 'Bank processing timeout',`,
    invariants: [8],
    needs: 'a clock of five minutes that runs out',
  },
  {
    name: 'timer-believed',
    area: 'timers',
    file: 'functions/jobs/expire-debit.ts',
    from: 'const cause = { at, by:',
    to: 'const cause = { at: new Date(at.getTime() + 600_000), by:',
    invariants: [4, 8, 33],
    needs: 'a timer that comes early, or after the customer approved',
  },
  {
    name: 'outcome-of-the-bank-ignored',
    area: 'timers',
    file: 'shared/sweep/expire.ts',
    from: 'if (outcome && isOpen(current.status))',
    to: 'if (outcome && !isOpen(current.status))',
    invariants: [38],
    needs: 'a bank whose report of a completed debit is lost',
  },
  {
    name: 'ten-minutes-are-a-hundred',
    area: 'timers',
    file: 'shared/domain/debits/lifecycle.ts',
    from: 'processingSeconds: 600 / timeScale,',
    to: 'processingSeconds: 6000 / timeScale,',
    invariants: [4],
    needs: 'a debit that stays open in a world where all else is well',
  },
  {
    ...sweep,
    name: 'lost-timer-not-missed',
    from: '  if (!phase) return false\n',
    to: "  if (!phase || debit.status === 'processing') return false\n",
    invariants: [4],
    needs: 'a debit under way that stays silent and whose timers are lost',
  },
]
