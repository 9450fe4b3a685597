import { type Figure, type Measure, markdownTable } from '../figures.ts'
import { perDebit, sumOf, type Usage } from '../load/usage.ts'
import { type Load, runLoad } from '../load/world.ts'

const SECONDS = 60
const SHORT_SECONDS = 15
/** Enough debits at the lowest rate. */
const DEBITS_MIN = 60

const loadsOf = (short: boolean): Load[] => {
  const seconds = short ? SHORT_SECONDS : SECONDS
  const load = (providers: number, perSecond: number): Load => ({
    providers,
    perSecond,
    seconds: Math.max(seconds, DEBITS_MIN / (providers * perSecond)),
  })
  return [
    ...[1, 4, 16, 64].map((perSecond) => load(1, perSecond)),
    ...[8, 64].map((providers) => load(providers, 1)),
  ]
}

const QUANTITIES = {
  'write units': 'written',
  'read units': 'read',
  'SQS requests': 'sqs',
  invocations: 'invocations',
} as const satisfies Record<string, keyof Usage>

const nameOf = ({ providers, perSecond }: Load): string =>
  providers === 1 ? `${perSecond}/s` : `${providers} providers, ${perSecond}/s each`

/** A part of a function below this is not shown. */
const SHOWN_MIN = 0.01

/**
 * Growth is the largest factor by which a quantity per debit rises from one load to any higher one.
 * It may fall, because larger batches share requests.
 */
const growthOf = (values: readonly number[]): number =>
  Math.max(...values.map((value, index) => value / Math.min(...values.slice(0, index + 1))))

const growth: Measure = async ({ short }) => {
  const loads = loadsOf(short)
  const counted: Map<string, Usage>[] = []
  for (const load of loads) {
    const { byFunction, debits } = await runLoad(load)
    const idle = await runLoad({ ...load, perSecond: 0 })
    counted.push(perDebit(byFunction, idle.byFunction, debits))
  }
  const sums = counted.map((usage) => sumOf(usage.values()))
  const names = [...new Set(counted.flatMap((usage) => [...usage.keys()]))]
  const tables = Object.entries(QUANTITIES).flatMap(([title, quantity]) => {
    const row = (label: string, values: readonly number[]) => [
      label,
      ...values.map((value) => value.toFixed(2)),
    ]
    const rows = names
      .map((name) => ({ name, values: counted.map((usage) => usage.get(name)?.[quantity] ?? 0) }))
      .filter(({ values }) => Math.max(...values) >= SHOWN_MIN)
      .map(({ name, values }) => row(`\`${name}\``, values))
    const sum = row(
      'sum',
      sums.map((usage) => usage[quantity]),
    )
    return ['', ...markdownTable([`${title} per debit`, ...loads.map(nameOf)], [...rows, sum])]
  })
  const figures = Object.entries(QUANTITIES).flatMap(([title, quantity]): Figure[] => {
    const values = sums.map((usage) => usage[quantity])
    const target = { atMost: 1.05 }
    return [
      { name: `${title}, 1 to 64 charges/s`, ours: growthOf(values.slice(0, 4)), target },
      {
        name: `${title}, 1 to 64 providers`,
        ours: growthOf([values[0] ?? 0, ...values.slice(4)]),
        target,
      },
    ]
  })
  return {
    title: 'Growth',
    explanation:
      'Consumption per debit as the load grows. The figure is the largest factor by which it rises.',
    figures,
    notes: tables,
  }
}

export const parts = { growth }
