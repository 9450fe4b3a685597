import { expect, test } from 'vitest'
import { MalformedStatement, readStatement } from '../../../cli/statement.ts'
import {
  compareStatement,
  type StatementDebit,
  type StatementRow,
} from '../../../shared/domain/banks/statement.ts'
import type { Day } from '../../../shared/domain/time.ts'

const UUID = '3f2b8c1e-5d4a-4c3b-9a2f-0e1d2c3b4a59'
const OTHER = '8a5c1d1e-0d7b-4f4e-9d3b-2f1e0d9c8b7a'
const AT = '2026-11-21T10:01:00.000Z'
const HEADER = 'uuid,bank_reference,amount,currency,completed_at'
const SHORT_HEADER = 'bank_reference,amount,currency,completed_at'
const FIELDS = `${UUID},B-1,100.00,GHS,${AT}`

const read = (text: string) => readStatement(new TextEncoder().encode(text))

const row = (given: Partial<Record<keyof StatementRow, unknown>> = {}): StatementRow =>
  ({
    line: 2,
    uuid: UUID,
    bank_reference: 'B-1',
    amount: 100_00,
    currency: 'GHS',
    completed_at: AT,
    ...given,
  }) as StatementRow

test.each([
  ['with its columns in this order', `${HEADER}\n${FIELDS}\n`],
  [
    'in another order',
    `completed_at,currency,amount,bank_reference,uuid\n${AT},GHS,100.00,B-1,${UUID}`,
  ],
  ['with further columns', `${HEADER},branch\n${FIELDS},Osu\n`],
  [
    'with blanks and any case',
    ` UUID , ${SHORT_HEADER.toUpperCase()}\n${UUID} , B-1,100.00,ghs,${AT}\n`,
  ],
  ['with a byte order mark and CRLF', `\uFEFF${HEADER}\r\n${FIELDS}\r\n`],
  ['with quoted fields', `"uuid",${SHORT_HEADER}\n"${UUID}","B-1","100.00","GHS","${AT}"\n`],
  ['with empty lines at its end', `${HEADER}\n${FIELDS}\n\n\n`],
  ['with an upper-case uuid', `${HEADER}\n${UUID.toUpperCase()},B-1,100.00,GHS,${AT}\n`],
])('a statement is parsed %s', (_, text) => {
  expect(read(text)).toEqual([row()])
})

test.each([
  ['2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['2026-11-21 10:01', AT],
  ['2026-11-21 10:01:00', AT],
  ['2026-11-21T12:01:00+02:00', AT],
  ['2026-11-22T00:30:00+01:00', '2026-11-21T23:30:00.000Z'],
])('a statement may write times as %s, in UTC without an offset', (written, completed_at) => {
  const text = `${SHORT_HEADER}\nB-1,100.00,GHS,${written}\n`
  expect(read(text)).toEqual([row({ uuid: null, completed_at })])
})

test('a quoted field may contain commas, quotes and line breaks', () => {
  const text = `${SHORT_HEADER}\n"B,""1""\n2",100.00,GHS,${AT}\nB-2,5.00,GHS,${AT}\n`
  expect(read(text)).toEqual([
    row({ uuid: null, bank_reference: 'B,"1"\n2' }),
    row({ uuid: null, bank_reference: 'B-2', amount: 5_00, line: 4 }),
  ])
})

const missing = ['amount', 'currency', 'completed_at'].map((name) => `column ${name} is missing`)

test.each([
  ['', 'the file is empty'],
  ['uuid\n', `line 1: ${missing.join('; ')}`],
  ['amount,currency,completed_at\n', 'line 1: column uuid or bank_reference is missing'],
  [`${HEADER},Amount\n`, 'line 1: column amount is repeated'],
  [`${HEADER}\n"${UUID},B-1\n`, 'line 2: unclosed quotes'],
  [`${HEADER}\n${UUID},B-1,100.00\n`, 'line 2: 3 fields, but 5 columns'],
  [`${HEADER}\n${UUID},B-1,100,GHS,${AT}`, 'line 2: amount must be like 100.00'],
  [`${HEADER}\n${UUID},B-1,-1.00,GHS,${AT}`, 'line 2: amount must be like 100.00'],
  [`${HEADER}\n${UUID},B-1,1.00,GHS,21.11.2026`, 'line 2: completed_at must be like 2026'],
  [`${HEADER}\n${UUID},B-1,1.00,GHS,2026-02-30`, 'line 2: completed_at must be a time of the'],
  [`${HEADER}\n${UUID},B-1,1.00,cedi,${AT}`, 'line 2: currency must be like GHS'],
  [`${HEADER}\n12,B-1,1.00,GHS,${AT}`, 'line 2: uuid is malformed'],
  [`${HEADER}\n,,1.00,GHS,${AT}`, 'line 2: a uuid or a bank_reference is required'],
])('the statement %j is refused: %s', (text, message) => {
  expect(() => read(text)).toThrow(MalformedStatement)
  expect(() => read(text)).toThrow(message)
})

test('the error of a malformed statement lists lines and no content', () => {
  const bad = Array.from({ length: 30 }, (_, n) => `${UUID},SECRET-${n},x,GHS,${AT}`).join('\n')
  const failing = () => read(`${HEADER}\n${FIELDS}\n\n${bad}\n`)
  expect(failing).toThrow(/^line 4: amount .*\nline 5: (?:.|\n)*\nand 10 more lines$/)
  expect(failing).toThrow(/^(?:(?!SECRET)[\s\S])*$/)
})

test('a statement that is not UTF-8 is refused', () => {
  expect(() => readStatement(Uint8Array.of(0x75, 0xff))).toThrow('the file is not UTF-8')
})

const reference = 'DCS-20261121-ABC123'
const debit = (given: Partial<StatementDebit> = {}): StatementDebit => ({
  reference,
  provider: 'demo',
  uuid: UUID,
  bank_reference: 'B-1',
  amount: '100.00',
  status: 'completed',
  completed_at: AT,
  ...given,
})

const NONE = { count: 0, sum: '0.00', examples: [] }
const NEXT_DAY = '2026-11-22T00:00:01.000Z'
const failed = debit({ status: 'failed', completed_at: null })
const compared = (rows: StatementRow[], debits: StatementDebit[]) =>
  compareStatement('2026-11-21' as Day, rows, debits)

test.each([
  ['by its uuid', row({ bank_reference: null }), debit()],
  ['by its bank reference', row({ uuid: null }), debit()],
  ['by both', row(), debit()],
  ['that was reversed later', row(), debit({ status: 'reversed' })],
])('a row matches a completed debit %s', (_, bankRow, ours) => {
  const { line, uuid, bank_reference, currency, completed_at } = bankRow
  const example = {
    line,
    uuid,
    bank_reference,
    currency,
    completed_at,
    amount: '100.00',
    reference,
  }
  expect(compared([bankRow], [ours])).toEqual({
    matched: { count: 1, sum: '100.00', examples: [example] },
    missing_here: NONE,
    missing_at_bank: NONE,
    differs: NONE,
  })
})

test.each([
  ['the amount is 90.00 here', debit({ amount: '90.00' }), row()],
  ['the currency is GHS here', debit(), row({ currency: 'USD' })],
  ['the debit is failed here', failed, row()],
  ['the debit is processing here', debit({ status: 'processing', completed_at: null }), row()],
  [`the debit was completed here at ${NEXT_DAY}`, debit({ completed_at: NEXT_DAY }), row()],
  ['the bank_reference is B-2 here', debit({ bank_reference: 'B-2' }), row()],
  [
    'the amount is 90.00 here; the currency is GHS here',
    debit({ amount: '90.00' }),
    row({ currency: 'USD' }),
  ],
])('a row differs: %s', (reason, ours, bankRow) => {
  expect(compared([bankRow], [ours])).toMatchObject({
    matched: NONE,
    missing_here: NONE,
    missing_at_bank: NONE,
    differs: { count: 1, sum: '100.00', examples: [{ line: 2, reason }] },
  })
})

test('a row without a debit is missing here', () => {
  const rows = [row({ uuid: OTHER }), row({ uuid: null, bank_reference: 'B-9', line: 3 })]
  expect(compared(rows, [])).toMatchObject({
    missing_here: { count: 2, sum: '200.00', examples: [{ line: 2 }, { line: 3 }] },
    differs: NONE,
  })
})

test('a second row of a debit differs, by either column', () => {
  const rows = [row(), row({ line: 3 }), row({ line: 4, uuid: null })]
  expect(compared(rows, [debit()])).toMatchObject({
    matched: { count: 1 },
    differs: { count: 2, examples: [{ reason: 'line 2 names the same debit' }, { line: 4 }] },
  })
})

test('a shared bank reference matches the debit with the same amount', () => {
  const other = 'DCS-20261121-XYZ789'
  const debits = [debit(), debit({ uuid: OTHER, amount: '5.00', reference: other })]
  const rows = [row({ uuid: null, amount: 5_00 }), row({ uuid: null, line: 3 })]
  expect(compared(rows, debits)).toMatchObject({
    matched: { count: 2, sum: '105.00', examples: [{ reference: other }, { reference }] },
    missing_at_bank: NONE,
  })
})

test('only a debit that completed on the day needs a row', () => {
  const earlier = debit({ uuid: OTHER, completed_at: '2026-11-20T23:59:59.999Z' })
  expect(compared([], [debit(), failed, earlier]).missing_at_bank).toEqual({
    count: 1,
    sum: '100.00',
    examples: [debit()],
  })
})

test('each group counts and sums all rows and has at most a hundred examples', () => {
  const rows = Array.from({ length: 250 }, (_, n) =>
    row({ uuid: null, bank_reference: `B-${n}`, amount: 99_999_999_99, line: n + 2 }),
  )
  const { missing_here } = compared(rows, [])
  expect(missing_here).toMatchObject({ count: 250, sum: '24999999997.50' })
  expect(missing_here.examples).toHaveLength(100)
})
