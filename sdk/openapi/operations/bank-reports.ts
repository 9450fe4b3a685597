import { emptyFilters, NO_BANK_FILTER } from '../../../shared/domain/debits/list-query.ts'
import { invalid, Refusal } from '../../../shared/domain/refusal.ts'
import * as bankDebit from '../../../shared/views/bank-debit.ts'
import { numberedEntries } from '../../../shared/views/page.ts'
import * as examples from '../example-debit.ts'
import {
  type Descriptions,
  invalidCursor,
  invalidPage,
  lastPage,
  oneOfOne,
  pageParameters,
  phoneParameter,
  uuidParameter,
} from './described.ts'

const refusedTransition = new Refusal(3001, {
  http: 422,
  details: { status: ['cannot transition from failed to completed'] },
})
const missingMessage = invalid({ error_message: ['is required when status is failed'] })

const completedReport = {
  status: 'completed',
  bank_reference: 'GCB-0001',
  approval_method: 'ussd',
  fee: '1.50',
} as const

export const bankReports = {
  'update-debit-transaction': {
    tag: 'Bank reports',
    summary: 'Report the outcome of a transaction',
    description:
      'Completes or fails a pending or processing transaction. A repeated status changes nothing ' +
      'and returns the current transaction.',
    parameters: { uuid: uuidParameter },
    bodies: {
      completed: { summary: 'The customer was debited', value: completedReport },
      failed: {
        summary: 'The debit failed',
        value: {
          status: 'failed',
          bank_reference: 'GCB-0001',
          error_message: 'Insufficient funds',
        },
      },
    },
    refusals: [missingMessage, refusedTransition],
    data: bankDebit.bankUpdateSchema(),
    example: { data: bankDebit.bankUpdateView(examples.completed) },
  },
  'list-debit-transactions': {
    tag: 'Bank reports',
    summary: "List a customer's transactions at this bank",
    description:
      'Returns transactions, newest first. `total_count` and `total_amount` cover the matches on all ' +
      'pages up to 10,000; above that `total_is_at_least` is true. A page can be short although ' +
      'more follow: read `has_more` and continue with `next_cursor`. Pages by cursor have no totals. ' +
      'Without a match the list is empty.',
    parameters: {
      phone_number: phoneParameter,
      status: {
        description: ['Only this status', ...emptyFilters].join('; '),
        example: 'processing',
      },
      page: { example: 1 },
      ...pageParameters('Transactions', 'list-debit-transactions'),
    },
    sample: { query: { phone_number: examples.phone, status: 'all' } },
    refusals: [
      invalidPage,
      invalidCursor,
      invalid({ customer: ['account not found'] }),
      invalid({ status_filter: [NO_BANK_FILTER] }),
    ],
    data: bankDebit.bankListSchema(),
    page: numberedEntries(),
    example: {
      data: bankDebit.bankListView({
        account: examples.account,
        bank: examples.gcb,
        phone: examples.phone,
        transactions: [
          bankDebit.bankItemView(
            examples.processing,
            examples.account,
            new Map([[examples.demo, 'Demo Payments']]),
          ),
        ],
        total: { count: 1, isAtLeast: false, amount: examples.processing.facts.amount },
        filter: 'processing',
      }),
      page: { per_page: 20, ...oneOfOne, ...lastPage },
    },
  },
  'debit-callback': {
    tag: 'Bank reports',
    summary: 'Send a callback about a transaction',
    description:
      'Accepts the same body as the update, and `approved`: the customer approved, so the ' +
      'five-minute timeout stops.',
    parameters: { uuid: uuidParameter },
    bodies: {
      approved: {
        summary: 'The customer approved; the outcome follows',
        value: { status: 'approved', bank_reference: 'GCB-0001' },
      },
      completed: { summary: 'The customer was debited', value: completedReport },
    },
    refusals: [missingMessage, refusedTransition],
    data: bankDebit.callbackSchema(),
    example: { data: bankDebit.callbackView(examples.processing) },
  },
} as const satisfies Partial<Descriptions>
