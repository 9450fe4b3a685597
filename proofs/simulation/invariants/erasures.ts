import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { Check } from './observation-index.ts'

/** 71: the erasure of customers (docs/compliance.md#personal-data). */

/** The items with money, and their figures, which later work does not change. */
const FIGURES: Readonly<Record<string, readonly string[]>> = {
  debit: ['amount', 'settledIn', 'adjustedIn', 'provider', 'partnerReference', 'countedOn'],
  batch: ['totals'],
  lines: ['debits', 'adjustments'],
  refund: ['amount', 'uuid', 'origin'],
  exception: ['amount', 'kind'],
  ledger: ['balances'],
  'ledger-page': ['balances'],
}

type Move = { type: unknown; at: unknown; set?: { fee?: unknown; bankReference?: unknown } }

const figuresOf = (item: Item | undefined): string => {
  const figures = FIGURES[String(item?.entity)]?.map((name) => item?.[name])
  const moves = (item?.history as Move[] | undefined)?.map(({ type, at, set }) => {
    return [type, at, set?.fee, set?.bankReference]
  })
  return JSON.stringify([figures, moves])
}

/** 71: no item has the number of an erased customer, and each figure stays. */
export const erasuresKeepFigures: Check = ({ observations: { erasures } }, report) => {
  for (const { at, phones, before, after } of erasures) {
    // Accounts have the number without its plus.
    const numbers = phones.map((phone) => phone.slice(1))
    const current = after.filter(({ expiresAt = at }) => Number(expiresAt) * 1000 >= at)
    for (const item of current) {
      const text = JSON.stringify(item)
      if (numbers.some((number) => text.includes(number)))
        report(`${item.pk} ${item.sk}`, 'has the number of an erased customer')
    }
    const left = new Map(after.map((item) => [`${item.pk} ${item.sk}`, item]))
    for (const item of before.filter(({ entity }) => String(entity) in FIGURES)) {
      const key = `${item.pk} ${item.sk}`
      if (figuresOf(item) !== figuresOf(left.get(key))) report(key, 'has other figures')
    }
  }
}
