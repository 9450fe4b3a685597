import * as v from 'valibot'
import { Uuid } from '../ids.ts'
import { CURRENCY, formatAmount, type Pesewas, pesewas } from '../money.ts'
import type { Day } from '../time.ts'

/** Compares a bank's statement of a day with its debits (docs/api.md#bank-statements). */

export type StatementDebit = {
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

export type BankDebitsPage = { debits: StatementDebit[]; next: BankDebitsCursor | null }

const Amount = v.pipe(
  v.string(),
  v.regex(/^(?:0|[1-9][0-9]{0,9})\.[0-9]{2}$/, 'amount must be like 100.00'),
  v.transform((text) => pesewas(Number(text.replace('.', '')))),
)

const TIME =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/

/** Parses a time. Without an offset it is UTC, the time of Ghana. */
const instant = (text: string): number => {
  const [day = '', time = '00:00'] = text.split(/[T ]/)
  const zone = /(?:Z|[+-]\d{2}:\d{2})$/.test(time) ? '' : 'Z'
  const isInCalendar = new Date(`${day}T00:00Z`).toISOString().startsWith(day)
  return isInCalendar ? Date.parse(`${day}T${time}${zone}`) : Number.NaN
}

const isInstant = (text: string): boolean => {
  try {
    return !Number.isNaN(instant(text))
  } catch {
    return false
  }
}

const optional = <S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.union([
    v.pipe(
      v.literal(''),
      v.transform(() => null),
    ),
    schema,
  ])

/** The columns of a statement. At least one of `uuid` and `bank_reference` is required. */
export const StatementRow = v.pipe(
  v.object({
    uuid: optional(v.pipe(v.string(), v.toLowerCase(), Uuid)),
    bank_reference: optional(v.pipe(v.string(), v.maxLength(255))),
    amount: Amount,
    currency: v.pipe(
      v.string(),
      v.toUpperCase(),
      v.regex(/^[A-Z]{3}$/, 'currency must be like GHS'),
    ),
    completed_at: v.pipe(
      v.string(),
      v.regex(TIME, 'completed_at must be like 2026-11-21T10:01:00Z'),
      v.check(isInstant, 'completed_at must be a time of the calendar'),
      v.transform((text) => new Date(instant(text)).toISOString()),
    ),
  }),
  v.check(
    ({ uuid, bank_reference }) => uuid !== null || bank_reference !== null,
    'a uuid or a bank_reference is required',
  ),
)
export type StatementRow = v.InferOutput<typeof StatementRow> & { line: number }

/** A row of the statement with its debit, or a debit that has no row. */
export type StatementExample = Partial<Omit<StatementDebit, 'uuid'>> & {
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

const amountOf = ({ amount }: StatementDebit): Pesewas => v.parse(Amount, amount)

const isCompletedOn = (date: Day, { completed_at }: StatementDebit): boolean =>
  completed_at?.startsWith(date) === true

export const isOfDay = (date: Day, { completed_at }: StatementRow) => completed_at.startsWith(date)

const differencesOf = (row: StatementRow, debit: StatementDebit, date: Day): string[] => {
  const { status, completed_at, bank_reference } = debit
  const isKnown = row.bank_reference !== null && bank_reference !== null
  return [
    ...(completed_at === null ? [`the debit is ${status} here`] : []),
    ...(completed_at !== null && !isCompletedOn(date, debit)
      ? [`the debit was completed here at ${completed_at}`]
      : []),
    ...(row.amount === amountOf(debit) ? [] : [`the amount is ${debit.amount} here`]),
    ...(row.currency === CURRENCY ? [] : [`the currency is ${CURRENCY} here`]),
    ...(isKnown && row.bank_reference !== bank_reference
      ? [`the bank_reference is ${bank_reference} here`]
      : []),
  ]
}

/** Returns a search for the debit of a row: by uuid if present, else by the bank's reference. */
const newSearch = () => {
  const byUuid = new Map<string, StatementDebit>()
  const byBank = new Map<string | null, StatementDebit[]>()
  return {
    byUuid: byUuid as ReadonlyMap<string, StatementDebit>,
    add: (debit: StatementDebit): void => {
      if (byUuid.has(debit.uuid)) return
      byUuid.set(debit.uuid, debit)
      const named = byBank.get(debit.bank_reference)
      if (named) named.push(debit)
      else byBank.set(debit.bank_reference, [debit])
    },
    find: (row: StatementRow, isTaken: (debit: StatementDebit) => boolean) => {
      if (row.uuid !== null) return byUuid.get(row.uuid)
      const named = byBank.get(row.bank_reference) ?? []
      const free = named.filter((debit) => !isTaken(debit))
      return free.find((debit) => amountOf(debit) === row.amount) ?? free[0] ?? named[0]
    },
  }
}

/** Compares rows one by one, so that a statement of any size fits into memory. */
export const newComparison = (date: Day) => {
  const groups = byName(newGroup)
  const lines = new Map<string, number>()
  const search = newSearch()
  return {
    knows: (uuid: string): boolean => search.byUuid.has(uuid),
    /** Adds a debit of the bank that was completed on the day, or that a later row names. */
    addDebit: search.add,
    addRow: (row: StatementRow): void => {
      const debit = search.find(row, ({ uuid }) => lines.has(uuid))
      if (!debit) {
        groups.missing_here.add(row.amount, () => rowView(row))
        return
      }
      const { reference, uuid } = debit
      const first = lines.get(uuid)
      const reasons =
        first === undefined
          ? differencesOf(row, debit, date)
          : [`line ${first} names the same debit`]
      if (first === undefined) lines.set(uuid, row.line)
      const example = () => ({ ...rowView(row), reference })
      if (reasons.length === 0) groups.matched.add(row.amount, example)
      else groups.differs.add(row.amount, () => ({ ...example(), reason: reasons.join('; ') }))
    },
    /** Returns the report after the last row. */
    end: (): StatementReport => {
      for (const debit of search.byUuid.values()) {
        if (!isCompletedOn(date, debit) || lines.has(debit.uuid)) continue
        groups.missing_at_bank.add(amountOf(debit), () => ({ ...debit }))
      }
      return byName((name) => groups[name].view())
    },
  }
}
