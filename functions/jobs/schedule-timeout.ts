import { deadline, type Phase } from '../../shared/domain/debits/debit.ts'
import { clocks } from '../../shared/domain/debits/timeouts.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { expiry } from '../../shared/queues/outbox.ts'
import { scheduleExpiry } from '../../shared/queues/schedule.ts'
import { send } from '../../shared/queues/send.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'

const PHASES: readonly Phase[] = ['approval', 'processing']

/** Schedules the timeouts of a debit that is still open (docs/api.md#timeouts). */
export const scheduleTimeout = (runtime: Pick<Runtime, 'now'>) =>
  consumer('timeouts', async ({ reference }) => {
    const debit = await findDebit(reference)
    if (!debit) return
    await Promise.all(
      PHASES.map(async (phase) => {
        const at = deadline(debit, phase, clocks(environment.timeScale))
        if (!at) return
        // EventBridge Scheduler rejects a time in the past.
        if (at <= runtime.now()) {
          await send(expiry({ reference, phase }))
          return
        }
        await scheduleExpiry(`${debit.facts.uuid}-${phase}`, at, { reference, phase })
      }),
    )
  })

export const handler = scheduleTimeout(real)
