import { Refusal } from '../../shared/domain/refusal.ts'
import { showClock } from './clock.ts'
import type { Control } from './control.ts'

/** POST /sandbox/reset: deletes everything, and restores the seeds and the time of this machine. */
export const reset = async (control: Control) => {
  if (!control.reset) return new Refusal(1409, { details: ['other processes hold the state'] })
  await control.reset()
  return showClock(control)
}
