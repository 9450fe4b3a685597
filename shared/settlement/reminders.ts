import { type Day, startOf } from '../domain/time.ts'
import type { Figures } from '../metrics.ts'
import { countOpenExceptions } from '../store/debits/exceptions.ts'
import { listFailed, listPayable } from '../store/settlement/batches.ts'

/** Returns the work that waits for an operator, for alarms that ring each night until it is done. */
export const countReminders = async (today: Day): Promise<Figures> => {
  const until = new Date(startOf(today).getTime() - 1)
  const [exceptions, payable, failed] = await Promise.all([
    countOpenExceptions(),
    listPayable(until),
    listFailed(until),
  ])
  return { OpenExceptions: exceptions, OverduePayouts: payable.length + failed.length }
}
