/** Models an SQS fair queue and its Lambda workers: the group with the fewest messages in flight is next. */

type Message = { group: string; body: string }

export type FairQueue = {
  send: (message: Message) => void
  /** Resolves when no message waits or is in flight. */
  drained: () => Promise<void>
}

/** @param concurrency the number of messages in flight, in batches of one */
export const openFairQueue = (
  concurrency: number,
  work: (body: string) => Promise<unknown>,
): FairQueue => {
  const waiting: Message[] = []
  const inFlight = new Map<string, number>()
  let busy = 0
  let idle = Promise.withResolvers<void>()
  const add = (group: string, count: number): void => {
    inFlight.set(group, (inFlight.get(group) ?? 0) + count)
    busy += count
  }
  /** Takes the oldest message of the groups with the least load. */
  const takeNext = (): Message | undefined => {
    const loadOf = ({ group }: Message): number => inFlight.get(group) ?? 0
    const least = Math.min(...waiting.map(loadOf))
    const index = waiting.findIndex((message) => loadOf(message) === least)
    return index < 0 ? undefined : waiting.splice(index, 1)[0]
  }
  const dispatch = (): void => {
    while (busy < concurrency) {
      const message = takeNext()
      if (!message) break
      add(message.group, 1)
      void work(message.body).finally(() => {
        add(message.group, -1)
        dispatch()
      })
    }
    if (busy === 0) idle.resolve()
  }
  return {
    send: (message) => {
      if (busy === 0) idle = Promise.withResolvers()
      waiting.push(message)
      dispatch()
    },
    drained: async () => {
      if (busy > 0) await idle.promise
    },
  }
}
