import { deadline } from '../../shared/domain/debits/debit.ts'
import { clocks } from '../../shared/domain/debits/lifecycle.ts'
import { consumer } from '../../shared/queues/consume.ts'
import { scheduleExpiry } from '../../shared/queues/schedule.ts'
import { send } from '../../shared/queues/send.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'

/** Schedules a timeout of a debit, outside the request (docs/api.md#timeouts). */
export const scheduleTimeout = (runtime: Pick<Runtime, 'now'>) =>
  consumer('timeouts', async ({ reference, phase }) => {
    const debit = await findDebit(reference)
    const at = debit && deadline(debit, phase, clocks(environment.timeScale))
    if (!at) return
    // EventBridge Scheduler rejects a time in the past.
    if (at <= runtime.now()) {
      await send({ queue: 'expiries', message: { reference, phase }, group: reference })
      return
    }
    await scheduleExpiry(`${debit.facts.uuid}-${phase}`, at, { reference, phase })
  })

export const handler = scheduleTimeout(real)
