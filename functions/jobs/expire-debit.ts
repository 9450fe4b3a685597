import { deadline, timeOut } from '../../shared/domain/debit.ts'
import { clocks } from '../../shared/domain/lifecycle.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits.ts'
import { moveDebit } from '../../shared/store/moves.ts'

/**
 * A clock ran out, says the message. The debit itself says whether it did: a timer may come
 * twice, late, or after the bank's report.
 */
export const expireDebit = (runtime: Runtime) =>
  consumer('expiries', async ({ reference, phase }, messageId) => {
    const debit = await findDebit(reference)
    if (!debit) return
    const at = runtime.now()
    await moveDebit(
      debit,
      (now) => {
        const due = deadline(now, phase, clocks(environment.timeScale))
        if (!due) return now
        if (due > at) throw new Error(`The ${phase} clock of ${reference} has not run out`)
        return timeOut(now, phase, { at, by: 'job:expire-debit', requestId: messageId })
      },
      runtime,
    )
  })

export const handler = expireDebit(real)
