/** The samples of metrics by minute, and the statistics of CloudWatch over periods of them. */

type Sample = {
  minute: number
  value: number
  count: number
  /** The count and sum of the samples before it. */
  before: { count: number; sum: number }
}

export type Metric = { namespace: string; name: string; dimensions: Record<string, string> }

const keyOf = ({ namespace, name, dimensions }: Metric): string =>
  JSON.stringify([namespace, name, Object.entries(dimensions).sort()])

/** Returns the index of the first sample from a minute on. */
const firstFrom = (samples: readonly Sample[], minute: number): number => {
  let [low, high] = [0, samples.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((samples[middle] as Sample).minute < minute) low = middle + 1
    else high = middle
  }
  return low
}

const through = ({ before, count, value }: Sample) => ({
  count: before.count + count,
  sum: before.sum + value * count,
})

export class Samples {
  readonly #byKey = new Map<string, Sample[]>()
  readonly #metrics = new Map<string, Metric>()

  /** Adds samples of equal value; minutes must not decrease. */
  add(metric: Metric, minute: number, value: number, count = 1): void {
    if (count === 0) return
    const key = keyOf(metric)
    const samples = this.#byKey.get(key) ?? []
    const last = samples.at(-1)
    const before = last ? through(last) : { count: 0, sum: 0 }
    samples.push({ minute, value, count, before })
    this.#byKey.set(key, samples)
    this.#metrics.set(key, metric)
  }

  of(metric: Metric): readonly Sample[] {
    return this.#byKey.get(keyOf(metric)) ?? []
  }

  /** Lists the metrics of a name, whatever the values of their dimensions. */
  named(namespace: string, name: string): Metric[] {
    return [...this.#metrics.values()].filter(
      (metric) => metric.namespace === namespace && metric.name === name,
    )
  }
}

/** @returns the datapoint of a period; undefined without samples */
export const statisticOf = (
  samples: readonly Sample[],
  statistic: string,
  { from, before }: { from: number; before: number },
): number | undefined => {
  const [begin, end] = [firstFrom(samples, from), firstFrom(samples, before)]
  const [first, last] = [samples[begin], samples[end - 1]]
  if (!first || !last || begin === end) return undefined
  const total = through(last).count - first.before.count
  if (statistic === 'Sum') return through(last).sum - first.before.sum
  if (statistic === 'SampleCount') return total
  if (statistic === 'Maximum')
    return Math.max(...samples.slice(begin, end).map(({ value }) => value))
  const [, limit] = /^PR\(:(\d+)\)$/.exec(statistic) ?? []
  if (!limit) throw new Error(`The statistic ${statistic} is not implemented`)
  const counts = countsWithin(samples, limit)
  return (100 * (Number(counts[end]) - Number(counts[begin]))) / total
}

const within = new WeakMap<readonly Sample[], Record<string, number[]>>()

/** Returns how many values before each sample are within a limit. Called when all samples are known. */
const countsWithin = (samples: readonly Sample[], limit: string): number[] => {
  const known = within.get(samples) ?? {}
  within.set(samples, known)
  let sum = 0
  known[limit] ??= [
    0,
    ...samples.map(({ value, count }) => {
      if (value <= Number(limit)) sum += count
      return sum
    }),
  ]
  return known[limit]
}
