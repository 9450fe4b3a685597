import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import type { DebitSummary } from '../../../shared/views/operator/debit.ts'
import { countDebits } from '../debit-counts.ts'
import { dayText } from './values.tsx'

const colour = (name: string): string => {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const HEIGHT = 90

const chartOptions = (width: number): uPlot.Options => {
  const { bars } = uPlot.paths
  const axis = {
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  }
  const series = (label: string, name: string, share: number) => ({
    label,
    fill: colour(name),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars({ size: [share, 60] }) }),
  })
  return {
    width,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    // The service's days are UTC days.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      // The first and the last bar are whole.
      x: { range: ({ data: [times] }) => withMargins(times) },
      y: { range: (_chart, _min, max) => [0, Math.max(4, max + 1)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        grid: { show: false },
        values: (chart, splits) => {
          const labels = splits.map((at) => labelOf(chart, at))
          // A day is named once.
          return labels.map((label, index) => (label === labels[index - 1] ? '' : label))
        },
      },
      { ...axis, size: 34, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] },
    ],
    // The outcomes are stacked in front of the charges of the same time.
    series: [
      {},
      series('charged', '--bar', 0.8),
      series('failed', '--bad', 0.4),
      series('completed', '--good', 0.4),
    ],
  }
}

const withMargins = (times: ArrayLike<number>): [number, number] => {
  const [first = 0, second = 0] = Array.from(times)
  const half = (second - first) / 2
  return [first - half, (times[times.length - 1] ?? 0) + half]
}

const labelOf = (chart: uPlot, at: number): string => {
  const { min = 0, max = 0 } = chart.scales.x ?? {}
  const text = new Date(at * 1000).toISOString()
  return Number(max) - Number(min) > 86_400 * 2
    ? dayText(text.slice(0, 10)).slice(0, -5)
    : text.slice(11, 16)
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

type ChartProps = {
  debits: readonly DebitSummary[]
  now: number
  /** Whether there are more debits than these. */
  isPart: boolean
}

/** Draws debits as bars: charged ones, and in front of them completed and failed ones. */
export const DebitChart = ({ debits, now, isPart }: ChartProps) => {
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  const { times, charged, completed, failed } = countDebits(debits, now)
  const outcomes = failed.map((count, index) => count + (completed[index] ?? 0))
  const data: uPlot.AlignedData = [times, charged, outcomes, completed]
  const latest = useRef(data)
  latest.current = data

  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    const draw = (): void => {
      chart.current?.destroy()
      chart.current = new uPlot(chartOptions(element.clientWidth), latest.current, element)
    }
    draw()
    const size = new ResizeObserver(() =>
      chart.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    size.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      size.disconnect()
      scheme.removeEventListener('change', draw)
      chart.current?.destroy()
      chart.current = undefined
    }
  }, [])
  useEffect(() => chart.current?.setData(latest.current))

  const [all, good, bad] = [charged, completed, failed].map(sumOf)
  return (
    <figure class="figure">
      <div
        ref={box}
        class="chart"
        role="img"
        aria-label={`${all} debits charged, ${good} completed, ${bad} failed`}
      />
      <figcaption class="legend">
        {isPart && <span class="muted">Of these {debits.length}:</span>}
        <span class="status">{all} charged</span>
        <span class="status good">{good} completed</span>
        <span class="status bad">{bad} failed</span>
      </figcaption>
    </figure>
  )
}
