import type { Check } from './observation-index.ts'
import { inGhs } from './time-and-money.ts'

/** 30: amounts are published with two decimals. */

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
