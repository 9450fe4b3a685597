import { describe, expect, test } from 'vitest'
import { MalformedStatement, readStatement } from '../../../cli/statement.ts'
import {
  compareStatement,
  type StatementDebit,
  type StatementRow,
} from '../../../shared/domain/banks/statement.ts'
import type { Day } from '../../../shared/domain/time.ts'

/** Tests how a bank's statement is read and compared. */

const date = '2026-11-21' as Day
const UUID = '3f2b8c1e-5d4a-4c3b-9a2f-0e1d2c3b4a59'
const OTHER = '8a5c1d1e-0d7b-4f4e-9d3b-2f1e0d9c8b7a'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const read = (text: string) => readStatement(bytes(text))
const HEADER = 'uuid,bank_reference,amount,currency,completed_at'
const AT = '2026-11-21T10:01:00.000Z'
const OTHER_ORDER = 'completed_at,currency,amount,bank_reference,uuid'
const ANY_CASE = ' UUID , Bank_Reference,AMOUNT ,Currency, Completed_At'
const QUOTED = '"uuid","bank_reference",amount,currency,completed_at'
/** Returns a statement with one row. */
const withRow = (fields: string) => `${HEADER}\n${fields}\n`
const row = (given: Partial<StatementRow> = {}): StatementRow => ({
  line: 2,
  uuid: UUID as StatementRow['uuid'],
  bank_reference: 'B-1',
  amount: 100_00 as StatementRow['amount'],
  currency: 'GHS',
  completed_at: AT,
  ...given,
})

describe('statements', () => {
  test.each([
    ['with its columns in this order', `${HEADER}\n${UUID},B-1,100.00,GHS,${AT}\n`],
    ['in another order', `${OTHER_ORDER}\n${AT},GHS,100.00,B-1,${UUID}`],
    ['with further columns', `${HEADER},branch\n${UUID},B-1,100.00,GHS,${AT},Osu\n`],
    ['with names in any case and with blanks', `${ANY_CASE}\n${UUID} , B-1,100.00,ghs,${AT}\n`],
    ['with a byte order mark and CRLF', `\uFEFF${HEADER}\r\n${UUID},B-1,100.00,GHS,${AT}\r\n`],
    ['with quoted fields', `${QUOTED}\n"${UUID}","B-1","100.00","GHS","${AT}"\n`],
    ['with empty lines at its end', `${HEADER}\n${UUID},B-1,100.00,GHS,${AT}\n\n\n`],
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
    const text = `bank_reference,amount,currency,completed_at\nB-1,100.00,GHS,${written}\n`
    expect(read(text)).toEqual([row({ uuid: null, completed_at })])
  })

  test('a quoted field may contain commas, quotes and line breaks', () => {
    const text = `bank_reference,amount,currency,completed_at\n"B,""1""\n2",100.00,GHS,${AT}\nB-2,5.00,GHS,${AT}\n`
    expect(read(text)).toEqual([
      row({ uuid: null, bank_reference: 'B,"1"\n2' }),
      row({ uuid: null, bank_reference: 'B-2', amount: 5_00 as never, line: 4 }),
    ])
  })

  test.each([
    ['is empty', '', 'the file is empty'],
    [
      'lacks columns',
      'uuid\n',
      'line 1: column amount is missing; column currency is missing; column completed_at is missing',
    ],
    [
      'names no debits',
      'amount,currency,completed_at\n',
      'line 1: column uuid or bank_reference is missing',
    ],
    ['has a column twice', `${HEADER},Amount\n`, 'line 1: column amount is repeated'],
    ['has an open quote', `${HEADER}\n"${UUID},B-1\n`, /line \d: unclosed quotes/],
    ['has a short row', withRow(`${UUID},B-1,100.00`), 'line 2: 3 fields, but 5 columns'],
  ])('a statement that %s is refused with the line', (_, text, message) => {
    expect(() => read(text)).toThrow(MalformedStatement)
    expect(() => read(text)).toThrow(message)
  })

  test.each([
    [`${UUID},B-1,100,GHS,${AT}`, 'amount must be like 100.00'],
    [`${UUID},B-1,-1.00,GHS,${AT}`, 'amount must be like 100.00'],
    [`${UUID},B-1,1.00,GHS,21.11.2026`, 'completed_at must be like'],
    [`${UUID},B-1,1.00,GHS,2026-02-30`, 'completed_at must be a time of the calendar'],
    [`${UUID},B-1,1.00,cedi,${AT}`, 'currency must be like GHS'],
    [`12,B-1,1.00,GHS,${AT}`, 'uuid is malformed'],
    [`,,1.00,GHS,${AT}`, 'a uuid or a bank_reference is required'],
  ])('a statement with the row %s is refused: %s', (fields, message) => {
    expect(() => read(withRow(fields))).toThrow(MalformedStatement)
    expect(() => read(withRow(fields))).toThrow(`line 2: ${message}`)
  })

  test('the error of a malformed statement lists lines and no content', () => {
    const bad = Array.from({ length: 30 }, (_, n) => `${UUID},SECRET-${n},x,GHS,${AT}`).join('\n')
    const failing = () => read(`${HEADER}\n${UUID},B-1,1.00,GHS,${AT}\n\n${bad}\n`)
    expect(failing).toThrow(/^line 4: amount .*\nline 5: (?:.|\n)*\nand 10 more lines$/)
    expect(failing).toThrow(/^(?:(?!SECRET)[\s\S])*$/)
  })

  test('a statement that is not UTF-8 is refused', () => {
    expect(() => readStatement(Uint8Array.of(0x75, 0xff))).toThrow('the file is not UTF-8')
  })
})

const debit = (given: Partial<StatementDebit> = {}): StatementDebit => ({
  reference: 'DCS-20261121-ABC123',
  provider: 'demo',
  uuid: UUID,
  bank_reference: 'B-1',
  amount: '100.00',
  status: 'completed',
  completed_at: AT,
  ...given,
})

const NONE = { count: 0, sum: '0.00', examples: [] }
const compared = (rows: StatementRow[], debits: StatementDebit[]) =>
  compareStatement(date, rows, debits)

describe('rows', () => {
  const NEXT_DAY = '2026-11-22T00:00:01.000Z'
  const DIFFERENT = 'the amount is 90.00 here; the currency is GHS here'

  test.each([
    ['by its uuid', row({ bank_reference: null })],
    ['by its bank reference', row({ uuid: null })],
    ['by both', row()],
  ])('a row matches a completed debit %s', (_, one) => {
    const examples = [{ line: 2, reference: 'DCS-20261121-ABC123' }]
    expect(compared([one], [debit()])).toMatchObject({
      matched: { count: 1, sum: '100.00', examples },
      missing_here: NONE,
      missing_at_bank: NONE,
      differs: NONE,
    })
  })

  test.each([
    ['the amount is 90.00 here', debit({ amount: '90.00' }), row()],
    ['the currency is GHS here', debit(), row({ currency: 'USD' })],
    ['the debit is failed here', debit({ status: 'failed', completed_at: null }), row()],
    ['the debit is processing here', debit({ status: 'processing', completed_at: null }), row()],
    [`the debit was completed here at ${NEXT_DAY}`, debit({ completed_at: NEXT_DAY }), row()],
    ['the bank_reference is B-2 here', debit({ bank_reference: 'B-2' }), row()],
    [DIFFERENT, debit({ amount: '90.00' }), row({ currency: 'USD' })],
  ])('a row differs: %s', (reason, one, other) => {
    expect(compared([other], [one])).toMatchObject({
      matched: NONE,
      missing_here: NONE,
      missing_at_bank: NONE,
      differs: { count: 1, sum: '100.00', examples: [{ line: 2, reason }] },
    })
  })

  test('a row matches a debit that was reversed later', () => {
    expect(compared([row()], [debit({ status: 'reversed' })]).matched.count).toBe(1)
  })

  test('a row without a debit is missing here', () => {
    const rows = [
      row({ uuid: OTHER as never }),
      row({ uuid: null, bank_reference: 'B-9', line: 3 }),
    ]
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
    const reference = 'DCS-20261121-XYZ789'
    const debits = [debit(), debit({ uuid: OTHER, amount: '5.00', reference })]
    const rows = [row({ uuid: null, amount: 5_00 as never }), row({ uuid: null, line: 3 })]
    const examples = [{ reference }, { reference: 'DCS-20261121-ABC123' }]
    expect(compared(rows, debits)).toMatchObject({
      matched: { count: 2, sum: '105.00', examples },
      missing_at_bank: NONE,
    })
  })
})

describe('debits', () => {
  test('a completed debit without a row is missing at the bank', () => {
    const { missing_at_bank: missing } = compared([], [debit()])
    expect(missing).toEqual({ count: 1, sum: '100.00', examples: [debit()] })
  })

  test('a debit that failed or completed on another day needs no row', () => {
    const others = [
      debit({ status: 'failed', completed_at: null }),
      debit({ uuid: OTHER, completed_at: '2026-11-20T23:59:59.999Z' }),
    ]
    expect(compared([], others).missing_at_bank).toEqual(NONE)
  })
})

test('each group counts and sums all rows and has at most a hundred examples', () => {
  const rows = Array.from({ length: 250 }, (_, n) =>
    row({ uuid: null, bank_reference: `B-${n}`, amount: 99_999_999_99 as never, line: n + 2 }),
  )
  const { missing_here: missing } = compared(rows, [])
  expect(missing).toMatchObject({ count: 250, sum: '24999999997.50' })
  expect(missing.examples).toHaveLength(100)
})
