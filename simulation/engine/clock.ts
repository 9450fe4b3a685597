import TinyQueue from 'tinyqueue'

/** A simulated clock that jumps from one timer to the next. */

export type Timer = {
  readonly at: number
  readonly order: number
  /** Returns false if it had no effect. */
  act: (() => unknown) | undefined
}

export type Clock = ReturnType<typeof newClock>

export const newClock = (startAt: number) => {
  const timers = new TinyQueue<Timer>(
    [],
    (one, other) => one.at - other.at || one.order - other.order,
  )
  let now = startAt
  let order = 0
  const at = (when: number, act: () => unknown): Timer => {
    order += 1
    const timer = { at: Math.max(when, now), order, act }
    timers.push(timer)
    return timer
  }
  return {
    now: (): number => now,
    at,
    after: (milliseconds: number, act: () => unknown): Timer => at(now + milliseconds, act),
    /** Runs the next timer. @returns false if none is due by that time */
    step: (until: number): boolean => {
      for (;;) {
        const next = timers.peek()
        if (!next || next.at > until) {
          now = Math.max(now, until)
          return false
        }
        timers.pop()
        if (!next.act) continue
        now = next.at
        if (next.act() !== false) return true
      }
    },
  }
}

export const cancel = (timer: Timer): void => {
  timer.act = undefined
}
