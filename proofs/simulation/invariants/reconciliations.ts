import type { Options } from '../engine/observations.ts'
import type { Check } from './observation-index.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, startOf } from './time-and-money.ts'

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
/** The reconciliation compares times of two clocks, with a tolerance of a minute. */
const FAR_CLOCKS = /, but was reversed before$/

/** The sweep needs this long to repair what faults left. */
const REPAIR_MS = 6 * HOUR_MS

type Setup = { isHealthy: boolean; skew: number; startedAt: number; healedAt: number }

const correctSince = ({ isHealthy, startedAt, healedAt }: Setup): number =>
  isHealthy ? startedAt : Math.ceil((healedAt + REPAIR_MS) / DAY_MS) * DAY_MS

const isDifference = (difference: string, { isHealthy, skew }: Setup): boolean =>
  !EXPECTED.some((pattern) => pattern.test(difference)) &&
  (isHealthy || !AFTER_FAULTS.test(difference)) &&
  (2 * skew < MINUTE_MS || !FAR_CLOCKS.test(difference))

/** 47: a reconciliation by an operator reports nothing but what operators must do. */
export const reconciliationsFindNothing: Check = ({ observations, operatorCalls }, report) => {
  const { setup } = observations
  const since = correctSince(setup)
  for (const { noun, verb, call, result, options } of operatorCalls) {
    if (noun !== 'reconciliation' || verb !== 'run' || !call.reply || call.at < since) continue
    if (!Array.isArray(result.invariants)) {
      report('reconciliation', `ended with ${JSON.stringify(call.reply.body)}`)
      continue
    }
    for (const { number, examples } of result.invariants as Finding[]) {
      for (const { subject, difference } of examples) {
        if (isDifference(difference, setup))
          report(subject, `${difference} (reconciliation of ${options.date}, invariant ${number})`)
      }
    }
  }
}

/** The debits of a statement were charged on its day or the three days before. */
const STATEMENT_MS = 3 * DAY_MS

/** 47: a bank's statement is compared with all of its debits. */
export const statementsAreWhole: Check = ({ observations, operatorCalls, debits }, report) => {
  const since = correctSince(observations.setup)
  const calls = operatorCalls.filter(
    ({ verb, call, result }) => verb === 'statement' && call.at >= since && result.debits,
  )
  for (const pages of Map.groupBy(calls, ({ options }) => options.bank).values()) {
    const { bank = '', date = '' }: Options = pages[0]?.options ?? {}
    if (!pages.some(({ result }) => result.next === null)) continue
    const read = new Set(
      pages.flatMap(({ result }) => (result.debits as { uuid: string }[]).map(({ uuid }) => uuid)),
    )
    for (const { item, uuid, createdAt } of debits.values()) {
      const isListed =
        createdAt >= startOf(date) - STATEMENT_MS && createdAt < startOf(date) + DAY_MS
      if (item.bank.identifier === bank && isListed && !read.has(uuid))
        report(item.reference, `is not compared with the statement of ${bank}`)
    }
  }
}

const RUN_MS = HOUR_MS / 2
/** The sweep requests lost parts every hour. */
const SWEEP_MS = HOUR_MS

/** 51: the nightly reconciliation ends, its parts are counted once, and they find as much. */
export const nightlyReconciliationsEnd: Check = ({ observations, runs }, report) => {
  const { setup } = observations
  const since = correctSince(setup)
  for (const { item, parts } of runs) {
    const { id, startedAt, openParts, endedAt } = item
    const begun = Date.parse(startedAt)
    const open = parts.filter(({ findings }) => findings === undefined).length
    if (openParts !== open) report(id, `counts ${openParts} open parts, but has ${open}`)
    const end = Math.max(begun, setup.healedAt + SWEEP_MS) + RUN_MS
    if (!endedAt && end < setup.endedAt) report(id, `has not ended, and has ${open} open parts`)
    if (begun < since) continue
    for (const { findings = '{"findings":[]}' } of parts) {
      for (const { number, examples } of JSON.parse(findings).findings as Finding[]) {
        for (const { subject, difference } of examples) {
          if (isDifference(difference, setup))
            report(subject, `${difference} (night of ${id}, invariant ${number})`)
        }
      }
    }
  }
}
