import { type Spread, spreadOf } from './samples.ts'

/** One row of a table: our figure and, if it has a base, the figure of the base and their ratio. */
export type Figure = {
  name: string
  unit?: 'ms' | 'µs' | '1/s' | '$'
  ours: number
  base?: number
  /** The name of the base. */
  against?: string
  /** Ours divided by base, over all rounds. */
  ratio?: Spread
  /** Absent: the figure is shown without a verdict. */
  target?: { ratioAtMost: number } | { ratioAtLeast: number } | { atMost: number }
}

/** The result of one part. Notes are lines of Markdown below the table. */
export type Measured = {
  title: string
  explanation: string
  figures: Figure[]
  notes?: string[]
  /** Printed by --json. */
  json?: Record<string, number>
}

export type Options = {
  /** A figure is the median of this many rounds. */
  rounds: number
  /** Sends fewer requests. */
  short: boolean
}

export type Measure = (options: Options) => Promise<Measured>

/** Compares samples of ours with those of a base, round by round. */
export const compare = <T>(
  ours: readonly T[],
  base: readonly T[],
  measure: (sample: T) => number,
) => {
  const [ourValues, baseValues] = [ours.map(measure), base.map(measure)]
  return {
    ours: spreadOf(ourValues).median,
    base: spreadOf(baseValues).median,
    ratio: spreadOf(ourValues.map((value, round) => value / (baseValues[round] ?? Number.NaN))),
  }
}

const verdictOf = ({ target, ours, ratio }: Figure): 'met' | 'missed' | '' => {
  if (!target) return ''
  if ('atMost' in target) return ours <= target.atMost ? 'met' : 'missed'
  const { median } = ratio ?? { median: Number.NaN }
  const isMet =
    'ratioAtMost' in target ? median <= target.ratioAtMost : median >= target.ratioAtLeast
  return isMet ? 'met' : 'missed'
}

/** Formats with three significant digits and without an exponent. */
const formatted = (value: number | undefined, unit = ''): string => {
  if (value === undefined) return ''
  const digits =
    Math.abs(value) >= 100
      ? Math.round(value).toLocaleString('en')
      : String(Number(value.toPrecision(3)))
  return `${digits} ${unit}`.trim()
}

const targetText = ({ target, unit }: Figure): string => {
  if (!target) return '–'
  if ('atMost' in target) return `≤ ${formatted(target.atMost, unit)}`
  return 'ratioAtMost' in target ? `≤ ${target.ratioAtMost}x` : `≥ ${target.ratioAtLeast}x`
}

const ratioText = ({ ratio }: Figure): string => {
  if (!ratio) return ''
  const { median, least, most } = ratio
  const range = least === most ? '' : ` (${least.toFixed(2)}–${most.toFixed(2)})`
  return `${median.toFixed(2)}x${range}`
}

const HEAD = ['', 'compared with', 'ours', 'base', 'ratio (spread)', 'target', 'verdict']

const cellsOf = (figure: Figure): string[] => [
  figure.name,
  figure.against ?? '',
  formatted(figure.ours, figure.unit),
  formatted(figure.base, figure.unit),
  ratioText(figure),
  targetText(figure),
  verdictOf(figure),
]

/** Renders a Markdown table with aligned columns. */
export const markdownTable = (head: readonly string[], rows: readonly string[][]): string[] => {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line)
}

/** Renders one part as a section of `figures.md`. */
export const section = ({ title, explanation, figures, notes = [] }: Measured): string =>
  [
    `## ${title}`,
    '',
    explanation,
    '',
    ...markdownTable(HEAD, figures.map(cellsOf)),
    ...notes,
    '',
  ].join('\n')
