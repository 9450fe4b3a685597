import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  erasableFrom,
  eraseDebit,
  eraseRefund,
  openWork,
} from '../../shared/domain/debits/erasure.ts'
import { failRefund, retryRefund, reversalRefund } from '../../shared/domain/debits/refund.ts'
import { erasedFields, personalData } from '../../shared/domain/personal-data.ts'
import { at, failed, reversed } from './debits/one-debit.ts'

/** The table of personal fields, which new fields and items must enter. */

/** Items without text about a customer; some have keyed hashes. */
const WITHOUT = [
  'Reference claim, Day total, Unknown numbers, Provider, Webhook, Webhook health, Recovery',
  'Feed page, Credential, Bank, Connector settings, Bank health, Waiting debit, Gate, Build',
  'Funding, Compared statement, Calendar, Cash, Ledger day, Paged ledger day, Ledger page',
  'Reconciliation, Reconciled providers, Reconciliation part, Sweep, Sweep page, Restore',
  'Approval, Bulk part, Bulk outcome, Change, Hash key, Missed account, Rate window',
  'Later erasure, Access',
].flatMap((names) => names.split(', '))

const page = (name: string): string => readFileSync(`docs/${name}.md`, 'utf8')

test('each item of the table has a row of personal data, or is listed as an item without', () => {
  const [table = ''] = /^\| Item \|.*?\n\n/ms.exec(page('table')) ?? []
  const items = [...table.matchAll(/^\| ([A-Z][a-z ]+) \| `[A-Z]/gm)].map(([, name]) => name)
  const personal = Object.values(personalData).flatMap(({ items }): readonly string[] => items)
  expect(items.length).toBeGreaterThan(40)
  expect(items.toSorted()).toEqual([...new Set([...personal, ...WITHOUT])].toSorted())
})

test('the page docs/compliance.md shows the personal fields of each item and their lives', () => {
  const rows = Object.values(personalData)
    .filter(({ items }) => items.length > 0)
    .map(({ items, replies, life, fields }) => {
      const named = (fate: string) =>
        Object.entries(fields)
          .filter(([, own]) => own === fate)
          .map(([name]) => `\`${name}\``)
          .join(', ')
      return `| ${items.join(', ')} | ${named('erased')} | ${named('kept')} | ${replies} | ${life} |`
    })
  const text = page('compliance')
  expect(rows.filter((row) => !text.includes(row))).toEqual([])
})

test('an erased debit keeps its amounts, times and references, and the messages of the service', () => {
  const { facts, history, status, version } = eraseDebit(failed, at('12:00:00.000'))
  expect(facts).toMatchObject({ phone: null, narration: null, metadata: {} })
  expect(facts.amount).toBe(failed.facts.amount)
  expect([status, version]).toEqual([failed.status, failed.version + 1])
  expect(history.map(({ changes }) => changes)).toEqual([
    ...[{}, {}, { bankReference: 'GCB-77' }],
    { errorCode: 'insufficient_funds' },
  ])
  const own = { ...failed.history[3], by: 'job:sweep' } as (typeof history)[number]
  const timedOut = { ...failed, history: [...failed.history.slice(0, 3), own] }
  expect(eraseDebit(timedOut, at('12:00:00.000')).history[3]?.changes.errorMessage).toBe(
    'Insufficient funds',
  )
})

test('the age of a debit from which it can be erased counts from its last event', () => {
  expect(erasableFrom(reversed, 10)).toEqual(new Date('2025-01-12T11:00:00Z'))
})

test('an erased refund has neither account nor texts', () => {
  const refund = eraseRefund(reversalRefund(reversed))
  for (const name of erasedFields('refund')) expect([null, []]).toContainEqual(refund[name])
  expect(refund.amount).toBe(reversed.facts.amount)
})

test('an erased refund keeps that its earlier attempts failed, without the texts of the bank', () => {
  const rejected = failRefund(reversalRefund(reversed), {
    failure: 'No account',
    at: at('12:00:00.000'),
  })
  const { uuid, failedAt } = rejected
  expect(eraseRefund(retryRefund(rejected)).failed).toEqual([{ uuid, failedAt, failure: '' }])
})

const open = { ...reversalRefund(reversed), status: 'processing' } as const

test.each([
  ['a processing debit', 'processing', { ...failed, status: 'processing' } as const],
  ['a pending debit', 'pending', { ...failed, status: 'pending' } as const],
  ['a failed debit with an open refund', 'with a processing refund', failed, open],
  ['a failed debit whose refund has ended', undefined, failed, { ...open, status: 'completed' }],
] as const)('the open work of %s, for which an erasure waits, is %s', (...row) => {
  const [, expected, debit, refund] = row
  expect(openWork(debit, { refund, exceptions: [] })).toBe(expected)
})
