import type { ClockSetting, RealClock } from '../aws/clock.ts'
import type { FunctionHost } from '../function-host.ts'

/** Controls a sandbox: its clock, its state and calls of its functions. */

export type Control = ReturnType<typeof newControl>

type Deps = {
  address: string
  clock: RealClock
  /** The invocations of the sandbox. */
  running: () => ReadonlySet<Promise<unknown>>
  /** Whether the clock of all components can move: bundles have a clock of their own. */
  isMovable: boolean
  functions: FunctionHost
  reset: () => Promise<void>
  /** Stores the setting of the clock. */
  record: (setting: ClockSetting) => void
  onMoved: () => void
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

export const newControl = ({ address, clock, running, functions, ...deps }: Deps) => {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  /** Resolves when no invocation runs and nothing is due. */
  const idle = async (): Promise<void> => {
    for (;;) {
      if (clock.runDue()) continue
      const invocations = [...running()]
      if (invocations.length > 0) await Promise.allSettled(invocations)
      else {
        // An invocation that ended may start others in this turn.
        await nextTurn()
        if (running().size === 0 && !clock.runDue()) return
      }
    }
  }

  /**
   * Runs scenarios, moves and resets one after the other: a scenario depends on the clock and restores
   * settings.
   */
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    waiting += 1
    const result = last.then(work)
    last = result.catch(() => undefined)
    try {
      return await result
    } finally {
      waiting -= 1
    }
  }

  const now = () => new Date(clock.now())
  const recordMove = () => {
    deps.record(clock.setting())
    deps.onMoved()
  }
  const moveTo = async (at: number) => {
    // A sandbox that is killed during a move continues at its last step, not before its effects.
    await clock.moveTo(at, () => {
      deps.record(clock.isFrozen() ? clock.setting() : { ahead: clock.ahead() })
      return idle()
    })
    await idle()
    recordMove()
  }

  return {
    address,
    clock: {
      now,
      isFrozen: clock.isFrozen,
      isMovable: deps.isMovable,
      /** Whether no function runs. */
      isIdle: () => running().size === 0,
      /** Steps from one due timer, delayed message or schedule to the next, and resolves when idle. */
      advance: (milliseconds: number) => moveTo(clock.now() + milliseconds),
      moveTo: (at: Date) => moveTo(at.getTime()),
      freeze: (freezes: boolean) => {
        if (freezes === clock.isFrozen()) return
        clock.set(freezes ? { frozenAt: clock.now() } : { ahead: clock.ahead() })
        recordMove()
      },
      idle,
    },
    inTurn,
    /** Whether a scenario, a move or a reset runs or waits. */
    isBusy: () => waiting > 0,
    /** Restores the seeds, and the time of this machine. */
    reset: deps.reset,
    invoke: functions.invoke,
  }
}
