import type { Clock } from '../../../sandbox/aws/clock.ts'
import type { BookEntry } from '../engine/observations.ts'
import type { Random } from '../engine/random.ts'
import { pesewasOf } from '../invariants/time-and-money.ts'
import type { ScriptedReport } from '../scenario/script.ts'

/** The banks' own books of the money that they moved, whatever they reported. */

export type Books = ReturnType<typeof newBooks>

export const newBooks = (clock: Clock, random: Random) => {
  const entries: BookEntry[] = []
  return {
    entries,
    /** @param of the uuid of a debit, the id of a batch or the reference of a remittance */
    write: (type: BookEntry['type'], bank: string, of: string, amount: unknown): void => {
      entries.push({ at: clock.now(), type, bank, of, amount: pesewasOf(amount) ?? 0 })
    },
    /** Returns the pesewas of a debit that its bank did not return; 0 if no money moved. */
    held: (uuid: string): number =>
      entries
        .filter(({ of }) => of === uuid)
        .reduce((sum, { type, amount }) => sum + (type === 'debit' ? amount : -amount), 0),
    /** Returns the report at which money leaves the customer. Either of two that contradict may be right. */
    trueCompletion: (reports: readonly ScriptedReport[]): ScriptedReport | undefined => {
      const completed = reports.find(({ status }) => status === 'completed')
      const isContradicted = reports.some(({ status }) => status === 'failed')
      return isContradicted && random.happens(0.5) ? undefined : completed
    },
  }
}
