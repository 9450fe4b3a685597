import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { Observations } from '../engine/observations.ts'
import { balancesOf, postingsIn } from './ledger.ts'
import type { Check, Checks } from './rules.ts'
import { DAY_MS, MINUTE_MS, REPAIR_MS, startOf } from './time-and-money.ts'

/** The objects that seal the audit of a day. */

/** The day of the verification, and the one that its night seals. */
const OPEN_DAYS = 2

/** The verification at the end of a run finds each sealed day as it was sealed. */
const sealedDaysVerify: Check = ({ setup, operatorCalls }, report) => {
  for (const { noun, verb, call, result } of operatorCalls) {
    if (noun !== 'change' || verb !== 'verify' || !call.reply) continue
    if (!Array.isArray(result))
      report('sealed days', `ended with ${JSON.stringify(call.reply.body)}`)
    const verdicts: { day: string; result: string }[] = Array.isArray(result) ? result : []
    for (const [index, { day, result: found }] of verdicts.entries()) {
      const mayBeOpen = !setup.isHealthy || index >= verdicts.length - OPEN_DAYS
      if (found !== 'ok' && !(found === 'open' && mayBeOpen)) report(day, `is ${found}`)
    }
  }
}

/** The time and the texts of each record that the audit seals of an object, by its id. */
type Records = { file: string; of: (item: Item) => Record<string, readonly unknown[]> }
const RECORDS: Record<string, Records> = {
  change: {
    file: 'changes',
    of: ({ sk, at, by, approvedBy, target }) => ({ [sk]: [at, by, approvedBy, target] }),
  },
  approval: {
    file: 'approvals',
    of: ({ id, ...item }) => ({
      [`${id}#requested`]: [item.requestedAt, item.requestedBy, item.noun, item.verb, item.target],
      [`${id}#decided`]: [item.decidedAt, item.decidedBy, item.decision, item.reason],
      [`${id}#done`]: [item.doneAt, item.refusal],
    }),
  },
  funding: {
    file: 'fundings',
    of: ({ bank, reference, recordedAt, recordedBy, amount }) => ({
      [`${bank}#${reference}`]: [recordedAt, recordedBy, amount],
    }),
  },
}

/** The longest run of the function that seals a day. */
const SEALING_MS = 15 * MINUTE_MS

/** A seal takes dozens of calls. Where so many of its function have failed, the next night may be the first to seal. */
const HINDERED_MIN = 100

const isHindered = (span: { since: number; at: number }, { strikes }: Observations): boolean => {
  const struck = strikes.filter(
    ({ by, at }) => by === 'reconcile-part' && at > span.since && at < span.at,
  )
  return struck.length >= HINDERED_MIN
}

/** A sealed day has each record of its day that was written before, and the result of its own reconciliation. */
const sealedDaysAreWhole: Check = (index, report) => {
  const { observations, setup, runs } = index
  const postings = postingsIn(index)
  const files = new Map(observations.reports.map((file) => [file.key, file]))
  for (const { after, at } of setup.isRestored ? [] : observations.changes) {
    const row = after && RECORDS[String(after.entity)]
    for (const [id, texts] of row ? Object.entries(row.of(after)) : []) {
      const key = `${String(texts[0]).slice(0, 10)}/${row?.file}.ndjson`
      const sealed = files.get(key)
      if (!sealed || at >= sealed.at - SEALING_MS) continue
      const line = sealed.text.split('\n').find((one) => one.includes(`"id":${JSON.stringify(id)}`))
      const missing = texts.filter(
        (text) => text !== undefined && !line?.includes(JSON.stringify(text)),
      )
      if (missing.length > 0) report(id, `is not in ${key} with ${missing}`)
    }
  }
  for (const [key, { text, at }] of files) {
    const { day, reconciliation, balances } = /^[\d-]+\.json$/.test(key) ? JSON.parse(text) : {}
    const { startedAt, endedAt } = runs.find(({ item }) => item.id === day)?.item ?? {}
    if (reconciliation && reconciliation.checked_at !== startedAt)
      report(key, `has the result of ${reconciliation.checked_at}`)
    const since = Date.parse(endedAt ?? '')
    const isLate = reconciliation === null && since + REPAIR_MS < at
    if (isLate && !isHindered({ since, at }, observations))
      report(key, `lacks the result that its reconciliation had at ${endedAt}`)
    if (!balances || setup.isRestored) continue
    const due = balancesOf(postings, startOf(day) + DAY_MS)
    const other = Object.keys(balances).find((name) => balances[name] !== (due.get(name) ?? 0))
    if (other) report(key, `has the balance ${balances[other]} of ${other}, not ${due.get(other)}`)
  }
}

export const checks: Checks = { 70: [sealedDaysVerify, sealedDaysAreWhole] }
