import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pesewas } from '../../../shared/domain/money.ts'
import { addLine, type Line, noTotals } from '../../../shared/domain/settlement/batch.ts'
import { adjustmentLine } from '../../../shared/domain/settlement/line.ts'
import type { ReportFormat } from '../../../shared/domain/settlement/list-query.ts'
import { render } from '../../../shared/settlement/report/render.ts'
import { lineView } from '../../../shared/views/batch.ts'
import { adjustment, batch, line, numberedLine, sealed, textOf } from './one-batch.ts'

const formats: ReportFormat[] = ['json', 'csv']

const anyText = fc.oneof(
  fc.string({ maxLength: 50, unit: 'grapheme' }),
  fc.string({ maxLength: 12, unit: fc.constantFrom(...'=+-@\t\r\n",;\'a1 \u{A0}\u{FEFF}＝') }),
)

const debit = fc
  .record({ gross: fc.integer({ min: 1_00, max: 10_000_00 }), rate: fc.nat(10_000), text: anyText })
  .map(({ gross, rate, text }) => {
    const fee = Math.floor((gross * rate) / 10_000)
    return line({
      partnerReference: text,
      bankReference: rate % 5 === 0 ? null : text,
      gross: pesewas(gross),
      fee: pesewas(fee),
      net: pesewas(gross - fee),
    })
  })
const anyLines = fc.array(
  fc.tuple(debit, fc.boolean()).map(([one, isBack]) => (isBack ? adjustmentLine(one) : one)),
  { maxLength: 30 },
)

/** Parses CSV strictly by RFC 4180: all records have the same fields. */
const recordsOf = (text: string): string[][] => parse(text, { recordDelimiter: '\r\n' })

/** Parses an amount without the product's arithmetic. */
const amountOf = (text = ''): bigint => {
  expect(text).toMatch(/^-?(0|[1-9][0-9]*)\.[0-9]{2}$/)
  return BigInt(text.replace('.', ''))
}
const sum = (texts: (string | undefined)[]): bigint =>
  texts.reduce((total, text) => total + amountOf(text), 0n)

test('a JSON report parses back to its lines, and its totals are their sums', async () => {
  await fc.assert(
    fc.asyncProperty(anyLines, async (lines) => {
      const text = await textOf(render('json', sealed(lines), lines))
      // One text line per line of the batch.
      expect(text.split('\n')).toHaveLength(lines.length + 7)
      const report = JSON.parse(text)
      expect(report.lines).toEqual(lines.map(lineView))
      const sumOf = (type: Line['type'], amount: 'gross' | 'fee' | 'net') =>
        sum(lines.map(lineView).flatMap((one) => (one.type === type ? one[amount] : [])))
      const { count, gross, fee, adjustments, net } = report.totals
      expect(count).toBe(lines.length)
      expect(amountOf(gross)).toBe(sumOf('debit', 'gross'))
      expect(amountOf(fee)).toBe(sumOf('debit', 'fee'))
      expect(amountOf(adjustments)).toBe(sumOf('adjustment', 'net'))
      expect(amountOf(net)).toBe(amountOf(gross) - amountOf(fee) + amountOf(adjustments))
      expect(report.batch).toMatchObject(report.totals)
    }),
  )
})

test('a CSV report has a header, a record per line and the sums of the columns', async () => {
  const lines = [numberedLine(1), line({ bankReference: null }), adjustment]
  const text = await textOf(render('csv', sealed(lines), lines))
  expect(text.split('\r\n')).toEqual([
    'type,reference,partner_reference,bank_reference,completed_at,gross,fee,net,currency',
    'debit,DCS-20261121-000001,order-1,GCB-78,2026-11-21T10:01:00.000Z,100.00,1.50,98.50,GHS',
    'debit,DCS-20261121-00000A,order-1001,,2026-11-21T10:01:00.000Z,100.00,1.50,98.50,GHS',
    'adjustment,DCS-20261121-00000A,order-1001,GCB-78,2026-11-21T10:01:00.000Z,-40.00,-0.60,-39.40,GHS',
    'total,,,,,160.00,2.40,157.60,GHS',
    '',
  ])
})

test('a CSV report parses back to its lines except for the guard, and its last record has the column sums', async () => {
  await fc.assert(
    fc.asyncProperty(anyLines, async (lines) => {
      const text = await textOf(render('csv', sealed(lines), lines))
      const [header = [], ...records] = recordsOf(text)
      const total = records.pop()
      const read = records.map((record) =>
        // A leading apostrophe is the guard.
        Object.fromEntries(header.map((name, n) => [name, record[n]?.replace(/^'/, '')])),
      )
      expect(read).toEqual(
        lines.map(lineView).map((one) => ({ ...one, bank_reference: one.bank_reference ?? '' })),
      )
      expect(total?.slice(0, 5)).toEqual(['total', '', '', '', ''])
      for (const [n, column] of [5, 6, 7].entries()) {
        expect(amountOf(total?.[column]), header[5 + n]).toBe(
          sum(records.map((one) => one[column])),
        )
      }
      expect(amountOf(total?.[7])).toBe(BigInt(lines.reduce(addLine, noTotals).net))
    }),
  )
})

// A text that a spreadsheet would evaluate gets an apostrophe.
const guarded = [
  ...['+233241234567', '-1+2', '@SUM(A1:A9)', '＝1', '＋1', '－1', '＠SUM(A1:A9)', ' =1'],
  ...['\u{A0}=1', '\u{FEFF}=1', '\u{200B}\u{3000}@1', "'=1", "'a"],
]
const unchanged = ['order-1', 'a=1', ' a ', 'Ɔkɔtɔ 🦀']
const quoted = [
  ['=HYPERLINK("http://x.test","y")', `"'=HYPERLINK(""http://x.test"",""y"")"`],
  ['\t=1', `"'\t=1"`],
  ['\t1', `"'\t1"`],
  ['\r=1', `"'\r=1"`],
  ['a;=1+1', '"a;=1+1"'],
  ['a,b', '"a,b"'],
  ['a "b"', '"a ""b"""'],
  ['a\nb', '"a\nb"'],
]
const texts = [
  ...guarded.map((text) => [text, `'${text}`]),
  ...unchanged.map((text) => [text, text]),
  ...quoted,
]

test.each(texts)('a CSV report contains the text %j as %j', async (text = '', field) => {
  const lines = [line({ partnerReference: text, bankReference: text })]
  const report = await textOf(render('csv', sealed(lines), lines))
  expect(report).toContain(`,DCS-20261121-00000A,${field},${field},2026-11-21T`)
})

describe.each(formats)('the lines in %s', (format) => {
  test.each([
    ['one missing', [numberedLine(1)]],
    ['one added', [numberedLine(1), numberedLine(2), numberedLine(3)]],
    ['another fee', [numberedLine(1), line({ fee: pesewas(1_51), net: pesewas(98_49) })]],
  ])('a report with %s throws before the totals are written', async (_, lines) => {
    const chunks: string[] = []
    const read = async () => {
      for await (const chunk of render(format, sealed([numberedLine(1), numberedLine(2)]), lines))
        chunks.push(chunk)
    }
    await expect(read()).rejects.toThrow('The lines of STL-20261122-ABC123 do not add up to its')
    expect(chunks.join('')).not.toMatch(/total/)
  })

  test('the lines are read one at a time as the text is consumed', async () => {
    const lineCount = 1_000
    let read = 0
    let isClosed = false
    async function* lines() {
      try {
        for (; read < lineCount; read += 1) yield numberedLine(read)
      } finally {
        isClosed = true
      }
    }
    let chunkCount = 0
    for await (const chunk of render(format, batch(), lines())) {
      chunkCount += 1
      expect(chunk.length).toBeLessThan(1_000)
      // Head and foot are chunks, too.
      expect(read).toBeLessThanOrEqual(chunkCount)
    }
    expect({ read, isClosed, chunkCount }).toEqual({
      read: lineCount,
      isClosed: true,
      chunkCount: lineCount + 2,
    })
  })
})
