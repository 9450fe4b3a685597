import type { Check } from './observation-index.ts'

type Verdict = { day: string; result: string }

/** The day of the verification, and the one that its night seals. */
const OPEN_DAYS = 2

/** 70: the verification at the end of a run finds each sealed day as it was sealed. */
export const sealedDaysVerify: Check = ({ observations, operatorCalls }, report) => {
  for (const { noun, verb, call, result } of operatorCalls) {
    if (noun !== 'change' || verb !== 'verify' || !call.reply) continue
    if (!Array.isArray(result)) {
      report('sealed days', `ended with ${JSON.stringify(call.reply.body)}`)
      continue
    }
    const verdicts = result as Verdict[]
    for (const [index, { day, result: found }] of verdicts.entries()) {
      const mayBeOpen = !observations.setup.isHealthy || index >= verdicts.length - OPEN_DAYS
      if (found !== 'ok' && !(found === 'open' && mayBeOpen)) report(day, `is ${found}`)
    }
  }
}
