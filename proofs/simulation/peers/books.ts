import type { Clock } from '../../../sandbox/aws/clock.ts'
import type { BookEntry } from '../engine/observations.ts'
import type { Random } from '../engine/random.ts'
import { inGhs, pesewasOf } from '../invariants/time-and-money.ts'
import type { ScriptedReport } from '../scenario/script.ts'

/** The banks' own books of the money that they moved, whatever they reported. */

export type Books = ReturnType<typeof newBooks>

export const newBooks = (clock: Clock, random: Random) => {
  const entries: BookEntry[] = []
  const sum = (isCounted: (entry: BookEntry) => boolean): number =>
    entries.filter(isCounted).reduce((total, { amount }) => total + amount, 0)
  const write = (
    type: BookEntry['type'],
    bank: string,
    of: string,
    amount: unknown,
    isOrdered = false,
  ): void => {
    const moved = pesewasOf(amount) ?? 0
    const signed = type === 'debit' ? moved : -moved
    entries.push({ at: clock.now(), type, bank, of, amount: signed, isOrdered })
  }
  return {
    entries,
    /** @param of the uuid of a debit, the id of a batch or the reference of a remittance */
    write,
    /** Returns the pesewas of a debit that its bank did not return; 0 if no money moved. */
    held: (uuid: string): number => sum(({ of }) => of === uuid),
    /** Whether a bank has made a refund that the service ordered, whatever it replied. */
    isRefunded: (uuid: string): boolean =>
      entries.some(({ type, of, isOrdered }) => type === 'refund' && of === uuid && isOrdered),
    /** Remits what a bank had collected by an instant, less what it has returned. */
    remit: (bank: string, reference: string, until: number): void => {
      const amount = sum(
        ({ type, ...entry }) =>
          entry.bank === bank && type !== 'payout' && (type !== 'debit' || entry.at <= until),
      )
      if (amount > 0) write('remittance', bank, reference, inGhs(amount))
    },
    remittances: () => entries.filter(({ type }) => type === 'remittance'),
    /** Returns the report at which money leaves the customer. Either of two that contradict may be right. */
    trueCompletion: (reports: readonly ScriptedReport[]): ScriptedReport | undefined => {
      const completed = reports.find(({ status }) => status === 'completed')
      const isContradicted = reports.some(({ status }) => status === 'failed')
      return isContradicted && random.happens(0.5) ? undefined : completed
    },
  }
}
