import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { BankBehaviour } from '../domain/banks/bank-behaviour.ts'
import type { FailureCode } from '../domain/banks/failure-code.ts'
import { failureMessages, type SandboxOutcome } from '../domain/banks/sandbox-outcome.ts'
import type { BankUpdate } from '../domain/debits/bank-update.ts'
import type { Submission, SubmissionResult } from '../domain/debits/submission.ts'
import type { Uuid } from '../domain/ids.ts'
import { type Pesewas, pesewas } from '../domain/money.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import type { PayoutResult } from '../domain/settlement/payout.ts'
import {
  type ConnectionConfig,
  type Connector,
  type ConnectorConfig,
  ConnectorFault,
  type PaymentConnector,
} from './connector.ts'

/** Outcomes by phone number; `silent` accepts and never reports. */
const PUBLISHED: Record<string, SandboxOutcome | 'silent'> = {
  '+233241234567': 'completed',
  '+233241111111': 'insufficient_funds',
  '+233242222222': 'timeout',
  '+233243333333': 'transaction_declined',
  '+233244444444': 'silent',
}

const BALANCE: Pesewas = pesewas(5_000_00)

/** The time that a slow bank takes: too long for the workers that all banks share. */
const SLOW_SECONDS = 5

/** The first digits of a uuid are those of the day: only the last ones are unique. */
export const bankReference = ({ bank, uuid }: Pick<Submission, 'bank' | 'uuid'>): string =>
  `${bank}-${uuid.slice(-12).toUpperCase()}`

/**
 * Waits as the bank does. Returns the behaviour that decides its reply.
 * @throws ConnectorFault if the bank is down or slower than the timeout
 */
const request = async (
  bank: BankIdentifier,
  { behaviourOf, pause, timeoutSeconds }: ConnectionConfig,
): Promise<BankBehaviour | undefined> => {
  const behaviour = await behaviourOf(bank)
  if (behaviour?.as === 'down') throw new ConnectorFault(2502, 'ECONNREFUSED')
  if (behaviour?.as === 'slow') {
    await pause(Math.min(SLOW_SECONDS, timeoutSeconds) * 1000)
    if (timeoutSeconds < SLOW_SECONDS)
      throw new ConnectorFault(2408, 'no complete response in time')
  }
  return behaviour
}

const rejection = (code: FailureCode) =>
  ({ kind: 'rejected', code, message: failureMessages[code] }) as const

/**
 * Accepts a debit and reports its outcome 30 s later in a delayed message. Stores nothing else, so a repeat
 * counts the customer's prompts again.
 */
export const sandboxConnector = ({ reportLater, ...config }: ConnectorConfig): Connector => ({
  submit: async (submission, mayPrompt): Promise<SubmissionResult> => {
    const { as, code } = (await request(submission.bank, config)) ?? {}
    if (!(await mayPrompt())) return { kind: 'unprompted' }
    if (as === 'rejecting') return rejection(code ?? 'transaction_declined')
    const byCustomer = PUBLISHED[submission.phone] ?? outcomeByAccount(submission)
    const outcome = as === 'silent' ? as : byCustomer
    if (outcome === 'invalid_account') return rejection(outcome)
    if (outcome !== 'silent') await reportLater({ reference: submission.reference, outcome })
    return outcome === 'timeout'
      ? { kind: 'silent' }
      : { kind: 'accepted', bankReference: bankReference(submission) }
  },
  probe: async (bank) => void (await request(bank, config)),
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
    : { status: 'failed', error_message: failureMessages[outcome] }),
})

/** Returns accounts by the end of the number: none for 0000, an inactive one for 9999. */
export const sandboxAccount =
  (config: ConnectionConfig) => async (bank: BankIdentifier, phone: PhoneNumber) => {
    await request(bank, config)
    if (phone.endsWith('0000')) return undefined
    return {
      customerName: `Customer ${phone.slice(-4)}`,
      accountNumber: `104${phone.slice(-7)}`,
      status: phone.endsWith('9999') ? 'inactive' : 'active',
    } as const
  }

/** Ends of account numbers that the sandbox bank rejects, or pays at the second request. */
const REJECTED = '0000'
const SLOW = '9999'

type SandboxPayment = { bank: BankIdentifier; uuid: Uuid; accountNumber: string; repeated: boolean }

export const sandboxPayments = (config: ConnectionConfig): PaymentConnector => {
  const pay = async ({
    bank,
    uuid,
    accountNumber,
    repeated,
  }: SandboxPayment): Promise<PayoutResult> => {
    const { as } = (await request(bank, config)) ?? {}
    if (as === 'rejecting' || accountNumber.endsWith(REJECTED)) {
      return { kind: 'rejected', message: 'The account cannot be paid' }
    }
    const isUnderway = as === 'silent' || (accountNumber.endsWith(SLOW) && !repeated)
    return isUnderway
      ? { kind: 'underway' }
      : { kind: 'paid', bankReference: bankReference({ bank, uuid }) }
  }
  return {
    pay: ({ account, ...payout }) => pay({ ...payout, ...account }),
    refund: (refund) => pay({ ...refund, accountNumber: refund.accountNumber ?? '' }),
  }
}
