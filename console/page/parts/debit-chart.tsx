import type { DebitSummary } from '../../../shared/views/operator/debit.ts'
import { countDebits } from '../debit-counts.ts'
import { dayText } from './values.tsx'

const DAYS_SHOWN_FROM = 86_400 * 2
const BARS_PER_LABEL = 6

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

/** Returns the label of each sixth bar; a day is named once. */
const labelsOf = (times: readonly number[]): string[] => {
  const hasDays = (times.at(-1) ?? 0) - (times[0] ?? 0) > DAYS_SHOWN_FROM
  const labels = times
    .filter((_, index) => index % BARS_PER_LABEL === 0)
    .map((at) => new Date(at * 1000).toISOString())
    .map((text) => (hasDays ? dayText(text.slice(0, 10)).slice(0, -5) : text.slice(11, 16)))
  return labels.map((label, index) => (label === labels[index - 1] ? '' : label))
}

type ChartProps = {
  debits: readonly DebitSummary[]
  now: number
  /** Whether there are more debits than these. */
  isPart: boolean
}

/** Draws debits as bars: charged ones, and in front of them completed and failed ones. */
export const DebitChart = ({ debits, now, isPart }: ChartProps) => {
  const { times, charged, completed, failed } = countDebits(debits, now)
  const outcomes = failed.map((count, index) => count + (completed[index] ?? 0))
  const max = Math.max(4, ...charged, ...outcomes)
  const bars = (name: string, width: number, counts: readonly number[]) => (
    <g class={name}>
      {counts.map((count, index) => {
        const height = (count / max) * 100
        const x = index * 10 + (10 - width) / 2
        return (
          count > 0 && <rect key={index} x={x} y={100 - height} width={width} height={height} />
        )
      })}
    </g>
  )
  const [all, good, bad] = [charged, completed, failed].map(sumOf)
  return (
    <figure class="chart">
      <div role="img" aria-label={`${all} debits charged, ${good} completed, ${bad} failed`}>
        <small>{max}</small>
        <svg viewBox={`0 0 ${times.length * 10} 100`} preserveAspectRatio="none" aria-hidden="true">
          {bars('all', 8, charged)}
          {bars('bad', 4, outcomes)}
          {bars('good', 4, completed)}
        </svg>
        <div class="times">
          {labelsOf(times).map((label, index) => (
            <small key={index}>{label}</small>
          ))}
        </div>
      </div>
      <figcaption class="legend">
        {isPart && <span class="muted">Of these {debits.length}:</span>}
        <span class="status">{all} charged</span>
        <span class="status good">{good} completed</span>
        <span class="status bad">{bad} failed</span>
      </figcaption>
    </figure>
  )
}
