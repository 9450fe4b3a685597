import { showClock } from './clock.ts'
import type { Control } from './control.ts'

/** POST /sandbox/reset: deletes everything, and restores the seeds and the time of this machine. */
export const reset = async (control: Control) => {
  await control.reset()
  return showClock(control)
}
