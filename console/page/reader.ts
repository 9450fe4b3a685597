/** How soon a change is read. */
const SETTLE_MS = 300

export type LoadCall<T> = (signal: AbortSignal) => Promise<T>

type Reading<T> = {
  /** Its signal aborts the call of a reader that is closed. */
  load: LoadCall<T>
  show: (state: { data: T } | { error: Error }) => void
  /** Repeats the call so long after each reply, while it is visible. */
  pollMs?: number | undefined
  isVisible?: () => boolean
}

export type Reader = ReturnType<typeof openReader>

/**
 * Makes one call at a time and shows each reply: a slow service is neither called again before it
 * replies, nor ignored. A request during a call repeats it after the reply.
 */
export const openReader = <T>({ load, show, pollMs, isVisible = () => true }: Reading<T>) => {
  let isRunning = false
  let isRequested = false
  const closing = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const readAfter = (milliseconds: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => (isVisible() ? void read() : readAfter(milliseconds)), milliseconds)
  }
  const read = async (): Promise<void> => {
    isRequested = isRunning
    if (isRunning || closing.signal.aborted) return
    isRunning = true
    clearTimeout(timer)
    const state = await load(closing.signal).then(
      (data) => ({ data }),
      (error: Error) => ({ error }),
    )
    isRunning = false
    if (closing.signal.aborted) return
    show(state)
    if (isRequested) readAfter(SETTLE_MS)
    else if (pollMs) readAfter(pollMs)
  }
  let isSettling = false
  return {
    read: (): void => void read(),
    /** Reads after a short pause, once for all changes in it. */
    readSoon: (): void => {
      if (isSettling) return
      isSettling = true
      setTimeout(() => {
        isSettling = false
        void read()
      }, SETTLE_MS)
    },
    close: (): void => {
      closing.abort()
      clearTimeout(timer)
    },
  }
}
