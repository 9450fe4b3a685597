import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { remarks, section, tableText, verdictOf } from '../../bench/report.ts'
import type { Row } from '../../bench/rows/row.ts'
import { partNames, rows, rowsOf } from '../../bench/rows.ts'

/** What the benchmark prints; what it measures is nobody's test. */

const shared: Omit<Row, 'target'> = { part: 'charge', what: 'it', base: 'the bare one', unit: 'ms' }
const ratio = (median: number) => ({
  own: median,
  base: 1,
  ratio: { median, least: median, most: median },
})

describe('the rows', () => {
  test('each has its target, or says why it has none', () => {
    const aims = [...rows.values()].map(({ target }) => Object.values(target))
    expect(aims.flat().every((aim) => typeof aim === 'number' || aim !== '')).toBe(true)
    expect(aims.every((each) => each.length === 1)).toBe(true)
  })

  test('each names the base that its ratio is held against', () => {
    const baseless = [...rows].filter(
      ([, { target, base }]) => ('ratioAtMost' in target || 'ratioAtLeast' in target) && !base,
    )
    expect(baseless).toEqual([])
  })

  test.each(partNames)('%s has rows, and a file that measures them', (part) => {
    expect(rowsOf(part)).not.toEqual([])
    const file = new URL(`../../bench/measured/${part}.ts`, import.meta.url)
    expect(existsSync(file)).toBe(true)
  })
})

describe('a verdict', () => {
  test.each([
    [{ ratioAtMost: 1.1 }, 1.1, 'met'],
    [{ ratioAtMost: 1.1 }, 1.11, 'missed'],
    [{ ratioAtLeast: 0.8 }, 0.8, 'met'],
    [{ ratioAtLeast: 0.8 }, 0.79, 'missed'],
    [{ atMost: 20 }, 20, 'met'],
    [{ atMost: 20 }, 20.1, 'missed'],
    [{ none: 'shown' }, 99, ''],
  ] as const)('%o at %d: %s', (target, figure, verdict) => {
    expect(verdictOf({ ...shared, target }, ratio(figure))).toBe(verdict)
  })

  test('a target for a ratio is missed by a figure without one', () => {
    expect(verdictOf({ ...shared, target: { ratioAtMost: 1 } }, { own: 0 })).toBe('missed')
  })
})

describe('what is printed', () => {
  const spread = { own: 2_345.6, base: 1_000, ratio: { median: 2.3456, least: 2, most: 3 } }
  const figures = new Map([
    ['charge 1 p50', spread],
    ['charge 8 p50', spread],
    ['charge 1 bare p50', ratio(1.4)],
  ])

  test('the ratio first, then its target, and the figures beside it', () => {
    const [head, , line] = tableText('charge', figures).split('\n')
    expect(head).toMatch(/^Charge +ratio \(spread\) +target +ours +base +held against$/)
    expect(line).toMatch(
      /^charge, p50, 1 at once +2\.35x \(2\.00–3\.00\) +≤ 1\.1x +missed +2,346 ms +1,000 ms +counter/,
    )
  })

  test('what misses its target, or has none, is explained once for all it is true of', () => {
    const said = remarks('charge', figures)
    expect(said).toHaveLength(2)
    expect(said[1]).toMatch(/^- Missed: .*\(charge, p50, 1 at once; charge, p50, 8 at once\)$/)
  })

  test('as Markdown, with what was found beneath it', () => {
    const text = section('charge', figures, ['', 'A note.'])
    expect(text).toContain('## Charge\n\n|  | ratio (spread) | target |')
    expect(text).toContain('|---|--:|--:|---|--:|--:|---|\n| charge, p50, 1 at once | 1.40x |')
    expect(text.endsWith('\nA note.\n')).toBe(true)
  })
})
