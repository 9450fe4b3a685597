import type { MovementKind } from '../domain/banks/statement-row.ts'
import { type Refund, refundStatuses } from '../domain/debits/refund.ts'
import type { BankDay } from '../domain/operator/day-closing.ts'
import { isWithin } from '../domain/settlement/ledger-entry.ts'
import { type Day, dayAfter, END_OF_TIME, startOf } from '../domain/time.ts'
import { spanOf } from '../ledger/day.ts'
import { completionOf } from '../ledger/entries.ts'
import { type ComparedStatement, listStatements, loadBooked } from '../store/banks/statements.ts'
import { findDebits } from '../store/debits/debits.ts'
import { refundPages } from '../store/debits/refunds.ts'

/** Reads the statements of a day, and returns whether they confirm the movements of their banks. */

const GROUPS = {
  missing_here: 'rows that are missing here',
  missing_at_bank: 'movements that are missing at the bank',
  differs: 'rows that differ',
}

/** `early`: the event since the comparison that makes it worth nothing. */
export type DayStatement = ComparedStatement & { early: string | undefined }

/**
 * Returns the statements of a day. The end of the day, the statement of an earlier day, or the reversal of a
 * debit for which the bank moved nothing can come after the comparison.
 */
export const loadStatements = async (date: Day, now: Date): Promise<DayStatement[]> => {
  const end = startOf(dayAfter(date))
  const [statements, bookedOf] = await Promise.all([listStatements(date), loadBooked(date)])
  const from = new Date(Math.min(...statements.map(({ at }) => at.getTime())))
  const waived = statements.length > 0 ? await waivedSince(from, date) : []
  const earlyOf = ({ bank, at, booked = null }: ComparedStatement): string | undefined => {
    if (end <= now && at < end) return 'the day ended'
    if (bookedOf(bank).digest !== booked) return 'that of an earlier day: compare it again'
    const later = waived.find((refund) => refund.bank === bank && refund.createdAt > at)
    return later && `${later.reference} was reversed without a refund`
  }
  return statements.map((statement) => ({ ...statement, early: earlyOf(statement) }))
}

/** Returns the reversals since a time without a refund, of debits that were completed on a day. */
const waivedSince = async (from: Date, date: Day): Promise<Refund[]> => {
  const found: Refund[] = []
  for await (const page of refundPages('completed', { from, before: END_OF_TIME })) {
    const waived = page.filter(({ status }) => !refundStatuses[status].isInstructed)
    const debits = await findDebits(waived.map(({ reference }) => reference))
    const isOfDay = ({ reference }: Refund): boolean => {
      const debit = debits.get(reference)
      const completion = debit && completionOf(debit)
      return completion !== undefined && isWithin(completion.completedAt, spanOf(date))
    }
    found.push(...waived.filter(isOfDay))
  }
  return found
}

/** Returns why a statement does not confirm what its bank moved. */
export const statementReasons = (
  kinds: readonly MovementKind[],
  statement: DayStatement | undefined,
): string[] => {
  if (!statement) {
    const moved = kinds.map((kind) => `${kind}s`).join(', ')
    return moved ? [`the bank moved ${moved}, but has no statement`] : []
  }
  const { covers, counts, names, early } = statement
  return [
    ...(early ? [`the statement was compared before ${early}`] : []),
    ...kinds
      .filter((kind) => !covers.includes(kind))
      .map((kind) => `the statement has no row of a ${kind}`),
    ...(Object.keys(GROUPS) as (keyof typeof GROUPS)[]).flatMap((group) =>
      counts[group] > 0
        ? [`${GROUPS[group]}: ${counts[group]}, such as ${names[group].join(', ')}`]
        : [],
    ),
  ]
}

export const stateOf = (
  reasons: readonly string[],
  statement: DayStatement | undefined,
): BankDay['statement'] => {
  if (!statement) return 'missing'
  if (statement.early) return 'early'
  return reasons.length > 0 ? 'differs' : 'agrees'
}
