/** At Ctrl-C the terminal and npm each send the command a signal. */
const SAME_CTRL_C_MS = 1_000

/** Calls `stop` at the first signal that ends a command, and `abandon` at one that comes later. */
export const onStopSignal = (
  stop: () => unknown,
  abandon: () => void = () => process.exit(1),
): void => {
  let firstAt: number | undefined
  const receive = () => {
    if (firstAt !== undefined) {
      if (performance.now() - firstAt > SAME_CTRL_C_MS) abandon()
      return
    }
    firstAt = performance.now()
    stop()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, receive)
}
