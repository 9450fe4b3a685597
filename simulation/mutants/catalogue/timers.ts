import { type Mutant, mutantsOf } from '../mutant.ts'

/** The timeouts of a debit. */

export const timers: readonly Mutant[] = [
  ...mutantsOf('timers', 'shared/domain/debits/debit.ts', [
    {
      name: 'five-minutes-from-the-charge',
      from: 'secondsAfter(processedAt, clocks.approvalSeconds)',
      to: 'secondsAfter(createdAt, clocks.approvalSeconds)',
      invariants: [4, 8],
      needs: 'a debit whose submission took long and whose customer stays silent',
    },
    {
      name: 'clock-goes-on-after-the-approval',
      from: 'return processedAt && !debit.approval\n',
      to: 'return processedAt\n',
      invariants: [4, 8],
      needs: 'a debit whose customer approved and whose bank stays silent',
    },
    {
      name: 'clocks-confused',
      from: `  approval: 'Transaction timeout',
  processing: 'Bank processing timeout',`,
      to: `  processing: 'Transaction timeout',
  approval: 'Bank processing timeout',`,
      invariants: [8],
      needs: 'a clock of five minutes that runs out',
    },
  ]),
  ...mutantsOf('timers', 'functions/jobs/expire-debit.ts', [
    {
      name: 'timer-believed',
      from: 'const cause = { at, by:',
      to: 'const cause = { at: new Date(at.getTime() + 600_000), by:',
      invariants: [4, 8, 33],
      needs: 'a timer that comes early, or after the customer approved',
    },
  ]),
  ...mutantsOf('timers', 'shared/sweep/expire.ts', [
    {
      name: 'outcome-of-the-bank-ignored',
      from: 'if (outcome && isOpen(current.status))',
      to: 'if (outcome && !isOpen(current.status))',
      invariants: [38],
      needs: 'a bank whose report of a completed debit is lost',
    },
  ]),
  ...mutantsOf('timers', 'shared/domain/debits/lifecycle.ts', [
    {
      name: 'ten-minutes-are-a-hundred',
      from: 'processingSeconds: 600 / timeScale,',
      to: 'processingSeconds: 6000 / timeScale,',
      invariants: [4],
      needs: 'a debit that stays open in a world where all else is well',
    },
  ]),
  ...mutantsOf('timers', 'shared/sweep/overdue.ts', [
    {
      name: 'lost-timer-not-missed',
      from: '  if (!phase) return false\n',
      to: "  if (!phase || debit.status === 'processing') return false\n",
      invariants: [4],
      needs: 'a debit under way that stays silent and whose timers are lost',
    },
  ]),
]
