import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { Movement } from '../../../shared/domain/banks/statement.ts'
import {
  StatementColumns,
  type StatementFormat,
} from '../../../shared/domain/banks/statement-format.ts'
import type { MovementKind, StatementRow } from '../../../shared/domain/banks/statement-row.ts'
import type { Day } from '../../../shared/domain/time.ts'
import { newComparison } from '../../../shared/operator/statement-comparison.ts'
import { type Coverage, readStatement } from '../../../shared/operator/statement-rows.ts'

/** Statements as banks write them: own columns, encodings, signs and camt.053. */

const MAPPING = 'bank_reference=Ref No,amount=Credit Amt,date=Value Date'
const columns = v.parse(StatementColumns, MAPPING)

const read = async (
  file: string | Uint8Array,
  format: Partial<StatementFormat> = {},
): Promise<{ rows: StatementRow[]; covers: readonly MovementKind[] }> => {
  const bytes = Buffer.from(file as string)
  const parts = Array.from({ length: Math.ceil(bytes.length / 5) }, (_, n) =>
    bytes.subarray(5 * n, 5 * n + 5),
  )
  const coverage: Coverage = { kinds: ['debit'] }
  const load = async () => ({ columns: null, encoding: 'utf-8', ...format }) as const
  const rows = await Array.fromAsync(readStatement(parts, load, coverage))
  return { rows, covers: coverage.kinds }
}
const briefly = ({ rows }: Awaited<ReturnType<typeof read>>) =>
  rows.map(
    (row) => `${row.kind} ${row.bank_reference} ${row.amount} ${row.completed_at.slice(0, 10)}`,
  )

test('a bank has the columns that an operator names', () => {
  expect(columns).toEqual({
    ...{ bank_reference: 'Ref No', amount: 'Credit Amt', completed_at: 'Value Date' },
  })
})

test.each([
  ...['amount=A,date=D', 'uuid=U,date=D', 'uuid=U,amount=A', 'x=U', 'uuid', 'uuid=,amount=A'],
  ...['bank_reference=A,amount=A,date=D', 'uuid=U,amount=In,outgoing=IN,date=D'],
])('the columns %j are refused', (text) =>
  expect(v.safeParse(StatementColumns, text).success).toBe(false),
)

const TEXT =
  'Value Date;Ref No;Credit Amt;Branch\n23/11/2026;B-1;1,234.50;Osu\n3/11/2026;B-2;7.00;é\n'
const ROWS = ['debit B-1 123450 2026-11-23', 'debit B-2 700 2026-11-03']

test.each<[string, string | Uint8Array, Partial<StatementFormat>?]>([
  ['UTF-8', TEXT],
  ['UTF-8 with a byte order mark', `\uFEFF${TEXT}`],
  ['UTF-16LE with a byte order mark', Buffer.from(`\uFEFF${TEXT}`, 'utf16le')],
  ['UTF-16BE with a byte order mark', Buffer.from(`\uFEFF${TEXT}`, 'utf16le').swap16()],
  ['UTF-16LE', Buffer.from(TEXT, 'utf16le'), { encoding: 'utf-16le' }],
  ['Windows-1252', Buffer.from(TEXT, 'latin1'), { encoding: 'windows-1252' }],
  ['tabs', TEXT.replaceAll(';', '\t')],
  ['UTF-8 below lines of a title', `GCB Bank\nAccount, branch, period\n\n${TEXT}`],
  ['UTF-8 below a title that has the name of a column', `Value Date: 30/11/2026\n${TEXT}`],
  ['UTF-8 below a title with quotes', `Account "Main" of "Acme\n${TEXT}`],
  ['commas and quotes', TEXT.replaceAll('1,234.50', '"1,234.50"').replaceAll(';', ',')],
])('a file with the columns of its bank in %s is read', async (_, text, format = {}) => {
  expect(briefly(await read(text, { columns, ...format }))).toEqual(ROWS)
})

const OWN = 'bank_reference,amount,currency,completed_at'

test.each([
  ['amount=net_amount,date=completed_at', `${OWN},net_amount\nB-1,9.00,GHS,2026-11-23,7.00`],
  [
    'amount=credit_amount,date=completed_at',
    'bank_reference,credit_amount,completed_at,currency\nB-1,7.00,2026-11-23,GHS',
  ],
  ['amount=credit_amount,date=day', `${OWN}\nB-1,7.00,GHS,2026-11-23`],
])(
  'the columns %s of a bank come before ours, which a file without them can have',
  async (names, text) => {
    const own = v.parse(StatementColumns, `bank_reference=bank_reference,${names}`)
    expect(briefly(await read(text, { columns: own }))).toEqual(['debit B-1 700 2026-11-23'])
  },
)

test('a cell of the header can have line breaks', async () => {
  const text = 'Account "Main"\nRef No;"Value\nDay";Credit Amt;Value Date\nB-1;x;7.00;23/11/2026'
  expect(briefly(await read(text, { columns }))).toEqual(['debit B-1 700 2026-11-23'])
})

test('the encoding of a bank is also that of a file with our columns', async () => {
  const text = `${OWN},note\nB-1,7.00,GHS,2026-11-23,caf\xe9`
  const encoding = 'windows-1252'
  const rows = briefly(await read(Buffer.from(text, 'latin1'), { encoding }))
  expect(rows).toEqual(['debit B-1 700 2026-11-23'])
})

test('a file without a column of its bank is refused by the columns that are missing', async () => {
  const titles = 'Title\n'.repeat(60)
  for (const file of ['Title\n', titles, `${titles}${TEXT}`]) {
    await expect(read(file, { columns })).rejects.toThrow(/empty|column Ref No is missing/)
  }
})

test.each([
  ['1,234.50', 123450],
  ['1 234.50', 123450],
  ["1'234'567.50", 123456750],
  ['12,345,678.90', 1234567890],
  ['+5.00', 500],
])('the amount %s is read', async (amount, expected) => {
  const { rows } = await read(`Ref No;Credit Amt;Value Date\nB;${amount};2026-11-23`, { columns })
  expect(rows[0]?.amount).toBe(expected)
})

test.each([
  ['1.234,50', 'decimal comma'],
  ['7,5', 'decimal comma'],
  ['1,23.00', 'must be like'],
  ["1,234'567.00", 'must be like'],
  ['1,234', 'must be like'],
])('a file with the amount %s is refused: %s', async (amount, reason) => {
  const file = `Ref No;Credit Amt;Value Date\nB;5.00;2026-11-23\nB;${amount};2026-11-23`
  await expect(read(file, { columns })).rejects.toThrow(new RegExp(`line 3: amount .*${reason}`))
})

test.each(['11/23/2026', '31/02/2026', '0/1/2026'])(
  'a file with the date %s, which is not day/month/year, is refused',
  async (date) => {
    const file = `Ref No;Credit Amt;Value Date\nB;5.00;23/11/2026\nB;5.00;${date}`
    await expect(read(file, { columns })).rejects.toThrow('line 3: completed_at must be')
  },
)

test('a sign, a column or a kind says that money left, and the file then covers all kinds', async () => {
  const signed = await read('bank_reference,amount,currency,completed_at\nB,-5.00,GHS,2026-11-23')
  const own = { ...columns, outgoing: 'Debit Amt' }
  const columned = await read(
    'Ref No;Debit Amt;Credit Amt;Value Date\nB;5.00;;23/11/2026\nC;0.00;6.00;23/11/2026',
    { columns: own },
  )
  const negative = await read('Ref No;Debit Amt;Credit Amt;Value Date\nB;-5.00;;23/11/2026', {
    columns: own,
  })
  const named = await read(
    'bank_reference,amount,currency,completed_at,kind\nB,5.00,GHS,2026-11-23,Payout\nC,6.00,GHS,2026-11-23,',
  )
  expect([signed, negative, columned, named].map(briefly)).toEqual([
    ['outgoing B 500 2026-11-23'],
    ['outgoing B 500 2026-11-23'],
    ['outgoing B 500 2026-11-23', 'debit C 600 2026-11-23'],
    ['payout B 500 2026-11-23', 'debit C 600 2026-11-23'],
  ])
  expect([signed, negative, columned, named].map(({ covers }) => covers.length)).toEqual([
    3, 3, 3, 3,
  ])
  const both = 'Ref No;Debit Amt;Credit Amt;Value Date\nB;5.00;6.00;23/11/2026'
  await expect(read(both, { columns: own })).rejects.toThrow('one amount is required')
  expect((await read(TEXT, { columns })).covers).toEqual(['debit'])
})

const UUID = '3f2b8c1e-5d4a-4c3b-9a2f-0e1d2c3b4a59'
const entry = (side: string, more: string, status = '<Sts>BOOK</Sts>') =>
  `<Ntry><Amt Ccy="GHS">100.00</Amt><CdtDbtInd>${side}</CdtDbtInd>${status}
  <BookgDt><Dt>2026-11-23</Dt></BookgDt><AcctSvcrRef>A-1</AcctSvcrRef>${more}</Ntry>`
const transaction = (refs: string, amount = '') => `<TxDtls><Refs>${refs}</Refs>${amount}</TxDtls>`
const details = (...all: string[]) => `<NtryDtls>${all.join('')}</NtryDtls>`
const camt = (...entries: string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>
${entries.join('\n')}</Stmt></BkToCstmrStmt></Document>`

test('a camt.053 document is read by its booked entries and the transactions of a batch', async () => {
  const end = (id: string) => `<EndToEndId>${id}</EndToEndId>`
  const amount = (text: string) => `<Amt Ccy="GHS">${text}</Amt>`
  const file = camt(
    entry('CRDT', ''),
    entry('DBIT', details(transaction(`${end('STL-1')}`))),
    entry('CRDT', details(transaction(end(UUID.replaceAll('-', ''))))),
    entry('CRDT', details(transaction(`${end('NOTPROVIDED')}<AcctSvcrRef>T-1</AcctSvcrRef>`))),
    entry('CRDT', '', '<Sts><Cd>PDNG</Cd></Sts>'),
    entry('CRDT', details(transaction(end('X-0'))), '<Sts><Cd>PDNG</Cd></Sts>'),
    entry('CRDT', '')
      .replace('A-1', '<![CDATA[A-]]>2')
      .replace('100.00', '33.33000')
      .replace('2026-11-23', '2026-11-24Z'),
    entry(
      'CRDT',
      details(transaction(end('X-1'), amount('60')), transaction(end('X-2'), amount('40.5'))),
      '<Sts><Cd>BOOK</Cd></Sts>',
    ),
  )
  const { rows, covers } = await read(file)
  expect(briefly({ rows, covers })).toEqual([
    'debit A-1 10000 2026-11-23',
    'outgoing STL-1 10000 2026-11-23',
    'debit A-1 10000 2026-11-23',
    'debit T-1 10000 2026-11-23',
    'debit A-2 3333 2026-11-24',
    'debit X-1 6000 2026-11-23',
    'debit X-2 4050 2026-11-23',
  ])
  expect([rows[2]?.uuid, rows[0]?.line, covers.length]).toEqual([UUID, 3, 3])
})

test.each([
  ['a document type', `<!DOCTYPE d [<!ENTITY x "y">]>${camt()}`, 'document type'],
  ['an entity', camt(entry('CRDT', '<NtryRef>&x;</NtryRef>')), 'well-formed'],
  ['an open element', camt().slice(0, -3), 'well-formed'],
  ['fifty-one levels', '<a>'.repeat(51), 'nested too deeply'],
  ['a text of 10,001 characters', `<a>${'x'.repeat(10_001)}</a>`, 'a text is too long'],
  ['another document', '<Document><Other/></Document>', 'not a camt.053'],
  ['an entry without an amount', camt('<Ntry><Sts>BOOK</Sts></Ntry>'), 'completed_at must be'],
])('a camt.053 document with %s is refused', async (_, text, reason) => {
  await expect(read(text)).rejects.toThrow(reason)
})

test.each(['ISO-8859-1', 'Windows-1252'])('a camt.053 document in %s is read', async (encoding) => {
  const file = camt(entry('CRDT', '<AddtlNtryInf>Café</AddtlNtryInf>')).replace('UTF-8', encoding)
  const statement = await read(Buffer.from(file, 'latin1'))
  expect(briefly(statement)).toEqual(['debit A-1 10000 2026-11-23'])
})

const movement = (
  kind: MovementKind,
  reference: string,
  more: Partial<Movement> = {},
): Movement => ({
  ...{ kind, reference, provider: 'demo', uuid: `uuid-${reference}`, bank_reference: null },
  ...{ amount: '100.00', status: 'completed', completed_at: '2026-11-23T10:00:00.000Z', ...more },
})
const row = (kind: StatementRow['kind'], reference: string, amount = 100_00): StatementRow =>
  ({
    ...{ kind, bank_reference: reference, amount, uuid: null, line: 1, currency: 'GHS' },
    completed_at: '2026-11-23T00:00:00.000Z',
  }) as StatementRow

test('each row and each movement ends in one of four groups, by reference, amount and kind', () => {
  const comparison = newComparison('2026-11-23' as Day)
  const shared = { bank_reference: 'S' }
  for (const one of [
    movement('debit', 'D-1', shared),
    movement('refund', 'R-1', { ...shared, uuid: 'refund' }),
    movement('payout', 'STL-1', { bank_reference: 'P-1' }),
    movement('payout', 'STL-2', { status: 'processing', completed_at: null }),
    movement('payout', 'STL-3'),
    movement('refund', 'R-2'),
  ]) {
    comparison.add(one)
  }
  comparison.addRow(row('outgoing', 'S'))
  comparison.addRow(row('debit', 'S'))
  comparison.addRow(row('payout', 'STL-1', 90_00))
  comparison.addRow(row('outgoing', 'STL-2'))
  comparison.addRow(row('refund', 'STL-3'))
  const { matched, missing_here, missing_at_bank, differs } = comparison.end()
  expect(matched.examples.map(({ reference }) => reference)).toEqual(['R-1', 'D-1'])
  expect(differs.examples.map(({ reason }) => reason)).toEqual([
    'the amount is 100.00 here',
    'the payout is processing here',
  ])
  expect(missing_here.examples).toMatchObject([{ bank_reference: 'STL-3', kind: 'refund' }])
  expect(missing_at_bank.examples.map(({ reference }) => reference)).toEqual(['STL-3', 'R-2'])
})

test.each([UUID, UUID.toUpperCase(), UUID.replaceAll('-', '')])(
  'an EndToEndId %s that is the bank reference of a debit names it',
  async (bank_reference) => {
    const end = transaction(`<EndToEndId>${bank_reference}</EndToEndId>`)
    const { rows } = await read(camt(entry('CRDT', details(end))))
    const comparison = newComparison('2026-11-23' as Day)
    comparison.add(movement('debit', 'D-1', { bank_reference }))
    for (const one of rows) comparison.addRow(one)
    expect(comparison.end().matched.examples).toMatchObject([{ reference: 'D-1' }])
  },
)

test.each([
  ['DCS-20261123-ABC123', 'debit', 'CRDT'],
  ['STL-20261123-ABC123', 'payout', 'DBIT'],
] as const)(
  'an EndToEndId %s names its %s, also next to a reference of the bank that its API did not give',
  async (reference, kind, side) => {
    for (const own of ['<AcctSvcrRef>T-1</AcctSvcrRef>', '<TxId>T-1</TxId>']) {
      const refs = transaction(`<EndToEndId>${reference}</EndToEndId>${own}`)
      const { rows } = await read(camt(entry(side, details(refs))))
      const comparison = newComparison('2026-11-23' as Day)
      comparison.add(movement(kind, reference, { bank_reference: 'P-1' }))
      for (const one of rows) comparison.addRow(one)
      expect(comparison.end().matched.examples).toMatchObject([{ reference }])
    }
  },
)

test.each(['FT-1', 'GCB-20261123-000123'])(
  'an EndToEndId in the form of our references leaves %s the bank reference of its debit',
  async (bank_reference) => {
    const refs = '<EndToEndId>GCB-20261123-000123</EndToEndId><AcctSvcrRef>FT-1</AcctSvcrRef>'
    const { rows } = await read(camt(entry('CRDT', details(transaction(refs)))))
    const comparison = newComparison('2026-11-23' as Day)
    comparison.add(movement('debit', 'D-1', { bank_reference }))
    for (const one of rows) comparison.addRow(one)
    expect(comparison.end().matched.examples).toMatchObject([
      { reference: 'D-1', bank_reference: 'FT-1' },
    ])
  },
)

test('a file of debits only misses no refund or payout', () => {
  const comparison = newComparison('2026-11-23' as Day)
  comparison.add(movement('refund', 'R-1'))
  expect(comparison.end(['debit']).missing_at_bank.count).toBe(0)
})
