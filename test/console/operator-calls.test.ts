import { expect, test } from 'vitest'
import { withSeparators } from '../../console/page/amounts.ts'
import { dueBatches } from '../../console/page/due-batches.ts'
import { moneyOf, refundPayer } from '../../console/page/money.ts'
import { settingOf } from '../../console/page/settings-of.ts'
import type { BatchResult } from '../../shared/views/batch.ts'
import type { providerView } from '../../shared/views/operator/provider.ts'

/** The console's confirmations: who pays, how much, and what changes. */

const batch = (provider: string, net: string, payable_on: string, status = 'pending') =>
  ({ provider, net, payable_on, status }) as BatchResult

const batches = [
  batch('demo', '98.50', '2026-11-22'),
  batch('other', '886.50', '2026-11-22'),
  batch('other', '10.00', '2026-11-24'),
  batch('demo', '-5.00', '2026-11-22'),
  batch('demo', '7.00', '2026-11-21', 'completed'),
]

test('a run of all providers is confirmed with the sum and the payees of all due batches', () => {
  expect(dueBatches(batches, { date: '2026-11-22' })).toEqual({
    sum: '985.00',
    providers: ['demo', 'other'],
  })
})

test('the confirmation of a run omits providers whose payouts are held', () => {
  const others = dueBatches(batches, { date: '2026-11-22', held: ['demo'] })
  expect(others).toEqual({ sum: '886.50', providers: ['other'] })
})

test('a run of one provider or of an earlier day is confirmed with what it pays', () => {
  const one = dueBatches(batches, { date: '2026-11-22', provider: 'demo' })
  expect(one).toEqual({ sum: '98.50', providers: ['demo'] })
  expect(dueBatches(batches, { date: '2026-11-20' })).toEqual({ sum: '0.00', providers: [] })
})

test.each([
  ['debit', 'reverse', {}, 'to customer'],
  ['debit', 'reverse', { refund: 'none' }, 'taken back'],
  ['debit', 'fail', {}, 'none'],
  ['debit', 'fail-refund', {}, 'none'],
  ['debit', 'complete', {}, 'to provider'],
  ['settlement', 'complete', { amount: '49.25' }, 'payout'],
  ['settlement', 'fail', {}, 'none'],
  ['provider', 'update', {}, undefined],
] as const)('the terms of the call %s %s with %o are %s', (noun, verb, options, money) => {
  expect(moneyOf(noun, verb, options)).toBe(money)
})

test('the bank pays the refund of a late completion, and the provider that of a reversal', () => {
  const parties = { provider: 'demo', bank: 'GCB' } as const
  const payer = (status: 'failed' | 'completed' | 'reversed') =>
    refundPayer({ ...parties, status } as unknown as Parameters<typeof refundPayer>[0])
  expect(payer('failed')).toBe('GCB')
  expect(payer('completed')).toBe('demo')
  expect(payer('reversed')).toBe('demo')
})

test('the present value of each setting is found in the view, also of nested ones', () => {
  const view = {
    name: 'Demo',
    daily_limit: null,
    allow_list: ['10.0.0.0/8', '10.1.0.1'],
    settlement_account: { bank: 'GCB', account_number: '1041009001', account_name: 'Demo Ltd' },
    fee_schedule: null,
    statement_columns: { amount: 'Credit', date: 'Value Date' },
  } satisfies { [K in keyof ReturnType<typeof providerView>]?: unknown } & {
    statement_columns: object
  }
  const texts = Object.entries({
    name: 'Demo',
    'daily-limit': 'none',
    'allow-list': '10.0.0.0/8,10.1.0.1',
    'settlement-account': '1041009001',
    'settlement-name': 'Demo Ltd',
    'fee-fixed': 'none',
    'statement-columns': 'amount=Credit,date=Value Date',
  })
  for (const [option, text] of texts) expect(settingOf(view, option), option).toBe(text)
  expect(settingOf(view, 'request-secret')).toBeUndefined()
  expect(settingOf(undefined, 'name')).toBeUndefined()
})

test.each([
  ['10495.35', '10,495.35'],
  ['-1234567.00', '-1,234,567.00'],
  ['at most 1000.00 GHS', 'at most 1,000.00 GHS'],
  ['100.00', '100.00'],
  ['20261127', '20261127'],
  ['v1234.50', 'v1234.50'],
])('the page shows %s as %s', (text, shown) => {
  expect(withSeparators(text)).toBe(shown)
})
