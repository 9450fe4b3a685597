import { deadline } from '../../shared/domain/debits/debit.ts'
import { clocks } from '../../shared/domain/debits/timeouts.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { expire, recoverOutcome } from '../../shared/submissions/expire.ts'

/** Fails a debit when a timeout fires and still applies (docs/api.md#timeouts). */
export const expireDebit = (runtime: Runtime) =>
  consumer('expiries', async ({ reference, phase }, messageId, { repeated }) => {
    const debit = await findDebit(reference)
    if (!debit) return
    const at = runtime.now()
    const due = deadline(debit, phase, clocks(environment.timeScale))
    const cause = { at, by: 'job:expire-debit', requestId: messageId }
    if (!due) {
      if (repeated) await recoverOutcome(debit, cause, runtime)
      return
    }
    if (due > at) throw new Error(`The ${phase} timeout of ${reference} is not due`)
    await expire(debit, phase, cause, runtime)
  })

export const handler = expireDebit(real)
