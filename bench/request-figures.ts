import { compare, type Figure } from './figures.ts'
import { cpuEach, interleaved, type Load, latencyAt, perSecond, type Work } from './samples.ts'

type Plan = Omit<Load, 'concurrency'> & {
  concurrencies: readonly number[]
  /** The names of the two bases. */
  against: { bare: string; counted: string }
}

type Works = {
  ours: Work
  /** Sends the database calls, without the rate counters, by a bare client. */
  bare: Work
  /** Sends all database calls by a bare client. */
  counted: Work
}

/** Returns how many requests of each kind `requestFigures` sends; one round warms up. */
export const requestsOf = ({ rounds, count, concurrencies }: Plan): number =>
  (rounds * concurrencies.length + 1) * count

/** Compares latency, throughput and CPU of our requests with the same calls by a bare client. */
export const requestFigures = async (works: Works, plan: Plan): Promise<Figure[]> => {
  const { concurrencies, against, ...load } = plan
  await interleaved(works, { ...load, rounds: 1, concurrency: 8 })
  const figures: Figure[] = []
  let cpu: Figure[] = []
  for (const concurrency of concurrencies) {
    const { ours, bare, counted } = await interleaved(works, { ...load, concurrency })
    const named = (metric: string) => `${metric}, concurrency ${concurrency}`
    const latency = { unit: 'ms', against: against.counted, target: { ratioAtMost: 1.1 } } as const
    figures.push(
      {
        name: named('p50'),
        unit: 'ms',
        against: against.bare,
        ...compare(ours, bare, latencyAt(0.5)),
      },
      { name: named('p50'), ...latency, ...compare(ours, counted, latencyAt(0.5)) },
      { name: named('p99'), ...latency, ...compare(ours, counted, latencyAt(0.99)) },
      {
        name: named('throughput'),
        unit: '1/s',
        against: against.counted,
        target: { ratioAtLeast: 0.9 },
        ...compare(ours, counted, perSecond),
      },
    )
    if (concurrency === 1) {
      cpu = [{ ...latency, name: 'CPU', unit: 'µs', ...compare(ours, counted, cpuEach) }]
    }
  }
  return [...figures, ...cpu]
}
