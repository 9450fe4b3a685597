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
    /** Removes and returns the first timer. */
    take: (): Timer | undefined => timers.pop(),
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
        timers.take()
        now = next.at
        if (next.act?.() !== false) return true
      }
    },
  }
}

/** Node fires longer timeouts at once. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1

/** A timeout of Node for the earliest of several instants. */
const newWake = (act: () => void) => {
  let wake: { at: number; timeout: NodeJS.Timeout } | undefined
  return {
    /** Sets the timeout to an instant, unless it is set to an earlier one. */
    setAt: (at: number, now: number): void => {
      if (wake && wake.at <= at) return
      clearTimeout(wake?.timeout)
      const delay = Math.min(Math.max(at - now, 0), TIMEOUT_MAX_MS)
      wake = { at, timeout: setTimeout(act, delay) }
    },
    cancel: (): void => {
      clearTimeout(wake?.timeout)
      wake = undefined
    },
  }
}

/** The time of a clock by this machine's: some milliseconds ahead of it, or frozen at an instant. */
export type ClockSetting = { ahead: number } | { frozenAt: number }

export const timeBy = (setting: ClockSetting, machineTime: number): number =>
  'frozenAt' in setting ? setting.frozenAt : machineTime + setting.ahead

export type RealClock = ReturnType<typeof startRealClock>

/** The clock of this machine, which can be frozen and moved forward; it acts until it is stopped. */
export const startRealClock = () => {
  const timers = newTimers()
  // Kept, so that a test that replaces Date does not move this clock.
  const { now: machineTime } = Date
  let setting: ClockSetting = { ahead: 0 }
  let isStopped = false
  /** While the clock moves: whether it was frozen before. */
  let wasFrozen: boolean | undefined

  const now = (): number => timeBy(setting, machineTime())
  const isFrozen = (): boolean => wasFrozen ?? 'frozenAt' in setting
  /** Returns the instant of the next timer. */
  const next = (): number | undefined => (isStopped ? undefined : timers.first()?.at)
  const isDue = (): boolean => (next() ?? Number.POSITIVE_INFINITY) <= now()

  const run = (): void => {
    wake.cancel()
    while (isDue()) timers.take()?.act?.()
    schedule()
  }

  const schedule = (): void => {
    const due = next()
    if (due === undefined) return
    // A frozen clock reaches no later timer.
    if ('frozenAt' in setting && due > now()) return
    wake.setAt(due, now())
  }
  const wake = newWake(run)

  const set = (next: ClockSetting): void => {
    setting = next
    wake.cancel()
    schedule()
  }

  const at: Clock['at'] = (when, act) => {
    const timer = timers.add(when, act)
    schedule()
    return timer
  }

  return {
    now,
    at,
    after: (milliseconds: number, act: () => unknown): Timer => at(now() + milliseconds, act),
    /** Milliseconds by which the clock is ahead of this machine's; negative while it is behind. */
    ahead: (): number => ('frozenAt' in setting ? setting.frozenAt - machineTime() : setting.ahead),
    setting: (): ClockSetting => setting,
    isMoving: (): boolean => wasFrozen !== undefined,
    isFrozen,
    set,
    /** Runs the timers that are due; reports whether there were any. */
    runDue: (): boolean => {
      if (!isDue()) return false
      run()
      return true
    },
    moveTo: async (until: number, idle: () => Promise<void>): Promise<void> => {
      wasFrozen = isFrozen()
      try {
        await step({ now, set, next }, until, idle)
        if (!isStopped) set({ frozenAt: Math.max(until, now()) })
      } finally {
        if (!wasFrozen) set({ ahead: now() - machineTime() })
        wasFrozen = undefined
      }
    },
    stop: (): void => {
      isStopped = true
      wake.cancel()
    },
  }
}

type SteppableClock = {
  now: () => number
  set: (setting: ClockSetting) => void
  /** Returns the instant of the next timer. */
  next: () => number | undefined
}

/**
 * Moves a clock forward to its last timer before an instant, from one to the next. The clock stands while
 * `idle` waits for the effects of each.
 */
const step = async (
  { now, set, next }: SteppableClock,
  until: number,
  idle: () => Promise<void>,
): Promise<void> => {
  set({ frozenAt: now() })
  await idle()
  for (let at = next(); at !== undefined && at <= until; at = next()) {
    set({ frozenAt: Math.max(at, now()) })
    await idle()
  }
}

export type StoppableClock = ReturnType<typeof stoppable>

/** Returns a view of a clock whose timers can all be stopped. */
export const stoppable = (clock: Clock) => {
  let isStopped = false
  const at: Clock['at'] = (when, act) => clock.at(when, () => !isStopped && act())
  return {
    now: clock.now,
    at,
    after: (milliseconds: number, act: () => unknown): Timer => at(clock.now() + milliseconds, act),
    isStopped: (): boolean => isStopped,
    stop: (): void => {
      isStopped = true
    },
  }
}
