/** Taking samples: in turns, so that a slow second of the machine falls on what is measured and its base. */

/** The middle of some figures and how far they lie apart. */
export type Spread = { median: number; least: number; most: number }

export const percentile = (figures: readonly number[], share: number): number => {
  const sorted = figures.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (figures: readonly number[]): number => {
  const sorted = figures.toSorted((a, b) => a - b)
  const [upper = Number.NaN, lower = upper] = [
    sorted[Math.floor(sorted.length / 2)],
    sorted[Math.ceil(sorted.length / 2) - 1],
  ]
  return (upper + lower) / 2
}

export const spreadOf = (figures: readonly number[]): Spread => ({
  median: median(figures),
  least: Math.min(...figures),
  most: Math.max(...figures),
})

/** What came of some requests. */
export type Sample = {
  /** Milliseconds of each. */
  latencies: number[]
  /** Milliseconds in which they were all done. */
  elapsed: number
  /** Microseconds of this process's own processor time, for all of them. */
  cpu: number
}

/** One request; the number tells it from all others. */
export type Work = (n: number) => Promise<unknown>

/** Does `count` pieces of work, `together` at a time. */
export const sample = async (work: Work, from: number, count: number, together: number) => {
  const latencies: number[] = []
  const end = from + count
  let next = from
  const caller = async (): Promise<void> => {
    while (next < end) {
      const n = next
      next += 1
      const begun = performance.now()
      await work(n)
      latencies.push(performance.now() - begun)
    }
  }
  const usage = process.cpuUsage()
  const begun = performance.now()
  await Promise.all(Array.from({ length: together }, caller))
  const elapsed = performance.now() - begun
  const { user, system } = process.cpuUsage(usage)
  return { latencies, elapsed, cpu: user + system } satisfies Sample
}

type Plan = {
  /** So often is everything measured; each round gives one figure. */
  rounds: number
  /** Requests of each kind in a round. */
  count: number
  /** They come in chunks, those of one kind after those of another. */
  chunk: number
  together: number
}

/** @returns for each kind of work a sample per round */
export const inTurns = async <K extends string>(
  works: Record<K, Work>,
  { rounds, count, chunk, together }: Plan,
): Promise<Record<K, Sample[]>> => {
  const kinds = Object.keys(works) as K[]
  const taken = Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Record<
    K,
    Sample[]
  >
  for (let round = 0; round < rounds; round += 1) {
    globalThis.gc?.()
    const chunks = Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as typeof taken
    for (let done = 0; done < count; done += chunk) {
      const size = Math.min(chunk, count - done)
      for (const kind of kinds) {
        chunks[kind].push(await sample(works[kind], take(kind, size), size, together))
      }
      // Whoever goes first in a turn goes last in the next.
      kinds.push(...kinds.splice(0, 1))
    }
    for (const kind of kinds) taken[kind].push(joined(chunks[kind]))
  }
  return taken
}

const used = new Map<string, number>()
const take = (kind: string, size: number): number => {
  const from = used.get(kind) ?? 0
  used.set(kind, from + size)
  return from
}

const joined = (samples: readonly Sample[]): Sample => ({
  latencies: samples.flatMap(({ latencies }) => latencies),
  elapsed: samples.reduce((sum, { elapsed }) => sum + elapsed, 0),
  cpu: samples.reduce((sum, { cpu }) => sum + cpu, 0),
})

export const at = (share: number) => (taken: Sample) => percentile(taken.latencies, share)
export const perSecond = ({ latencies, elapsed }: Sample) => (latencies.length / elapsed) * 1_000
export const cpuEach = ({ latencies, cpu }: Sample) => cpu / latencies.length
