import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { Facts } from '../../../shared/domain/debits/debit.ts'
import { entriesOf, isUnended, type RawDebit } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { DAY_MS, HOUR_MS } from './time-and-money.ts'

/** What an erasure removes, and what stays. */

/** Whether a fact of a debit stays after an erasure. */
const STAYS: Readonly<Record<Exclude<keyof Facts, 'uuid'>, boolean>> = {
  ...{ reference: true, provider: true, providerName: true, partnerReference: true, bank: true },
  ...{ amount: true, countedOn: true, phone: false, narration: false, metadata: false },
}
const factsThat = (stay: boolean): string[] =>
  Object.entries(STAYS).flatMap(([name, stays]) => (stays === stay ? name : []))

/** The items with money, and their figures, which work after an erasure does not change. */
const FIGURES: Readonly<Record<string, readonly string[]>> = {
  debit: [...factsThat(true), 'settledIn', 'adjustedIn'],
  batch: ['totals'],
  lines: ['debits', 'adjustments'],
  refund: ['amount', 'uuid', 'origin'],
  exception: ['amount', 'kind'],
  ledger: ['balances'],
  'ledger-page': ['balances'],
}

/** What callers, banks, receivers and operators wrote about a debit. */
const TEXTS =
  /"(?:accountNumber|customerName|details|failure|note|reason|report|responseBody)":"(?:\\.|[^"\\])+/g
/** The outcome of a bank's report stays, and the reason of the service why it did not send a refund. */
const KEPT = [
  /^"report":"\{\\"status\\":\\"\w+\\"(?:,\\"bank_reference\\":\\"[^"]+\\")?\}$/,
  /^"failure":"the bank (?:has made|is processing) a refund that it rejected$/,
  /^"failure":"the bank (?:reported a failure of the debit|does not support refunds)$/,
]

type Move = { type: unknown; at: unknown; set?: { fee?: unknown; bankReference?: unknown } }

const figuresOf = (item: Item | undefined): string =>
  JSON.stringify(FIGURES[String(item?.entity)]?.map((name) => item?.[name]))

const movesOf = (item: Item | undefined): string[] =>
  ((item?.history as Move[] | undefined) ?? []).map(({ type, at, set }) =>
    JSON.stringify([type, at, set?.fee, set?.bankReference]),
  )

/** Operators may reverse an erased debit. */
const hasFigures = (item: Item, later: Item | undefined): boolean => {
  const moves = movesOf(later)
  return (
    figuresOf(item) === figuresOf(later) &&
    movesOf(item).every((move, index) => move === moves[index])
  )
}

const changedAt = (debit: RawDebit): number => entriesOf(debit).at(-1)?.writtenAt ?? 0

const keyOf = ({ pk, sk }: Item): string => `${pk} ${sk}`

/** Uploaded rows that no request names stay for two days. */
const isUnused = ({ entity, pk }: Item, items: readonly Item[]): boolean => {
  const bulk = String(pk).split('#')[1] ?? ''
  const names = (item: Item) => item.entity === 'approval' && JSON.stringify(item).includes(bulk)
  return entity === 'bulk-rows' && !items.some(names)
}

/** After an erasure (docs/compliance.md#personal-data), no item has the number of a customer, and no debit its texts. */
const erasuresKeepFigures: Check = ({ observations: { erasures } }, report) => {
  for (const { at, afterDays, phones, before, after } of erasures) {
    const dueSince = at - afterDays * DAY_MS - HOUR_MS
    const isYoung = (item: Item): boolean =>
      afterDays > 0 && item.entity === 'debit' && changedAt(item as RawDebit) > dueSince
    // An operator can refund a debit between the request and its erasure, which then waits.
    const young = new Set(
      after.filter((item) => isYoung(item) || isUnended(item)).map(({ pk }) => pk),
    )
    const isKept = ({ pk, expiresAt = at }: Item): boolean =>
      young.has(pk) || Number(expiresAt) * 1000 < at
    for (const item of after.filter((item) => !isKept(item))) {
      const text = JSON.stringify(item)
      // Accounts have the number without its plus.
      if (phones.some((phone) => text.includes(phone.slice(1))) && !isUnused(item, after))
        report(keyOf(item), 'has the number of an erased customer')
    }
    const left = new Map(after.map((item) => [keyOf(item), item]))
    for (const item of before.filter(({ entity }) => String(entity) in FIGURES))
      if (!hasFigures(item, left.get(keyOf(item)))) report(keyOf(item), 'has other figures')
    const erased = before.filter(
      ({ phone, pk }) => phones.includes(String(phone)) && !young.has(pk),
    )
    const ofErased = Map.groupBy(after, ({ pk }) => pk)
    const earlier = new Map(before.map((item) => [keyOf(item), item]))
    for (const item of erased.flatMap(({ pk }) => ofErased.get(pk) ?? [])) {
      const facts = item.entity === 'debit' ? factsThat(false) : []
      const kept = facts.filter((name) => item[name] !== undefined)
      // A reversal of an erased debit has new ones.
      const had = JSON.stringify(earlier.get(keyOf(item)))
      const texts =
        JSON.stringify(item)
          .match(TEXTS)
          ?.filter((text) => had?.includes(text) && !KEPT.some((kept) => kept.test(text))) ?? []
      if (kept.length + texts.length > 0)
        report(keyOf(item), `has the ${[...kept, ...texts]} of an erased customer`)
    }
  }
}

/** Only open work keeps a customer from being erased. */
const onlyOpenWorkWaits: Check = ({ observations: { erasures } }, report) => {
  const [{ refused, before, after } = { refused: [], before: [], after: [] }] = erasures
  // Operators may reverse a debit before the request, and leave a request undecided.
  const items = [...before, ...after]
  const unended = new Set(items.filter(isUnended).map(({ pk }) => pk))
  const isRequested = items.some(
    ({ entity, noun, doneAt }) => entity === 'approval' && noun === 'customer' && !doneAt,
  )
  for (const phone of isRequested ? [] : refused) {
    const isOpen = items.some((item) => item.phone === phone && unended.has(item.pk))
    if (!isOpen) report(phone, 'was not erased, but has no open work')
  }
}

export const checks: Checks = { 71: [erasuresKeepFigures, onlyOpenWorkWaits] }
