/** Takes samples of ours and of its base interleaved, so that a slow second affects both. */

/** The median of some values, and their extremes. */
export type Spread = { median: number; least: number; most: number }

const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

export const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
})

export type Sample = {
  /** Milliseconds per request. */
  latencies: number[]
  /** Milliseconds for all requests. */
  elapsed: number
  /** Microseconds of CPU of this thread for all requests: a receiver in another thread is excluded. */
  cpu: number
}

/** Sends one request; no two calls get the same index. */
export type Work = (index: number) => Promise<unknown>

const sample = async (work: Work, from: number, count: number, concurrency: number) => {
  const latencies: number[] = []
  const end = from + count
  let next = from
  const caller = async (): Promise<void> => {
    while (next < end) {
      const index = next
      next += 1
      const start = performance.now()
      await work(index)
      latencies.push(performance.now() - start)
    }
  }
  const usage = process.threadCpuUsage()
  const start = performance.now()
  await Promise.all(Array.from({ length: concurrency }, caller))
  const elapsed = performance.now() - start
  const { user, system } = process.threadCpuUsage(usage)
  return { latencies, elapsed, cpu: user + system } satisfies Sample
}

export type Load = {
  rounds: number
  /** Requests of each kind per round. */
  count: number
  /** Requests of one kind before those of the next. */
  chunk: number
  concurrency: number
}

/** Returns one sample per round for each kind of work. */
export const interleaved = async <K extends string>(
  works: Record<K, Work>,
  { rounds, count, chunk, concurrency }: Load,
): Promise<Record<K, Sample[]>> => {
  const kinds = Object.keys(works) as K[]
  const lists = () =>
    Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Record<K, Sample[]>
  const samples = lists()
  for (let round = 0; round < rounds; round += 1) {
    globalThis.gc?.()
    const chunks = lists()
    for (let done = 0; done < count; done += chunk) {
      const size = Math.min(chunk, count - done)
      for (const kind of kinds) {
        chunks[kind].push(await sample(works[kind], reserve(kind, size), size, concurrency))
      }
      // The kind that is first now is last in the next chunk.
      kinds.push(...kinds.splice(0, 1))
    }
    for (const kind of kinds) samples[kind].push(joined(chunks[kind]))
  }
  return samples
}

const nextIndex = new Map<string, number>()

/** Reserves consecutive indexes and returns the first. */
const reserve = (kind: string, size: number): number => {
  const first = nextIndex.get(kind) ?? 0
  nextIndex.set(kind, first + size)
  return first
}

const joined = (samples: readonly Sample[]): Sample => ({
  latencies: samples.flatMap(({ latencies }) => latencies),
  elapsed: samples.reduce((sum, { elapsed }) => sum + elapsed, 0),
  cpu: samples.reduce((sum, { cpu }) => sum + cpu, 0),
})

export const latencyAt = (share: number) => (sample: Sample) => percentile(sample.latencies, share)
export const perSecond = ({ latencies, elapsed }: Sample) => (latencies.length / elapsed) * 1_000
export const cpuEach = ({ latencies, cpu }: Sample) => cpu / latencies.length
