import TinyQueue from 'tinyqueue'

/** The time by which the services run. Instants are milliseconds since 1970. */
export type Clock = {
  now: () => number
  /** Acts at an instant, or at once if it has passed. */
  at: (when: number, act: () => unknown) => Timer
  after: (milliseconds: number, act: () => unknown) => Timer
}

export type Timer = {
  readonly at: number
  readonly order: number
  /** Returns false if it had no effect. */
  act: (() => unknown) | undefined
}

export const cancel = (timer: Timer): void => {
  timer.act = undefined
}

/** The timers of a clock, the earliest first; those of one instant in their order of creation. */
const newTimers = () => {
  const timers = new TinyQueue<Timer>(
    [],
    (one, other) => one.at - other.at || one.order - other.order,
  )
  let order = 0
  return {
    add: (at: number, act: () => unknown): Timer => {
      order += 1
      const timer = { at, order, act }
      timers.push(timer)
      return timer
    },
    /** Returns the next timer that is not cancelled. */
    first: (): Timer | undefined => {
      for (;;) {
        const next = timers.peek()
        if (!next || next.act) return next
        timers.pop()
      }
    },
    removeFirst: (): void => {
      timers.pop()
    },
  }
}

export type SteppedClock = ReturnType<typeof newSteppedClock>

/** A clock that jumps from one timer to the next. */
export const newSteppedClock = (startAt: number) => {
  const timers = newTimers()
  let now = startAt
  const at: Clock['at'] = (when, act) => timers.add(Math.max(when, now), act)
  return {
    now: (): number => now,
    at,
    after: (milliseconds: number, act: () => unknown): Timer => at(now + milliseconds, act),
    /** Runs the next timer. @returns false if none is due by that time */
    step: (until: number): boolean => {
      for (;;) {
        const next = timers.first()
        if (!next || next.at > until) {
          now = Math.max(now, until)
          return false
        }
        timers.removeFirst()
        now = next.at
        if (next.act?.() !== false) return true
      }
    },
  }
}

/** Node fires longer timeouts at once. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1

/** The clock of this machine; it acts until it is stopped. */
export const startRealClock = (): Clock & { stop: () => void } => {
  const timers = newTimers()
  // Kept, so that a test that replaces Date does not move this clock.
  const { now } = Date
  let wake: { at: number; timeout: NodeJS.Timeout } | undefined
  let isStopped = false

  const run = (): void => {
    wake = undefined
    for (let next = timers.first(); next && next.at <= now(); next = timers.first()) {
      timers.removeFirst()
      next.act?.()
      if (isStopped) return
    }
    schedule()
  }

  const schedule = (): void => {
    const next = timers.first()
    if (!next || isStopped || (wake && wake.at <= next.at)) return
    clearTimeout(wake?.timeout)
    const delay = Math.min(Math.max(next.at - now(), 0), TIMEOUT_MAX_MS)
    wake = { at: next.at, timeout: setTimeout(run, delay) }
  }

  const at: Clock['at'] = (when, act) => {
    const timer = timers.add(when, act)
    schedule()
    return timer
  }

  return {
    now,
    at,
    after: (milliseconds, act) => at(now() + milliseconds, act),
    stop: () => {
      isStopped = true
      clearTimeout(wake?.timeout)
    },
  }
}
