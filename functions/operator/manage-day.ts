import type { OpenMatter } from '../../shared/domain/operator/day-closing.ts'
import type { Day } from '../../shared/domain/time.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { day, type ReconciledDifferences } from '../../shared/operator/nouns/day.ts'
import { closeDay } from '../../shared/reconciliation/close-day.ts'
import { real } from '../../shared/runtime.ts'
import { refusalOfDay } from '../../shared/store/retention.ts'
import { dayPage, dayView } from '../../shared/views/operator/day.ts'

/** Without a result of the reconciliation, the day is open. */
const reconciliationMatters = (date: Day, found: ReconciledDifferences | undefined) => {
  const command = `operator reconcile --date ${date}`
  const check = 'reconciliation'
  if (!found)
    return [{ check, subject: date, reason: 'the day is not reconciled', command }] as const
  return found.map(
    ({ number, title, differences, example }): OpenMatter => ({
      check,
      subject: `invariant ${number}`,
      reason: `${title}: ${differences} differences${example ? `, such as ${example}` : ''}`,
      command,
    }),
  )
}

export const manageDay = operatorHandler(day, {
  close: async ({ date, format, reconciled }, { at }) => {
    const expired = refusalOfDay('date', date, at)
    if (expired) return expired
    const closing = await closeDay(date, at)
    const open = [...reconciliationMatters(date, reconciled), ...closing.open]
    return format === 'html' ? dayPage({ ...closing, open }) : dayView({ ...closing, open })
  },
})

export const handler = manageDay(real)
