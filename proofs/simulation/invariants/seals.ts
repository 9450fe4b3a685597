import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { Check, Checks } from './rules.ts'
import { MINUTE_MS } from './time-and-money.ts'

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

/** The times of an object that the audit seals, by the ids of their records. */
const RECORDS: Record<string, { file: string; of: (item: Item) => Record<string, unknown> }> = {
  change: { file: 'changes', of: ({ sk, at }) => ({ [sk]: at }) },
  approval: {
    file: 'approvals',
    of: ({ id, requestedAt, decidedAt, doneAt }) => ({
      [`${id}#requested`]: requestedAt,
      [`${id}#decided`]: decidedAt,
      [`${id}#done`]: doneAt,
    }),
  },
  funding: {
    file: 'fundings',
    of: ({ bank, reference, recordedAt }) => ({ [`${bank}#${reference}`]: recordedAt }),
  },
}

/** The longest run of the function that seals a day. */
const SEALING_MS = 15 * MINUTE_MS

/** A sealed day has each record of its day that was written before, and the result of its own reconciliation. */
const sealedDaysAreWhole: Check = ({ observations, setup, runs }, report) => {
  const files = new Map(observations.reports.map((file) => [file.key, file]))
  for (const { after, at } of setup.isRestored ? [] : observations.changes) {
    const row = after && RECORDS[String(after.entity)]
    for (const [id, time] of row ? Object.entries(row.of(after)) : []) {
      const key = `${String(time).slice(0, 10)}/${row?.file}.ndjson`
      const sealed = files.get(key)
      if (sealed && at < sealed.at - SEALING_MS && !sealed.text.includes(JSON.stringify(id)))
        report(id, `is not in ${key}`)
    }
  }
  for (const [key, { text }] of files) {
    const { day, reconciliation } = /^[\d-]+\.json$/.test(key) ? JSON.parse(text) : {}
    const startedAt = runs.find(({ item }) => item.id === day)?.item.startedAt
    if (reconciliation && reconciliation.checked_at !== startedAt)
      report(key, `has the result of ${reconciliation.checked_at}`)
  }
}

export const checks: Checks = { 70: [sealedDaysVerify, sealedDaysAreWhole] }
