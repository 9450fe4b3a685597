import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { SandboxOutcome } from '../domain/banks/sandbox-outcome.ts'
import type { BankUpdate } from '../domain/debits/bank-update.ts'
import type { Submission, SubmissionResult } from '../domain/debits/submission.ts'
import type { Uuid } from '../domain/ids.ts'
import { type Pesewas, pesewas } from '../domain/money.ts'
import type { PayoutResult } from '../domain/settlement/payout.ts'
import type { Connector, ConnectorConfig, PaymentConnector } from './connector.ts'

/** Outcomes by phone number; `silent` accepts and never reports. */
const PUBLISHED: Record<string, SandboxOutcome | 'silent'> = {
  '+233241234567': 'completed',
  '+233241111111': 'insufficient_funds',
  '+233242222222': 'timeout',
  '+233243333333': 'transaction_declined',
  '+233244444444': 'silent',
}

const BALANCE: Pesewas = pesewas(5_000_00)

const FAILURE_MESSAGES: Record<Exclude<SandboxOutcome, 'completed' | 'timeout'>, string> = {
  insufficient_funds: 'Insufficient funds',
  transaction_declined: 'Transaction declined by customer',
}

export const bankReference = ({ bank, uuid }: Pick<Submission, 'bank' | 'uuid'>): string =>
  `${bank}-${uuid.slice(0, 8).toUpperCase()}`

/** Accepts a debit and reports its outcome 30 s later in a delayed message. Stores nothing else. */
export const sandboxConnector = ({ reportLater }: ConnectorConfig): Connector => ({
  submit: async (submission): Promise<SubmissionResult> => {
    const outcome = PUBLISHED[submission.phone] ?? outcomeByAccount(submission)
    if (outcome === 'invalid_account') {
      return { kind: 'rejected', code: outcome, message: 'Account not found or inactive' }
    }
    if (outcome !== 'silent') await reportLater({ reference: submission.reference, outcome })
    return outcome === 'timeout'
      ? { kind: 'silent' }
      : { kind: 'accepted', bankReference: bankReference(submission) }
  },
})

const outcomeByAccount = ({ account, amount }: Submission): SandboxOutcome | 'invalid_account' => {
  if (account?.status !== 'active') return 'invalid_account'
  return amount > BALANCE ? 'insufficient_funds' : 'completed'
}

export const sandboxReport = (
  outcome: Exclude<SandboxOutcome, 'timeout'>,
  debit: Pick<Submission, 'bank' | 'uuid'>,
): BankUpdate => ({
  bank_reference: bankReference(debit),
  ...(outcome === 'completed'
    ? { status: 'completed', approval_method: 'ussd' }
    : { status: 'failed', error_message: FAILURE_MESSAGES[outcome] }),
})

/** Ends of account numbers that the sandbox bank rejects, or pays at the second request. */
const REJECTED = '0000'
const SLOW = '9999'

type SandboxPayment = { bank: BankIdentifier; uuid: Uuid; accountNumber: string; repeated: boolean }

const pay = ({ bank, uuid, accountNumber, repeated }: SandboxPayment): PayoutResult => {
  if (accountNumber.endsWith(REJECTED)) {
    return { kind: 'rejected', message: 'The account cannot be paid' }
  }
  if (accountNumber.endsWith(SLOW) && !repeated) return { kind: 'underway' }
  return { kind: 'paid', bankReference: bankReference({ bank, uuid }) }
}

export const sandboxPayments: PaymentConnector = {
  pay: async ({ account, ...payout }) => pay({ ...payout, ...account }),
  refund: async (refund) => pay({ ...refund, accountNumber: refund.accountNumber ?? '' }),
}
