import * as v from 'valibot'
import { bankUrl } from '../shared/banks/bank-url.ts'
import { CustomerAccount } from '../shared/domain/banks/bank.ts'
import { PhoneNumber } from '../shared/domain/phone.ts'
import { Refusal } from '../shared/domain/refusal.ts'
import { checkBank } from './bank-check/cases.ts'
import type { OrderKind } from './bank-check/requests.ts'
import { readArguments, unknownWord } from './terminal/arguments.ts'

/** `debit bank-check`: checks the endpoint of a bank against docs/bank-protocol.md. */

const { values, positionals, refuse } = await readArguments({
  name: 'bank-check',
  form: '--url URL --secret SECRET [--skip settlements,refunds] [--account NUMBER] [--phone NUMBER]',
  summary:
    'Checks the endpoint of a bank against docs/bank-protocol.md and prints a line for each case.\n' +
    'The bank gets debits, payouts and refunds up to 10000.00: use a test system. --account is the\n' +
    'account number of all requests. With --phone, the bank is also asked for the account of that number.',
  options: {
    url: { type: 'string' },
    secret: { type: 'string' },
    skip: { type: 'string', default: '' },
    account: { type: 'string' },
    phone: { type: 'string' },
  },
})

const parts: Record<string, OrderKind> = { settlements: 'payout', refunds: 'refund' }

const urlIn = (text: string): string => {
  const url = bankUrl(text, { localPeers: ['127.0.0.1', 'localhost'] })
  return url instanceof Refusal ? refuse(`--url: ${Object.values(url.details ?? {})}`) : url
}

const [text, ...others] = [values.url ?? [], positionals].flat()
if (text === undefined || others.length > 0) refuse()
const { secret, account, skip, phone } = values
const check = (option: string, schema: v.GenericSchema<string>, text?: string): void => {
  const { success, issues } = v.safeParse(v.optional(schema), text)
  if (!success) refuse(`--${option}: ${issues[0].message}`)
}
check('phone', PhoneNumber, phone)
check('account', CustomerAccount.entries.accountNumber, account)
const target = { url: urlIn(text ?? ''), secret: secret || refuse(), account, phone }
const skipped = skip.split(',').filter(Boolean)
for (const part of skipped) {
  if (!Object.hasOwn(parts, part)) refuse(await unknownWord('part', part, Object.keys(parts)))
}
const kinds = Object.entries(parts).flatMap(([part, kind]) => (skipped.includes(part) ? [] : kind))

let exitCode = 0
for await (const { name, problem } of checkBank(target, ['submission', ...kinds])) {
  if (problem) exitCode = 1
  process.stdout.write(problem ? `FAIL ${name}: ${problem}\n` : `ok ${name}\n`)
}
process.exit(exitCode)
