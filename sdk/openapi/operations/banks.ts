import { array, optional, string } from 'valibot'
import { BankIdentifier } from '../../../shared/domain/banks/bank.ts'
import * as bank from '../../../shared/views/bank.ts'
import { Phone, Quantity } from '../../../shared/views/fields.ts'
import * as examples from '../example-debit.ts'
import { type Descriptions, invalidPage, phoneParameter } from './described.ts'

export const banks = {
  'list-banks': {
    tag: 'Banks',
    summary: 'List banks',
    description: 'Returns all live banks by name; in pages if `page` or `per_page` is given.',
    parameters: { page: { example: 1 }, per_page: { description: 'Banks per page', example: 20 } },
    refusals: [invalidPage],
    data: array(bank.bankSchema()),
    // Present only if the query has page or per_page.
    page: {
      current_page: optional(Quantity),
      per_page: optional(Quantity),
      total_pages: optional(Quantity),
      total_count: optional(Quantity),
    },
    example: { data: [bank.bankView(examples.gcb)] },
  },
  'get-bank': {
    tag: 'Banks',
    summary: 'Read a bank',
    description: 'Returns a live bank, how its customers approve debits, and whether it replies.',
    parameters: { identifier: { example: 'GCB', schema: BankIdentifier } },
    data: bank.bankDetailSchema(),
    example: {
      data: bank.bankDetailView(examples.gcb, { state: 'up', since: examples.NOON, failures: 0 }),
    },
  },
  'lookup-customer-banks': {
    tag: 'Banks',
    summary: "Look up a customer's banks",
    description:
      'Returns the live banks at which a phone number has an active account, with the account holder.',
    parameters: { phone_number: phoneParameter },
    data: array(bank.bankSchema()),
    topLevel: { phone_number: Phone, customer: string() },
    example: {
      topLevel: { phone_number: examples.phone, customer: examples.account.customerName },
      data: [bank.bankView(examples.gcb)],
    },
  },
} as const satisfies Partial<Descriptions>
