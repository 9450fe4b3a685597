import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pesewas } from '../../../shared/domain/money.ts'
import { addLine, type Line, noTotals } from '../../../shared/domain/settlement/batch.ts'
import { adjustmentLine } from '../../../shared/domain/settlement/line.ts'
import { type ReportFormat, render } from '../../../shared/settlement/report/render.ts'
import { batchView, lineView } from '../../../shared/views/batch.ts'
import { recordsOf } from './csv-reader.ts'
import { batch, line, nth, sealed, takenBack, whole } from './one-batch.ts'

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

/** Text with two decimals, to pesewas, without the service's own arithmetic. */
const count = (text = ''): bigint => {
  expect(text).toMatch(/^-?(0|[1-9][0-9]*)\.[0-9]{2}$/)
  return BigInt(text.replace('.', ''))
}
const sum = (texts: (string | undefined)[]): bigint =>
  texts.reduce((before, text) => before + count(text), 0n)

describe('a report in JSON', () => {
  test('is the batch, its lines and its totals, amounts as text with two decimals', async () => {
    const lines = [nth(1), takenBack]
    expect(JSON.parse(await whole(render('json', sealed(lines), lines)))).toEqual({
      batch: {
        id: 'STL-20261122-ABC123',
        uuid: '3f2b8c1e-9a4d-4f6b-8e2a-5d7c9b1f0a3e',
        provider: 'demo',
        currency: 'GHS',
        date: '2026-11-22',
        status: 'pending',
        count: 2,
        debits: 1,
        gross: '100.00',
        fee: '1.50',
        adjustments: '-39.40',
        net: '59.10',
        fee_schedule: null,
        created_at: '2026-11-22T00:00:01.000Z',
        sealed_at: '2026-11-22T00:00:02.000Z',
        processed_at: null,
        completed_at: null,
        failed_at: null,
        failure: null,
        bank_reference: null,
        paid: null,
        made_good_by: null,
      },
      lines: [
        {
          type: 'debit',
          reference: 'DCS-20261121-000001',
          partner_reference: 'order-1',
          bank_reference: 'GCB-78',
          completed_at: '2026-11-21T10:01:00.000Z',
          gross: '100.00',
          fee: '1.50',
          net: '98.50',
          currency: 'GHS',
        },
        {
          type: 'adjustment',
          reference: 'DCS-20261121-00000A',
          partner_reference: 'order-1001',
          bank_reference: 'GCB-78',
          completed_at: '2026-11-21T10:01:00.000Z',
          gross: '-40.00',
          fee: '-0.60',
          net: '-39.40',
          currency: 'GHS',
        },
      ],
      totals: {
        count: 2,
        debits: 1,
        gross: '100.00',
        fee: '1.50',
        adjustments: '-39.40',
        net: '59.10',
      },
    })
  })

  test('is read back to the letter, and its totals are the sums of its lines', async () => {
    await fc.assert(
      fc.asyncProperty(anyLines, async (lines) => {
        const report = JSON.parse(await whole(render('json', sealed(lines), lines)))
        expect(report.lines).toEqual(lines.map(lineView))
        const of = (type: Line['type'], amount: 'gross' | 'fee' | 'net') =>
          sum(lines.map(lineView).flatMap((one) => (one.type === type ? one[amount] : [])))
        const { count: all, gross, fee, adjustments, net } = report.totals
        expect(all).toBe(lines.length)
        expect(count(gross)).toBe(of('debit', 'gross'))
        expect(count(fee)).toBe(of('debit', 'fee'))
        expect(count(adjustments)).toBe(of('adjustment', 'net'))
        expect(count(net)).toBe(count(gross) - count(fee) + count(adjustments))
        expect(report.batch).toMatchObject(report.totals)
      }),
    )
  })

  test('has its lines one under the other, so that they can be looked through by line', async () => {
    const lines = [nth(1), nth(2)]
    const text = await whole(render('json', sealed(lines), lines))
    expect(text.split('\n').map((one) => one.slice(0, 28))).toEqual([
      '{',
      '"batch": {"id":"STL-20261122',
      '"lines": [',
      '{"type":"debit","reference":',
      '{"type":"debit","reference":',
      '],',
      '"totals": {"count":2,"debits',
      '}',
      '',
    ])
  })
})

describe('a report as CSV', () => {
  test('is a header, a record for each line, and the sums of the columns', async () => {
    const lines = [nth(1), line({ bankReference: null }), takenBack]
    const text = await whole(render('csv', sealed(lines), lines))
    expect(text.split('\r\n')).toEqual([
      'type,reference,partner_reference,bank_reference,completed_at,gross,fee,net,currency',
      'debit,DCS-20261121-000001,order-1,GCB-78,2026-11-21T10:01:00.000Z,100.00,1.50,98.50,GHS',
      'debit,DCS-20261121-00000A,order-1001,,2026-11-21T10:01:00.000Z,100.00,1.50,98.50,GHS',
      'adjustment,DCS-20261121-00000A,order-1001,GCB-78,2026-11-21T10:01:00.000Z,-40.00,-0.60,-39.40,GHS',
      'total,,,,,160.00,2.40,157.60,GHS',
      '',
    ])
  })

  test('is read back to the letter but for the guard, and its last record sums its columns', async () => {
    await fc.assert(
      fc.asyncProperty(anyLines, async (lines) => {
        const text = await whole(render('csv', sealed(lines), lines))
        const [header = [], ...records] = recordsOf(text)
        const total = records.pop()
        const read = records.map((record) =>
          // Every apostrophe at the start is that of the guard.
          Object.fromEntries(header.map((name, n) => [name, record[n]?.replace(/^'/, '')])),
        )
        expect(read).toEqual(
          lines.map(lineView).map((one) => ({ ...one, bank_reference: one.bank_reference ?? '' })),
        )
        expect(total?.slice(0, 5)).toEqual(['total', '', '', '', ''])
        for (const [n, column] of [5, 6, 7].entries()) {
          expect(count(total?.[column]), header[5 + n]).toBe(sum(records.map((one) => one[column])))
        }
        expect(count(total?.[7])).toBe(BigInt(lines.reduce(addLine, noTotals).net))
      }),
    )
  })

  test('a batch without lines is a header and a total of nothing', async () => {
    const records = recordsOf(await whole(render('csv', sealed([]), [])))
    expect(records).toHaveLength(2)
    expect(records[1]).toEqual(['total', '', '', '', '', '0.00', '0.00', '0.00', 'GHS'])
  })

  const texts: [string, string][] = [
    ['order-1', 'order-1'],
    ['=HYPERLINK("http://x.test","y")', `"'=HYPERLINK(""http://x.test"",""y"")"`],
    ['+233241234567', "'+233241234567"],
    ['-1+2', "'-1+2"],
    ['@SUM(A1:A9)', "'@SUM(A1:A9)"],
    ['\t=1', `"'\t=1"`],
    ['\t1', `"'\t1"`],
    ['\r=1', `"'\r=1"`],
    ['＝1', "'＝1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(A1:A9)', "'＠SUM(A1:A9)"],
    [' =1', "' =1"],
    ['\u{A0}=1', "'\u{A0}=1"],
    ['\u{FEFF}=1', "'\u{FEFF}=1"],
    ['\u{200B}\u{3000}@1', "'\u{200B}\u{3000}@1"],
    ["'=1", "''=1"],
    ["'a", "''a"],
    ['a;=1+1', '"a;=1+1"'],
    ['a=1', 'a=1'],
    ['a,b', '"a,b"'],
    ['a "b"', '"a ""b"""'],
    ['a\nb', '"a\nb"'],
    [' a ', ' a '],
    ['Ɔkɔtɔ 🦀', 'Ɔkɔtɔ 🦀'],
  ]

  test.each(texts)('the text %j stands in it as %j', async (text, field) => {
    const lines = [line({ partnerReference: text, bankReference: text })]
    const report = await whole(render('csv', sealed(lines), lines))
    expect(report).toContain(`,DCS-20261121-00000A,${field},${field},2026-11-21T`)
  })
})

test('the columns are the members of a line', async () => {
  const [header] = recordsOf(await whole(render('csv', sealed([]), [])))
  expect(header).toEqual(Object.keys(lineView(line())))
})

test('a batch that is being built has no amounts yet', () => {
  const open = batchView(batch({ sealedAt: null }))
  expect(open).toMatchObject({ sealed_at: null, count: null, gross: null, net: null })
  expect(Object.keys(open)).toEqual(Object.keys(batchView(sealed([]))))
})

test('a batch that was paid says what, and how it came about', () => {
  const paid = batch({ status: 'completed', paid: pesewas(59_10), bankReference: 'GCB-P-1' })
  expect(batchView(paid)).toMatchObject({ paid: '59.10', bank_reference: 'GCB-P-1' })
})

describe.each(formats)('lines in %s', (format) => {
  test.each([
    ['one too few', [nth(1)]],
    ['one too many', [nth(1), nth(2), nth(3)]],
    ['one with another fee', [nth(1), line({ fee: pesewas(1_51), net: pesewas(98_49) })]],
  ])('that are not those of the batch, %s, are refused before the end', async (_, lines) => {
    const chunks: string[] = []
    const read = async () => {
      for await (const chunk of render(format, sealed([nth(1), nth(2)]), lines)) chunks.push(chunk)
    }
    await expect(read()).rejects.toThrow('The lines of STL-20261122-ABC123 do not add up to its')
    expect(chunks.join('')).not.toMatch(/total/)
  })

  test('are read one by one, as their text is asked for: 100,000 pass through', async () => {
    const lineCount = 100_000
    let given = 0
    let isClosed = false
    async function* lines() {
      try {
        for (; given < lineCount; given += 1) yield nth(given)
      } finally {
        isClosed = true
      }
    }
    let chunkCount = 0
    let longest = 0
    let furthest = 0
    for await (const chunk of render(format, batch(), lines())) {
      chunkCount += 1
      longest = Math.max(longest, chunk.length)
      // What was read and is not yet handed on; head and foot are chunks too.
      furthest = Math.max(furthest, given - chunkCount)
    }
    expect({ given, isClosed }).toEqual({ given: lineCount, isClosed: true })
    expect(chunkCount).toBe(lineCount + 2)
    expect(longest).toBeLessThan(1_000)
    expect(furthest).toBeLessThanOrEqual(0)
  })

  test('are read no further once nobody asks', async () => {
    let given = 0
    async function* lines() {
      for (; given < 1_000; given += 1) yield nth(given)
    }
    for await (const _ of render(format, batch(), lines())) if (given >= 10) break
    expect(given).toBe(10)
  })
})
