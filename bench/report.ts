import type { Figure } from './figures.ts'
import type { Row, Target } from './rows/row.ts'
import { type PartName, parts, rowsOf } from './rows.ts'

/** The one table, for a terminal and for the documentation. */

export type Verdict = 'met' | 'missed' | ''

export const verdictOf = ({ target }: Row, { own, ratio }: Figure): Verdict => {
  if ('none' in target) return ''
  if ('atMost' in target) return own <= target.atMost ? 'met' : 'missed'
  const reached = ratio?.median ?? Number.NaN
  const isMet =
    'ratioAtMost' in target ? reached <= target.ratioAtMost : reached >= target.ratioAtLeast
  return isMet ? 'met' : 'missed'
}

const spelled = (target: Target, unit: Row['unit']): string => {
  if ('none' in target) return '–'
  if ('atMost' in target) return `≤ ${numbered(target.atMost)} ${unit}`
  return 'ratioAtMost' in target ? `≤ ${target.ratioAtMost}x` : `≥ ${target.ratioAtLeast}x`
}

/** Three digits that mean something, and no powers. */
const numbered = (figure: number): string =>
  Math.abs(figure) >= 100
    ? Math.round(figure).toLocaleString('en')
    : String(Number(figure.toPrecision(3)))

const ratioText = ({ ratio }: Figure): string => {
  if (!ratio) return ''
  const { median, least, most } = ratio
  const range = least === most ? '' : ` (${least.toFixed(2)}–${most.toFixed(2)})`
  return `${median.toFixed(2)}x${range}`
}

const HEAD = ['', 'ratio (spread)', 'target', '', 'ours', 'base', 'held against']

type Figures = ReadonlyMap<string, Figure>

const cellsOf = (row: Row, figure: Figure): string[] => {
  const amount = (one: number | undefined): string =>
    one === undefined ? '' : `${numbered(one)} ${row.unit === 'times' ? '' : row.unit}`.trim()
  return [
    row.what,
    ratioText(figure),
    spelled(row.target, row.unit),
    verdictOf(row, figure),
    amount(figure.own),
    amount(figure.base),
    row.base ?? '',
  ]
}

const measuredRows = (part: PartName, figures: Figures) =>
  rowsOf(part).flatMap(([name, row]) => {
    const figure = figures.get(name)
    return figure ? [{ row, figure }] : []
  })

/** Aligned, for a terminal. */
export const tableText = (part: PartName, figures: Figures): string => {
  const lines = measuredRows(part, figures).map(({ row, figure }) => cellsOf(row, figure))
  const all = [[parts[part], ...HEAD.slice(1)], ...lines]
  const widths = HEAD.map((_, n) => Math.max(...all.map((cells) => (cells[n] ?? '').length)))
  return all
    .map((cells) =>
      cells
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** What is to be said of rows that miss their target or have none: a sentence for all it is true of. */
export const remarks = (part: PartName, figures: Figures): string[] => {
  const said = measuredRows(part, figures).flatMap(({ row, figure }) => {
    const { what, base, target, explained = 'Not explained yet.' } = row
    if ('none' in target) {
      const of = base ? `${what}, beside ${base}` : what
      return [{ of, kind: 'No target', why: `${target.none}.` }]
    }
    const isMissed = verdictOf(row, figure) === 'missed'
    return isMissed ? [{ of: what, kind: 'Missed', why: explained }] : []
  })
  return [...Map.groupBy(said, ({ kind, why }) => `${kind} ${why}`).values()].map((alike) => {
    const [{ kind, why } = { kind: '', why: '' }] = alike
    return `- ${kind}: ${why} (${alike.map(({ of }) => of).join('; ')})`
  })
}

/** One part as Markdown. */
export const section = (part: PartName, figures: Figures, notes: readonly string[]): string => {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const table = [
    line(HEAD),
    '|---|--:|--:|---|--:|--:|---|',
    ...measuredRows(part, figures).map(({ row, figure }) => line(cellsOf(row, figure))),
  ]
  const said = remarks(part, figures)
  return [
    `## ${parts[part]}`,
    '',
    ...table,
    ...(said.length > 0 ? ['', ...said] : []),
    ...notes,
    '',
  ].join('\n')
}
