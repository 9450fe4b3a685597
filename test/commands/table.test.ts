import { expect, test } from 'vitest'
import { Mismatch } from '../../commands/expect.ts'
import { tableOf } from '../../commands/terminal/table.ts'
import type { Day } from '../../shared/domain/time.ts'
import { dayView } from '../../shared/views/operator/day.ts'

test('a list becomes a row per item, with the columns that fit', () => {
  const rows = [
    {
      id: 'dt_1',
      uuid: 'u1',
      reference: 'DCS-1',
      status: 'completed',
      nested: { a: 1 },
      narration: 'x'.repeat(60),
    },
    { id: 'dt_2', uuid: 'u2', reference: 'DCS-2', status: null, nested: { a: 2 }, narration: 'y' },
  ]
  expect(tableOf(rows, 30)).toBe(
    [
      'reference  status',
      'DCS-1      completed',
      'DCS-2      -',
      'not shown: id, uuid, nested, narration (--output json)',
    ].join('\n'),
  )
  expect(tableOf(rows, 80).split('\n')[1]).toBe(`DCS-1      completed  ${'x'.repeat(39)}…`)
  expect(tableOf([], 80)).toBe('none')
  expect(tableOf([], 80, true)).toBe('none so far: continue with --cursor')
  const wide = [{ reference: 'DCS-1', narration: 'x'.repeat(40), status: 'completed' }]
  expect(tableOf(wide, 30)).toBe(
    'reference  status\nDCS-1      completed\nnot shown: narration (--output json)',
  )
  // A delivery has an id of its own.
  expect(tableOf([{ id: 7, reference: 'DCS-1' }], 80)).toBe('id  reference\n7   DCS-1')
})

test('a table and a check print no control characters of a bank or a receiver', () => {
  expect(new Mismatch('HTTP 404', 'HTTP 200 \u001b[31m').message).not.toContain('\u001b')
  const report = '\u001b]0;title\u0007\u001b[31m\nGCB\u009b2J \u202eno'
  const shown = ']0;title [31m GCB 2J no'
  expect(tableOf([{ report }], 80)).toBe(`report\n${shown}`)
  expect(tableOf({ report, others: [report], nested: { report: '\u009b' } }, 80)).toBe(
    `report  ${shown}\nothers  ${shown}\nnested  {"report":" "}`,
  )
})

test('a list shows its uuid last and a command in full, and a long member has lines of its own', () => {
  const command = 'operator exception show --reference DCS-20261121-ABC123'
  expect(tableOf([{ uuid: 'u1', command, net: '5.00' }], 65)).toBe(
    `${'command'.padEnd(command.length)}  net\n${command}  5.00\nnot shown: uuid (--output json)`,
  )
  const approval = { id: '20261122T044107123Z-3f2a9c1e', options: { reason: 'x' } }
  expect(tableOf({ approval }, 60)).toBe(
    `approval\n  id       ${approval.id}\n  options  {"reason":"x"}`,
  )
})

test('the closing of a day shows its next commands on 80 columns', () => {
  const subject = 'DCS-20261121-ABC123'
  const command = `operator exception show --reference ${subject}`
  const matter = { check: 'exception', subject, reason: 'x'.repeat(60), command } as const
  const closing = { date: '2026-11-21' as Day, open: [matter], banks: [], owing: [] }
  expect(tableOf(dayView(closing), 80)).toContain(`\n  exception  ${command}\n`)
})

test('an object becomes a line per member, and lists in it become tables', () => {
  const debit = {
    reference: 'DCS-1',
    bank: { name: 'GCB' },
    history: [{ type: 'created', by: 'x' }],
  }
  expect(tableOf(debit, 80)).toBe(
    [
      'reference  DCS-1',
      'bank       {"name":"GCB"}',
      'history',
      '  type     by',
      '  created  x',
    ].join('\n'),
  )
})
