import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { Check } from './observation-index.ts'
import { kindOf } from './raw-items.ts'
import { linesIn } from './raw-lines.ts'
import { inGhs } from './time-and-money.ts'

/** 30: amounts are stored as whole pesewas and published with two decimals. */

const STORED = 'amount amountTotal gross fee net adjustments paid outstanding'.split(' ')

type Parts = {
  totals?: Record<string, unknown> | null
  offsets?: readonly Record<string, unknown>[]
  history?: readonly { set?: Record<string, unknown> }[]
}

/** Yields an item and its nested objects with amounts. */
function* partsOf(item: Item): Generator<Record<string, unknown>> {
  if (kindOf(item) === 'lines') return yield* linesIn(item)
  yield item
  const { totals, offsets = [], history = [] } = item as Parts
  if (totals) yield totals
  yield* offsets
  for (const { set } of history) if (set) yield set
}

export const storedAmountsAreWhole: Check = ({ observations }, report) => {
  for (const item of observations.items) {
    if (kindOf(item) === 'another') continue
    for (const part of partsOf(item)) {
      for (const name of STORED) {
        const amount = part[name] ?? 0
        if (!Number.isSafeInteger(amount)) report(item.pk, `${name} is ${amount}`)
      }
    }
  }
}

/** A published amount: text, a number, or null if unknown. */
const PUBLISHED = /(?<!\\)"(?:amount|fee|gross|net|adjustments|paid|total_amount)":([^,}\]]*)/g
const DECIMAL = /^(?:null|"-?(?:0|[1-9][0-9]*)\.[0-9]{2}"|-?(?:0|[1-9][0-9]*)\.[0-9]{2})$/

const badIn = (text: string): string | undefined => {
  for (const [, amount = ''] of text.matchAll(PUBLISHED)) if (!DECIMAL.test(amount)) return amount
  return undefined
}

/** Checks the exact bytes of posts before the metadata, which belongs to the provider. */
export const publishedAmountsAreExact: Check = ({ posts, debits, observations }, report) => {
  const judged = new Set<string>()
  for (const { post, about, reference } of posts) {
    if (judged.has(post.raw)) continue
    judged.add(post.raw)
    const own = post.raw.split('"previous_status":')[0] ?? ''
    const bad = badIn(own)
    if (bad !== undefined) report(reference, `has the amount ${bad}`)
    const debit = about === 'transaction' && debits.get(reference)
    if (debit && !own.includes(`"amount":${inGhs(debit.item.amount)},`)) {
      report(reference, `was published without the amount ${inGhs(debit.item.amount)}`)
    }
  }
  for (const { name, reply } of observations.calls) {
    if (!reply || reply.status >= 300) continue
    const bad = badIn(reply.raw ?? '')
    if (bad !== undefined) report(name, `has the amount ${bad}`)
  }
}
