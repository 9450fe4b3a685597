import {
  AHEAD_MAX,
  AROUND_DAYS,
  type Movement,
  type StatementExample,
  type StatementGroup,
  type StatementGroupName,
  type StatementReport,
  statementGroups,
} from '../domain/banks/statement.ts'
import {
  type MovementKind,
  movementKinds,
  type StatementRow,
} from '../domain/banks/statement-row.ts'
import { CURRENCY, formatAmount, type Pesewas, pesewas } from '../domain/money.ts'
import { type Day, dayAfter } from '../domain/time.ts'
import { type Found, newMovements, referencesOf } from './statement-movements.ts'

/** Compares a bank's statement of a day with its debits, refunds and payouts (docs/api.md#bank-statements). */

const byName = <T>(make: (name: StatementGroupName) => T) =>
  Object.fromEntries(statementGroups.map((name) => [name, make(name)])) as Record<
    StatementGroupName,
    T
  >

const EXAMPLES_MAX = 100

const newGroup = () => {
  let count = 0
  let sum = 0n
  const examples: StatementExample[] = []
  return {
    add: (amount: Pesewas, example: () => StatementExample): void => {
      count += 1
      sum += BigInt(amount)
      if (examples.length < EXAMPLES_MAX) examples.push(example())
    },
    // A sum of millions of rows exceeds the amount type.
    view: (): StatementGroup => ({ count, sum: formatAmount(sum), examples }),
  }
}

const rowView = ({ line, amount, reference: _, ...row }: StatementRow): StatementExample => ({
  line,
  ...row,
  amount: formatAmount(amount),
})

const amountOf = ({ amount }: Movement): Pesewas => pesewas(Number(amount.replace('.', '')))

const isCompletedOn = (date: Day, { completed_at }: Movement): boolean =>
  completed_at?.startsWith(date) === true

/**
 * Reports whether a movement is a refunded late completion, or a rejected refund with a note that the
 * customer has the money. Its `completed_at` is the time of the report or note, which can be days late.
 */
const isLate = ({ status }: Movement): boolean => status === 'failed'

/** Reports whether the bank may have moved the money on a day before the service learned of it. */
const isAhead = (date: Day, movement: Movement): boolean => {
  const { begun_at, completed_at } = movement
  if (completed_at === null || completed_at < dayAfter(date)) return false
  const isNear = completed_at < dayAfter(date, AROUND_DAYS + 1)
  return isLate(movement) || (isNear && (begun_at ?? completed_at) < dayAfter(date))
}

export const isOfDay = (date: Day, { completed_at }: StatementRow) => completed_at.startsWith(date)

const isOfKind = (row: StatementRow, { kind }: Movement): boolean =>
  row.kind === 'outgoing' ? kind !== 'debit' : kind === row.kind

const differencesOf = (
  row: StatementRow,
  movement: Movement,
  { isBooked, earlier }: { isBooked: boolean; earlier: Day | undefined },
): string[] => {
  const { kind, status, completed_at, bank_reference, reference } = movement
  const isNamed =
    bank_reference === null ||
    row.bank_reference === null ||
    [bank_reference, reference].some((one) => referencesOf(row).includes(one))
  return [
    ...(isOfKind(row, movement) ? [] : [`it is a ${kind} here`]),
    ...(completed_at === null ? [`the ${kind} is ${status} here`] : []),
    ...(completed_at !== null && !isBooked
      ? [`the ${kind} was completed here at ${completed_at}`]
      : []),
    ...(earlier ? [`the statement of ${earlier} names the same ${kind}`] : []),
    ...(row.amount === amountOf(movement) ? [] : [`the amount is ${movement.amount} here`]),
    ...(row.currency === CURRENCY ? [] : [`the currency is ${CURRENCY} here`]),
    ...(isNamed ? [] : [`the bank_reference is ${bank_reference} here`]),
  ]
}

/** Compares rows one by one, so that a statement of any size fits into memory. */
export const newComparison = (date: Day) => {
  const groups = byName(newGroup)
  const movements = newMovements()
  const booked = new Map<string, Day>()
  const ahead = new Set<string>()
  /** Returns the differences of the first row that names a movement. */
  const nameBy = (row: StatementRow, movement: Found) => {
    movements.mark(movement, row.line)
    const { uuid } = movement
    const isEarly = isAhead(date, movement)
    // A row that the stored result cannot name differs: another day might have it, too.
    if (isEarly && ahead.size < AHEAD_MAX) ahead.add(uuid)
    // A late one is missing on no day, whatever the stored result names.
    const isBooked =
      isCompletedOn(date, movement) || ahead.has(uuid) || (isEarly && isLate(movement))
    return differencesOf(row, movement, { isBooked, earlier: booked.get(uuid) })
  }
  return {
    /** Adds a movement that the statement of an earlier day names, before the first row. */
    book: (uuid: string, day: Day): void => void booked.set(uuid, day),
    /** Returns the uuids of movements of later days that rows name. */
    ahead: (): string[] => [...ahead],
    knows: movements.knows,
    /** Adds a movement of the bank that was completed on the day, or that a later row names. */
    add: movements.add,
    /** @param isAbsent whether its uuid is that of a debit which the service does not have */
    addRow: (row: StatementRow, isAbsent = false): void => {
      const found = isAbsent ? undefined : movements.find(row, formatAmount(row.amount))
      if (!found) {
        groups.missing_here.add(row.amount, () => rowView(row))
        return
      }
      const { kind, reference, line } = found
      const reasons = line === 0 ? nameBy(row, found) : [`line ${line} names the same ${kind}`]
      const example = () => ({ ...rowView(row), reference })
      if (reasons.length === 0) groups.matched.add(row.amount, example)
      else groups.differs.add(row.amount, () => ({ ...example(), reason: reasons.join('; ') }))
    },
    /**
     * Returns the report after the last row.
     * @param covers the kinds that the statement has
     */
    end: (covers: readonly MovementKind[] = movementKinds): StatementReport => {
      for (const { rowid: _, line: __, ...movement } of movements.unnamed()) {
        if (!covers.includes(movement.kind) || !isCompletedOn(date, movement)) continue
        // Its row is, or can be, that of an earlier day.
        if (booked.has(movement.uuid) || isLate(movement)) continue
        groups.missing_at_bank.add(amountOf(movement), () => movement)
      }
      movements.close()
      return byName((name) => groups[name].view())
    },
  }
}
