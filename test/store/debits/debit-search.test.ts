import { beforeAll, expect, test } from 'vitest'
import type { BankIdentifier } from '../../../shared/domain/banks/bank.ts'
import type { Debit } from '../../../shared/domain/debits/debit.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import type { PhoneNumber } from '../../../shared/domain/phone.ts'
import { toDebitItem } from '../../../shared/store/debits/debit-item.ts'
import { type DebitSearch, searchDebits } from '../../../shared/store/debits/debit-search.ts'
import { rethrow } from '../../../shared/store/debits/debits.ts'
import { tableName } from '../../../shared/store/table.ts'
import {
  bankMove,
  demoProvider,
  gcb,
  inSeconds,
  pendingDebit,
  providerId,
} from '../../support/examples.ts'
import { granted } from '../../support/refused.ts'
import { storeBank, storeDemo, storeProvider } from '../../support/settings.ts'
import { useTable } from '../../support/tables.ts'

const table = useTable()
const eco = { ...gcb, identifier: 'ECO' as BankIdentifier }
const other = providerId('other')
const phone = '+233245100001' as PhoneNumber
const COUNT = 2_500
/** The 101st of the other provider: a page of 100 begins with a step of 101. */
const LAST = 1_995
const amounts: Record<number, number> = { 0: 7_77, [LAST]: 8_88 }
const references: string[] = []

/** Debits of two providers at two banks, every second one failed; two have an amount of their own. */
beforeAll(async () => {
  await storeDemo()
  await Promise.all([storeBank(eco), storeProvider({ ...demoProvider, id: other })])
  for (let n = 0; n < COUNT; n += 1) {
    const bank = { identifier: n % 3 ? gcb.identifier : eco.identifier, name: 'Bank' }
    const facts = { phone, bank, amount: pesewas(amounts[n] ?? 1_00) }
    const debit = pendingDebit({ ...facts, ...(n % 5 === 0 && { provider: other }) }, inSeconds(n))
    const next = n % 2 ? granted(bankMove('failed', { at: inSeconds(n) })(debit)) : debit
    const Item = JSON.parse(JSON.stringify(toDebitItem(next)))
    table.run('PutCommand', { TableName: tableName(), Item })
    references.unshift(debit.facts.reference)
  }
})

const referencesOf = (debits: readonly Debit[]) => debits.map(({ facts }) => facts.reference)

/** Reads all pages of a search. */
const pagesOf = async (search: DebitSearch, limit: number, timeIsUp = () => false) => {
  const pages: string[][] = []
  for (let before: string | undefined; ; ) {
    const { debits, next } = await searchDebits(search, { before, limit, timeIsUp }, rethrow)
    pages.push(referencesOf(debits))
    if (next === null) return pages
    before = next
  }
}

test('one call finds the oldest of 2,500 debits of a phone number, at one of its banks', async () => {
  const amount = pesewas(7_77)
  const oldest = [references.slice(-1)]
  expect(await pagesOf({ phone, amount }, 100)).toEqual(oldest)
  expect(await pagesOf({ amount }, 100)).toEqual(oldest)
  expect(await pagesOf({ phone, to: inSeconds(1) }, 1)).toEqual(oldest)
})

test.each<[string, DebitSearch, (n: number) => boolean]>([
  ['a phone number', { phone }, () => true],
  ['a phone number and a status', { phone, status: 'failed' }, (n) => n % 2 === 1],
  ['a phone number and a provider', { phone, provider: other }, (n) => n % 5 === 0],
  ['the last debit of a first step', { provider: other, amount: pesewas(8_88) }, (n) => n === LAST],
  ['all providers', {}, () => true],
  ['all providers and a status', { status: 'pending' }, (n) => n % 2 === 0],
  ['a time', { phone, from: inSeconds(100), to: inSeconds(900) }, (n) => n >= 100 && n < 900],
])(
  'the pages of %s have each debit once, newest first, and all but the last are full',
  async (_, search, isExpected) => {
    const expected = references.filter((_, index) => isExpected(COUNT - 1 - index))
    const pages = await pagesOf(search, 100)
    expect(pages.flat()).toEqual(expected)
    expect(pages.map(({ length }) => length).slice(0, -1)).toEqual(pages.slice(1).map(() => 100))
  },
)

test('a search whose time is up returns a short page, and its cursor continues', async () => {
  const pages = await pagesOf({ amount: pesewas(7_77) }, 100, () => true)
  expect(pages.length).toBeGreaterThan(10)
  expect(pages.flat()).toEqual(references.slice(-1))
})
