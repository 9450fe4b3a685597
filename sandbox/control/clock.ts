import * as v from 'valibot'
import type { ClockState } from '../../console/server/backend.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { DAY_MS, Duration, Instant } from '../../shared/domain/time.ts'
import { parseInput } from '../../shared/domain/validation.ts'
import type { Control } from './control.ts'

/** GET and POST /sandbox/clock (docs/sandbox.md#clock). */

/** A year of sweeps takes about a minute. */
const MOVE_MAX_DAYS = 366

const commandSchema = v.pipe(
  v.strictObject({
    advance: v.optional(Duration),
    to: v.optional(Instant),
    freeze: v.optional(v.boolean()),
  }),
  v.check((command) => Object.keys(command).length === 1, 'must have one of advance, to, freeze'),
)

/** Returns the state at the end of a turn. */
export const stateOf = ({ clock }: Control): ClockState => ({
  now: clock.now().toISOString(),
  frozen: clock.isFrozen(),
  ready: clock.isIdle(),
})

export const showClock = (control: Control): ClockState => {
  const state = stateOf(control)
  return { ...state, ready: state.ready && !control.isBusy() }
}

/** A move replies when the service is idle. Moving back is 422/1007. */
export const moveClock = async (control: Control, body: unknown) => {
  const { clock } = control
  if (!clock.isMovable) {
    return new Refusal(1409, { details: ['functions run in other processes'] })
  }
  const command = parseInput(commandSchema, body ?? {})
  if (command instanceof Refusal) return command
  const { advance = 0, to, freeze } = command
  const ahead = to ? to.getTime() - clock.now().getTime() : advance
  const field = to ? 'to' : 'advance'
  if (ahead < 0) return invalid({ [field]: ['must not be before the time of the clock'] })
  if (ahead > MOVE_MAX_DAYS * DAY_MS) {
    return invalid({ [field]: [`must be at most ${MOVE_MAX_DAYS} days ahead`] })
  }
  if (freeze !== undefined) clock.freeze(freeze)
  else if (to) await clock.moveTo(to)
  else await clock.advance(advance)
  return stateOf(control)
}
