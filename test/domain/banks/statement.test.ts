import { expect, test, vi } from 'vitest'
import { type Movement, statementGroups } from '../../../shared/domain/banks/statement.ts'
import type { StatementRow } from '../../../shared/domain/banks/statement-row.ts'
import type { Day } from '../../../shared/domain/time.ts'
import { MalformedFile } from '../../../shared/operator/csv-file.ts'
import { newComparison } from '../../../shared/operator/statement-comparison.ts'
import { type AskStatement, compareFile } from '../../../shared/operator/statement-file.ts'
import { readStatement } from '../../../shared/operator/statement-rows.ts'

const UUID = '3f2b8c1e-5d4a-4c3b-9a2f-0e1d2c3b4a59'
const OTHER = '8a5c1d1e-0d7b-4f4e-9d3b-2f1e0d9c8b7a'
const AT = '2026-11-21T10:01:00.000Z'
const HEADER = 'uuid,bank_reference,amount,currency,completed_at'
const SHORT_HEADER = 'bank_reference,amount,currency,completed_at'
const FIELDS = `${UUID},B-1,100.00,GHS,${AT}`

/** Reads parts of seven bytes, which cut lines and characters. */
const read = (text: string) => {
  const bytes = Buffer.from(text)
  const parts = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, n) =>
    bytes.subarray(7 * n, 7 * n + 7),
  )
  return Array.fromAsync(readStatement(parts))
}

const row = (given: Partial<Record<keyof StatementRow, unknown>> = {}): StatementRow =>
  ({
    line: 2,
    kind: 'debit',
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
  ['with quoted fields', `"uuid",${SHORT_HEADER}\n"${UUID}"," B-1 ","100.00","GHS","${AT}"\n`],
  ['with empty lines at its end', `${HEADER}\n${FIELDS}\n\n\n`],
  ['with an upper-case uuid', `${HEADER}\n${UUID.toUpperCase()},B-1,100.00,GHS,${AT}\n`],
])('a statement is parsed %s', async (_, text) => {
  expect(await read(text)).toEqual([row()])
})

test.each([
  ['2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['2026-11-21 10:01', AT],
  ['2026-11-21 10:01:00', AT],
  ['2026-11-21T12:01:00+02:00', AT],
  ['2026-11-22T00:30:00+01:00', '2026-11-21T23:30:00.000Z'],
])('a statement may write times as %s, in UTC without an offset', async (written, completed_at) => {
  const text = `${SHORT_HEADER}\nB-1,100.00,GHS,${written}\n`
  expect(await read(text)).toEqual([row({ uuid: null, completed_at })])
})

test('a file edited by hand has lines with several ends', async () => {
  const lines = [HEADER, `${FIELDS}\r`, FIELDS, `${FIELDS}\r`, '']
  const mixed = [lines.join('\n'), lines.join('\n').replace('\n', '\r\n')]
  for (const text of mixed) {
    expect(await read(text)).toEqual([row(), row({ line: 3 }), row({ line: 4 })])
  }
})

test('a quoted field may contain commas, quotes and line breaks', async () => {
  const text = `${SHORT_HEADER}\n"B,""1""\n2",100.00,GHS,${AT}\nB-2,5.00,GHS,${AT}\n`
  expect(await read(text)).toEqual([
    row({ uuid: null, bank_reference: 'B,"1"\n2' }),
    row({ uuid: null, bank_reference: 'B-2', amount: 5_00, line: 4 }),
  ])
})

test('a row keeps the number of its line below a quoted field with line breaks of two characters', async () => {
  const rows = await read(`${SHORT_HEADER}\r\n"B\r\n1",1.00,GHS,${AT}\r\nB-2,1.00,GHS,${AT}`)
  expect(rows.map(({ line }) => line)).toEqual([2, 4])
})

test('a long file may end its lines with carriage returns', async () => {
  const rows = Array.from({ length: 4_000 }, () => FIELDS)
  expect(await read([HEADER, ...rows, ''].join('\r'))).toHaveLength(4_000)
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
  [`${HEADER}\n${UUID},B-1,"100,00",GHS,${AT}`, 'line 2: amount has a decimal comma'],
  [`${HEADER}\n${UUID},B-1,"1.234,00",GHS,${AT}`, 'line 2: amount has a decimal comma'],
  [`${HEADER}\n${UUID},B-1,1.00,GHS,11/23/2026`, 'line 2: completed_at must be day/month/year'],
  [`${HEADER},kind\n${UUID},B-1,1.00,GHS,${AT},fee`, 'line 2: '],
  [`${HEADER}\n${UUID},B-1,1.00,GHS,21.11.2026`, 'line 2: completed_at must be like 2026'],
  [`${HEADER}\n${UUID},B-1,1.00,GHS,2026-02-30`, 'line 2: completed_at must be a time of the'],
  [`${HEADER}\n${UUID},B-1,1.00,cedi,${AT}`, 'line 2: currency must be like GHS'],
  [`${HEADER}\n12,B-1,1.00,GHS,${AT}`, 'line 2: uuid is malformed'],
  [`${HEADER}\n,${'B'.repeat(256)},1.00,GHS,${AT}`, 'line 2: bank_reference is malformed'],
  [`${HEADER},outgoing\n,B-1,x,GHS,${AT},y`, /^line 2: amount must be like 100.00 or 1,234.00$/],
  [`${HEADER}\n,,1.00,GHS,${AT}`, 'line 2: a uuid or a bank_reference is required'],
])('the statement %j is refused: %s', async (text, message) => {
  await expect(read(text)).rejects.toThrow(MalformedFile)
  await expect(read(text)).rejects.toThrow(message)
})

test('a first row without a time is refused', async () => {
  vi.resetModules()
  const fresh = await import('../../../shared/operator/statement-rows.ts')
  const rows = Array.fromAsync(fresh.readStatement([Buffer.from(`${HEADER}\n,B-1,1.00,GHS,\n`)]))
  await expect(rows).rejects.toThrow('line 2: completed_at must be like 2026')
})

test('the error of a malformed statement lists lines and no content', async () => {
  const bad = Array.from({ length: 30 }, (_, n) => `${UUID},SECRET-${n},x,GHS,${AT}`).join('\n')
  const failing = () => read(`${HEADER}\n${FIELDS}\n\n${bad}\n`)
  await expect(failing()).rejects.toThrow(
    /^line 4: amount .*\nline 5: (?:.|\n)*\nand 10 more lines$/,
  )
  await expect(failing()).rejects.toThrow(/^(?:(?!SECRET)[\s\S])*$/)
})

test.each([
  [0x75, 0xff],
  [0x75, 0xc3],
])('a statement with the bytes %i %i, not UTF-8, is refused', async (...bytes) => {
  const rows = Array.fromAsync(readStatement([Uint8Array.from(bytes)]))
  await expect(rows).rejects.toThrow('the file is not UTF-8')
})

test('a statement of any size is read at most 30,000 rows ahead of their comparison', async () => {
  let [read, compared, ahead] = [0, 0, 0]
  function* file() {
    yield Buffer.from(`${HEADER}\n`)
    for (; read < 60_000; read += 1_000) {
      const uuids = Array.from({ length: 1_000 }, (_, n) => String(read + n).padStart(12, '0'))
      yield Buffer.from(uuids.map((n) => `00000000-0000-4000-8000-${n},,1.00,GHS,${AT}\n`).join(''))
    }
  }
  const { report } = await compareFile({ file: file(), date: '2026-11-21' as Day }, (async (
    request,
  ) => {
    ahead = Math.max(ahead, read - compared)
    if ('uuids' in request) compared += request.uuids.length
    return { debits: [], outgoing: [], next: null }
  }) as AskStatement)
  expect([report.missing_here.count, report.missing_here.sum]).toEqual([60_000, '60000.00'])
  expect(ahead).toBeLessThanOrEqual(30_000)
})

test('a fault while a file is read is thrown, not reported as a malformed file', async () => {
  const fault = new Error('EIO: i/o error, read')
  async function* parts() {
    yield Buffer.from(`${HEADER}\n${`${FIELDS}\n`.repeat(400)}`)
    throw fault
  }
  await expect(Array.fromAsync(readStatement(parts()))).rejects.toBe(fault)
})

test.each([
  ['', '"'],
  ['', ','],
  ['"', '\n'],
])(
  'a statement of many megabytes that begins with %j and repeats %j is refused early',
  async (first, character) => {
    let read = 0
    function* parts() {
      yield Buffer.from(first)
      for (; read < 1_000; read += 1) yield Buffer.alloc(64 * 1024, character)
    }
    const rows = Array.fromAsync(readStatement(parts()))
    await expect(rows).rejects.toThrow('a record is too long, or its quotes are unclosed')
    expect(read).toBeLessThan(20)
  },
)

const reference = 'DCS-20261121-ABC123'
const debit = (given: Partial<Movement> = {}): Movement => ({
  kind: 'debit',
  reference,
  provider: 'demo',
  uuid: UUID,
  bank_reference: 'B-1',
  amount: '100.00',
  status: 'completed',
  completed_at: AT,
  ...given,
})

test('a row with a uuid of another version is missing here, and its uuid is not requested', async () => {
  const requested: unknown[] = []
  const ask = (async (request) => {
    if ('uuids' in request) requested.push(...request.uuids)
    return { debits: [], outgoing: [], next: null }
  }) as AskStatement
  const ofBank = '0190a3c4-5d4a-7c3b-9a2f-0e1d2c3b4a59'
  const lines = [HEADER, FIELDS, FIELDS.replace(UUID, ofBank), '']
  const file = [Buffer.from(lines.join('\n'))]
  const { report } = await compareFile({ file, date: '2026-11-21' as Day }, ask)
  expect(report.missing_here.count).toBe(2)
  expect(requested).toEqual([UUID])
})

test('a day of several pages is compared with the debits of each', async () => {
  const pages = [debit({ uuid: OTHER }), debit({ uuid: OTHER }), debit()]
  const cursors: (object | null)[] = []
  const ask = (async (request) => {
    if (!('cursor' in request)) return { debits: [], outgoing: [], next: null }
    cursors.push(request.cursor)
    const next = cursors.length < pages.length ? { after: cursors.length } : null
    return { debits: [pages[cursors.length - 1]], next }
  }) as AskStatement
  const file = [Buffer.from(`${HEADER}\n${FIELDS}\n`)]
  const { report } = await compareFile({ file, date: '2026-11-21' as Day }, ask)
  expect([report.matched.count, cursors]).toEqual([1, [null, { after: 1 }, { after: 2 }]])
})

test('a row of a debit that is lost here never takes another debit by a shared bank reference', async () => {
  const made = debit({ uuid: OTHER, reference: OTHER_REFERENCE })
  const ask = (async (request) => ({
    debits: 'cursor' in request ? [made] : [],
    ...('uuids' in request ? { absent: request.uuids } : {}),
    ...{ outgoing: [], next: null },
  })) as AskStatement
  const compare = async (...rows: string[]) => {
    const file = [Buffer.from([HEADER, ...rows, ''].join('\n'))]
    const { report } = await compareFile({ file, date: '2026-11-21' as Day }, ask)
    return statementGroups.map((name) => report[name].count)
  }
  const own = FIELDS.replace(UUID, OTHER)
  expect([await compare(FIELDS, own), await compare(FIELDS)]).toEqual([
    [1, 1, 0, 0],
    [0, 1, 1, 0],
  ])
})

test('a statement without rows is that of a day without movements', async () => {
  const ask = (debits: Movement[]) =>
    (async (request) => ({
      debits: 'cursor' in request ? debits : [],
      ...{ outgoing: [], next: null },
    })) as AskStatement
  const compare = async (debits: Movement[], rows = '') => {
    const file = [Buffer.from(`${HEADER}\n${rows}`)]
    const { report } = await compareFile({ file, date: '2026-11-21' as Day }, ask(debits))
    return report.missing_at_bank.count
  }
  expect(await compare([])).toBe(0)
  expect(await compare([debit()])).toBe(1)
  const otherDay = `${UUID},B-1,100.00,GHS,2026-11-22\n`
  await expect(compare([], otherDay)).rejects.toThrow('no row has completed_at on 2026-11-21')
})

const OTHER_REFERENCE = 'DCS-20261121-XYZ789'
const NEXT_DAY = '2026-11-22T00:00:01.000Z'
const failed = debit({ status: 'failed', completed_at: null })
const cheap = debit({ uuid: OTHER, amount: '5.00', reference: OTHER_REFERENCE })
const earlier = debit({ uuid: OTHER, completed_at: '2026-11-20T23:59:59.999Z' })
const byBank = row({ uuid: null })
const compared = (rows: StatementRow[], debits: Movement[]) => {
  const comparison = newComparison('2026-11-21' as Day)
  for (const one of debits) comparison.add(one)
  for (const one of rows) comparison.addRow(one)
  return comparison.end()
}

const cheaper = debit({ amount: '90.00' })
const dollars = row({ currency: 'USD' })
const later = debit({ completed_at: NEXT_DAY })
const reportedLater = debit({ status: 'failed', completed_at: NEXT_DAY })
const reportedNow = debit({ status: 'failed' })
const retried = debit({ kind: 'payout', uuid: OTHER, earlier: [UUID], bank_reference: null })
const left = row({ kind: 'outgoing', bank_reference: null })
const PAID_TWICE = 'line 2 names the same payout'
const renamed = debit({ bank_reference: 'B-2' })
const AMOUNT = 'the amount is 90.00 here'
const CHEAP = 'the amount is 5.00 here'
const TWICE = 'line 2 names the same debit'
const CURRENCY = 'the currency is GHS here'
const DAY = `the debit was completed here at ${NEXT_DAY}`
// Matched, missing here, missing at the bank, and different rows.
const [MATCH, DIFFERENCE] = ['1=100.00 0 0 0', '0 0 0 1=100.00']
const UNKNOWN = '0 1=100.00 1=100.00 0'

test.each<[string, StatementRow[], Movement[], string, string?]>([
  ['a row by its uuid', [row({ bank_reference: null })], [debit()], MATCH],
  ['a row by its bank reference', [byBank], [debit()], MATCH],
  ['a row by both', [row()], [debit()], MATCH],
  ['a debit that was reversed later', [row()], [debit({ status: 'reversed' })], MATCH],
  ['a late completion that was reported later', [row()], [reportedLater], MATCH],
  ['a late completion that was reported on the day', [row()], [reportedNow], MATCH],
  ['late completions without a row', [], [reportedLater, reportedNow], '0 0 0 0'],
  ["a bank's own uuid and a known bank reference", [row({ uuid: OTHER })], [debit()], MATCH],
  ["a bank's own uuid and another amount", [row({ uuid: OTHER })], [cheaper], DIFFERENCE, AMOUNT],
  [
    "another debit's uuid",
    [row({ uuid: OTHER })],
    [debit(), cheap],
    '0 0 1=100.00 1=100.00',
    CHEAP,
  ],
  [
    "a bank's own uuid and reference",
    [row({ uuid: OTHER, bank_reference: 'B-9' })],
    [debit()],
    UNKNOWN,
  ],
  ['a padded reference', [row({ uuid: null })], [debit({ bank_reference: 'B-1  ' })], MATCH],
  ["a bank's own uuid alone", [row({ uuid: OTHER, bank_reference: null })], [debit()], UNKNOWN],
  [
    "a bank's own uuid after ours",
    [row(), row({ uuid: OTHER })],
    [debit()],
    '1=100.00 0 0 1=100.00',
    TWICE,
  ],
  [
    "an outgoing row with a debit's bank reference",
    [row({ uuid: OTHER, kind: 'outgoing' })],
    [debit()],
    UNKNOWN,
  ],
  ['rows without a debit', [row({ uuid: OTHER }), byBank], [], '0 2=200.00 0 0'],
  ['debits without a row', [], [debit(), failed, earlier], '0 0 1=100.00 0'],
  ['another amount', [row()], [cheaper], DIFFERENCE, AMOUNT],
  ['another currency', [dollars], [debit()], DIFFERENCE, CURRENCY],
  ['two differences', [dollars], [cheaper], DIFFERENCE, `${AMOUNT}; ${CURRENCY}`],
  ['a failed debit', [row()], [failed], DIFFERENCE, 'the debit is failed here'],
  ['the uuid of an earlier attempt', [left], [retried], MATCH],
  [
    'both uuids of a payout',
    [left, { ...left, ...row({ uuid: OTHER, kind: 'outgoing' }) }],
    [retried],
    '1=100.00 0 0 1=100.00',
    PAID_TWICE,
  ],
  ['another day', [row()], [later], DIFFERENCE, DAY],
  ['another reference', [row()], [renamed], DIFFERENCE, 'the bank_reference is B-2 here'],
  ['two rows', [row(), byBank], [debit()], '1=100.00 0 0 1=100.00', TWICE],
])('a statement with %s is compared', (_, rows, debits, expected, reason) => {
  const { matched, missing_here, missing_at_bank, differs } = compared(rows, debits)
  const groups = [matched, missing_here, missing_at_bank, differs]
  const shown = groups.map(({ count, sum, examples }) => {
    expect(examples).toHaveLength(count)
    return count === 0 ? '0' : `${count}=${sum}`
  })
  expect([shown.join(' '), differs.examples.at(-1)?.reason]).toEqual([expected, reason])
})

test("a debit's uuid wins over a bank reference, also in a row of money that left", async () => {
  const refund = debit({ kind: 'refund' })
  const ask = (async (request) => ({
    debits: 'uuids' in request ? [debit({ uuid: OTHER, reference: OTHER_REFERENCE })] : [],
    ...{ outgoing: 'outgoing' in request ? [refund] : [], next: null },
  })) as AskStatement
  const file = [Buffer.from(`${HEADER}\n${OTHER},B-1,-100.00,GHS,${AT}\n`)]
  const { report } = await compareFile({ file, date: '2026-11-21' as Day }, ask)
  const reason = 'it is a debit here'
  expect(report.differs.examples).toMatchObject([{ reference: OTHER_REFERENCE, reason }])
  expect([report.matched.count, report.missing_at_bank.count]).toEqual([0, 1])
})

test('a statement names at most 5,000 movements of later days, and further rows of them differ', () => {
  const comparison = newComparison('2026-11-21' as Day)
  const uuids = Array.from({ length: 5_001 }, (_, n) => `00000000-0000-4000-8000-${n}`)
  for (const uuid of uuids) comparison.add({ ...later, uuid, reference: uuid, begun_at: AT })
  for (const uuid of uuids) comparison.addRow(row({ uuid }))
  const { matched, differs } = comparison.end()
  expect([matched.count, differs.count, differs.examples[0]?.reason]).toEqual([5_000, 1, DAY])
  expect(comparison.ahead()).toEqual(uuids.slice(0, 5_000))
})

test('a shared bank reference matches the debit with the same amount', () => {
  const { matched } = compared([row({ uuid: null, amount: 5_00 }), byBank], [debit(), cheap])
  expect(matched.examples).toMatchObject([{ reference: OTHER_REFERENCE }, { reference }])
})
