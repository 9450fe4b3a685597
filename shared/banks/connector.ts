import type { BankIdentifier, ConnectorSettings } from '../domain/banks/bank.ts'
import type { SandboxReport } from '../domain/banks/sandbox-outcome.ts'
import type {
  BankOutcome,
  DebitAtBank,
  Submission,
  SubmissionResult,
} from '../domain/debits/submission.ts'
import type { PayoutResult, RefundPayment } from '../domain/settlement/payout.ts'

/**
 * What speaks to one kind of bank. A submission may be repeated with the same uuid and must then
 * have no second effect. A result that is not known is thrown: the queue comes again.
 */
export type Connector = {
  submit: (submission: Submission) => Promise<SubmissionResult>
  /**
   * Asks the bank for the final outcome of a debit. Absent when the bank cannot be asked.
   * @returns undefined while the bank has none
   * @throws ConnectorFault when the bank gives no usable reply
   */
  queryOutcome?: (debit: DebitAtBank) => Promise<BankOutcome | undefined>
  /**
   * Returns a debited amount to the customer, once for a uuid. Absent when the bank takes no refunds.
   * @throws ConnectorFault when the bank gives no usable reply: it is asked again later
   */
  refund?: (refund: RefundPayment) => Promise<PayoutResult>
}

/** What it takes to reach a bank that has an endpoint of its own. */
export type ConnectionConfig = {
  settingsOf: (bank: BankIdentifier) => Promise<ConnectorSettings | undefined>
  now: () => Date
  /** How long one exchange with a bank may take, from the connection to the answer's last byte. */
  timeoutSeconds: number
  /** Whether a bank may be on this machine itself, without TLS: only in the sandbox on it. */
  localPeers: boolean
}

/** What connectors need of the world around them. */
export type ConnectorConfig = ConnectionConfig & {
  /** Has the sandbox bank report an outcome later. */
  reportLater: (report: SandboxReport) => Promise<void>
}
