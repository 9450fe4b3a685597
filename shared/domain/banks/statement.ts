import { CURRENCY, formatAmount, type Pesewas, pesewas } from '../money.ts'
import type { Day } from '../time.ts'
import { type MovementKind, movementKinds, type StatementRow } from './statement-row.ts'

/** Compares a bank's statement of a day with its debits, refunds and payouts (docs/api.md#bank-statements). */

/** Money that a bank moved. Its uuid is that of the instruction to the bank. */
export type Movement = {
  kind: MovementKind
  /** Of the debit, or of the batch. */
  reference: string
  provider: string
  uuid: string
  bank_reference: string | null
  amount: string
  status: string
  completed_at: string | null
}

/** A position in one of a provider's lists. */
export type BankDebitsCursor = { provider: string; list: string; after: string | null }

export type BankDebitsPage = { debits: Movement[]; next: BankDebitsCursor | null }
/** Refunds or payouts; the next page begins after a position. */
export type OutgoingPage = { outgoing: Movement[]; next: string | null }

/** A row of the statement with its debit, or a debit that has no row. */
export type StatementExample = Partial<Omit<Movement, 'uuid' | 'kind'>> & {
  kind: MovementKind | 'outgoing'
  uuid: string | null
  line?: number
  currency?: string
  reason?: string
}
type StatementGroup = { count: number; sum: string; examples: StatementExample[] }
const groupNames = ['matched', 'missing_here', 'missing_at_bank', 'differs'] as const
type GroupName = (typeof groupNames)[number]
export type StatementReport = Record<GroupName, StatementGroup>

const byName = <T>(make: (name: GroupName) => T) =>
  Object.fromEntries(groupNames.map((name) => [name, make(name)])) as Record<GroupName, T>

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

const rowView = ({ line, amount, ...row }: StatementRow): StatementExample => ({
  line,
  ...row,
  amount: formatAmount(amount),
})

const amountOf = ({ amount }: Movement): Pesewas => pesewas(Number(amount.replace('.', '')))

const isCompletedOn = (date: Day, { completed_at }: Movement): boolean =>
  completed_at?.startsWith(date) === true

export const isOfDay = (date: Day, { completed_at }: StatementRow) => completed_at.startsWith(date)

const isOfKind = (row: StatementRow, { kind }: Movement): boolean =>
  row.kind === 'outgoing' ? kind !== 'debit' : kind === row.kind

const differencesOf = (row: StatementRow, movement: Movement, date: Day): string[] => {
  const { kind, status, completed_at, bank_reference, reference } = movement
  const isKnown = row.bank_reference !== null && bank_reference !== null
  return [
    ...(isOfKind(row, movement) ? [] : [`it is a ${kind} here`]),
    ...(completed_at === null ? [`the ${kind} is ${status} here`] : []),
    ...(completed_at !== null && !isCompletedOn(date, movement)
      ? [`the ${kind} was completed here at ${completed_at}`]
      : []),
    ...(row.amount === amountOf(movement) ? [] : [`the amount is ${movement.amount} here`]),
    ...(row.currency === CURRENCY ? [] : [`the currency is ${CURRENCY} here`]),
    ...(isKnown && row.bank_reference !== bank_reference && row.bank_reference !== reference
      ? [`the bank_reference is ${bank_reference} here`]
      : []),
  ]
}

/** A movement, and the line that names it; 0: none yet. */
type Found = { movement: Movement; line: number }

const addTo = (index: Map<string, Found | Found[]>, reference: string, found: Found): void => {
  const named = index.get(reference)
  if (!named) index.set(reference, found)
  else if (Array.isArray(named)) named.push(found)
  else index.set(reference, [named, found])
}

/** Returns a search for the movement of a row: by uuid if present, else by a reference. */
const newSearch = () => {
  const byUuid = new Map<string, Found>()
  const byBank = new Map<string, Found | Found[]>()
  /** Filled when a row has a reference that no bank gave. */
  let byReference: Map<string, Found | Found[]> | undefined
  const namedBy = (reference: string): Found[] => {
    const named = byBank.get(reference)
    if (named) return [named].flat()
    if (!byReference) {
      byReference = new Map()
      for (const found of byUuid.values()) addTo(byReference, found.movement.reference, found)
    }
    return [byReference.get(reference) ?? []].flat()
  }
  return {
    byUuid: byUuid as ReadonlyMap<string, Found>,
    add: (movement: Movement): void => {
      const { uuid, bank_reference, reference } = movement
      if (byUuid.has(uuid)) return
      const found = { movement, line: 0 }
      byUuid.set(uuid, found)
      if (bank_reference !== null) addTo(byBank, bank_reference, found)
      if (byReference) addTo(byReference, reference, found)
    },
    find: (row: StatementRow): Found | undefined => {
      if (row.uuid !== null) return byUuid.get(row.uuid)
      const named = namedBy(row.bank_reference ?? '').filter(({ movement }) =>
        isOfKind(row, movement),
      )
      const free = named.filter(({ line }) => line === 0)
      return free.find(({ movement }) => amountOf(movement) === row.amount) ?? free[0] ?? named[0]
    },
  }
}

/** Compares rows one by one, so that a statement of any size fits into memory. */
export const newComparison = (date: Day) => {
  const groups = byName(newGroup)
  const search = newSearch()
  return {
    knows: (uuid: string): boolean => search.byUuid.has(uuid),
    /** Adds a movement of the bank that was completed on the day, or that a later row names. */
    add: search.add,
    addRow: (row: StatementRow): void => {
      const found = search.find(row)
      if (!found) {
        groups.missing_here.add(row.amount, () => rowView(row))
        return
      }
      const { movement, line } = found
      const { kind, reference } = movement
      const reasons =
        line === 0 ? differencesOf(row, movement, date) : [`line ${line} names the same ${kind}`]
      if (line === 0) found.line = row.line
      const example = () => ({ ...rowView(row), reference })
      if (reasons.length === 0) groups.matched.add(row.amount, example)
      else groups.differs.add(row.amount, () => ({ ...example(), reason: reasons.join('; ') }))
    },
    /**
     * Returns the report after the last row.
     * @param covers the kinds that the statement has
     */
    end: (covers: readonly MovementKind[] = movementKinds): StatementReport => {
      for (const { movement, line } of search.byUuid.values()) {
        const isExpected = covers.includes(movement.kind) && isCompletedOn(date, movement)
        if (!isExpected || line > 0) continue
        groups.missing_at_bank.add(amountOf(movement), () => ({ ...movement }))
      }
      return byName((name) => groups[name].view())
    },
  }
}
