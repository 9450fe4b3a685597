/**
 * An SQS standard queue that is fair, and the workers that Lambda sets on it: of what waits, that goes
 * next whose group has the fewest in work; of equals, the oldest.
 */

type Waiting = { group: string; body: string }

export type FairQueue = {
  send: (message: Waiting) => void
  /** Resolves when nothing waits and nothing is in work. */
  drained: () => Promise<void>
}

/** @param concurrency so many messages are in work at once, each alone */
export const openFairQueue = (
  concurrency: number,
  work: (body: string) => Promise<unknown>,
): FairQueue => {
  const waiting: Waiting[] = []
  const inWork = new Map<string, number>()
  let busy = 0
  let idle = Promise.withResolvers<void>()
  const add = (group: string, by: number): void => {
    inWork.set(group, (inWork.get(group) ?? 0) + by)
    busy += by
  }
  const next = (): Waiting | undefined => {
    const loadOf = ({ group }: Waiting): number => inWork.get(group) ?? 0
    const least = Math.min(...waiting.map(loadOf))
    const at = waiting.findIndex((message) => loadOf(message) === least)
    return at < 0 ? undefined : waiting.splice(at, 1)[0]
  }
  const feed = (): void => {
    while (busy < concurrency) {
      const message = next()
      if (!message) break
      add(message.group, 1)
      void work(message.body).finally(() => {
        add(message.group, -1)
        feed()
      })
    }
    if (busy === 0) idle.resolve()
  }
  return {
    send: (message) => {
      if (busy === 0) idle = Promise.withResolvers()
      waiting.push(message)
      feed()
    },
    drained: async () => {
      if (busy > 0) await idle.promise
    },
  }
}
