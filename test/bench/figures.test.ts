import { describe, expect, test } from 'vitest'
import { compare, markdownTable, section, verdictOf } from '../../bench/figures.ts'
import { rowsOf } from '../support/rows.ts'

const ratio = (median: number) => ({ median, least: median, most: median })

describe('verdict', () => {
  test.each([
    [{ ratioAtMost: 1.1 }, 1.1, 'met'],
    [{ ratioAtMost: 1.1 }, 1.11, 'missed'],
    [{ ratioAtLeast: 0.8 }, 0.8, 'met'],
    [{ ratioAtLeast: 0.8 }, 0.79, 'missed'],
    [{ atMost: 20 }, 20, 'met'],
    [{ atMost: 20 }, 20.1, 'missed'],
  ] as const)('%o at %d is %s', (target, figure, verdict) => {
    expect(verdictOf({ target, ours: figure, ratio: ratio(figure) })).toBe(verdict)
  })

  test('a figure without a target has no verdict', () => {
    expect(verdictOf({ ours: 99 })).toBe('')
  })

  test('a figure without a ratio misses a target for the ratio', () => {
    expect(verdictOf({ target: { ratioAtMost: 1 }, ours: 0 })).toBe('missed')
  })
})

test('a comparison divides round by round and reports medians and the spread', () => {
  const figure = compare([2, 6, 4], [2, 2, 2], (value) => value)
  expect(figure).toEqual({ ours: 4, base: 2, ratio: { median: 2, least: 1, most: 3 } })
})

describe('section', () => {
  const text = section({
    title: 'Charge',
    explanation: 'A charge.',
    figures: [
      {
        name: 'p50',
        unit: 'ms',
        against: 'bare',
        ours: 2_345.6,
        base: 1_000,
        ratio: { median: 2.3456, least: 2, most: 3 },
        target: { ratioAtMost: 1.1 },
      },
      { name: 'p99', against: 'bare', ours: 1.4, base: 1, ratio: ratio(1.4) },
    ],
    notes: ['', 'A note.'],
  })
  const rows = text.split('\n').filter((line) => line.startsWith('|'))
  const cells = rows.map((line) => line.split(/ *\| */).slice(1, -1))

  test('a section has its heading, explanation, table and notes', () => {
    expect(text).toMatch(/^## Charge\n\nA charge\.\n\n\| (?:.|\n)*\n\nA note\.\n$/)
  })

  test('a row has both figures, the ratio with its spread, the target and the verdict', () => {
    const figures = ['2,346 ms', '1,000 ms', '2.35x (2.00–3.00)']
    expect(cells[2]).toEqual(['p50', 'bare', ...figures, '≤ 1.1x', 'missed'])
  })

  test('a row without a spread or a target shows neither', () => {
    expect(cells[3]?.slice(4)).toEqual(['1.40x', '–', ''])
  })
})

test('the columns of a table are aligned', () => {
  const rows = rowsOf('charge  1\n p50  12')
  expect(markdownTable(['', 'ours'], rows)).toEqual([
    '|        | ours |',
    '| ------ | ---- |',
    '| charge | 1    |',
    '| p50    | 12   |',
  ])
})
