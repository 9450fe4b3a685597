import type { Check } from './observation-index.ts'
import { DAY_MS, HOUR_MS } from './time-and-money.ts'

/** 47: the nightly reconciliation of a correct world reports nothing but what operators must do. */

type Finding = { number: number; examples: readonly { subject: string; difference: string }[] }

/**
 * Correct worlds have these: an operator has yet to act, or lowered the limit of a past day, or faults
 * delayed a debit.
 */
const EXPECTED = [
  /^its payout failed and was not retried$/,
  /^has debits of .*, above its limit of /,
]
const AFTER_FAULTS = /^took [0-9]+ s$/

/** The sweep needs this long to repair what faults left. */
const REPAIR_MS = 6 * HOUR_MS

export const reconciliationsFindNothing: Check = ({ observations, operatorCalls }, report) => {
  const { isHealthy, startedAt, healedAt } = observations.setup
  const since = isHealthy ? startedAt : Math.ceil((healedAt + REPAIR_MS) / DAY_MS) * DAY_MS
  for (const { noun, call, result, options } of operatorCalls) {
    if (noun !== 'reconciliation' || !call.reply || call.at < since) continue
    if (!Array.isArray(result.invariants)) {
      report('reconciliation', `ended with ${JSON.stringify(call.reply.body)}`)
      continue
    }
    for (const { number, examples } of result.invariants as Finding[]) {
      for (const { subject, difference } of examples) {
        const isExpected = EXPECTED.some((pattern) => pattern.test(difference))
        if (isExpected || (!isHealthy && AFTER_FAULTS.test(difference))) continue
        report(subject, `${difference} (reconciliation of ${options.date}, invariant ${number})`)
      }
    }
  }
}
