import type { BankIdentifier, ConnectorSettings } from '../domain/banks/bank.ts'
import type { BankBehaviour } from '../domain/banks/bank-behaviour.ts'
import type { SandboxReport } from '../domain/banks/sandbox-outcome.ts'
import type {
  BankOutcome,
  DebitAtBank,
  Submission,
  SubmissionResult,
} from '../domain/debits/submission.ts'
import { type ErrorCode, errors } from '../domain/refusal.ts'
import type { Payout, PayoutResult, RefundPayment } from '../domain/settlement/payout.ts'

/** A client for one kind of bank. The bank deduplicates by uuid. An unknown result throws. */
export type Connector = {
  /** @param mayPrompt is asked once the bank is known not to have the debit */
  submit: (submission: Submission, mayPrompt: () => Promise<boolean>) => Promise<SubmissionResult>
  /**
   * Queries the final outcome of a debit. Absent if the bank has no query.
   * @returns undefined while there is none
   * @throws ConnectorFault if the bank gives no usable reply
   */
  queryOutcome?: (debit: DebitAtBank) => Promise<BankOutcome | undefined>
  /**
   * Asks a bank that is down for a reply, without an effect.
   * @throws ConnectorFault without one
   */
  probe: (bank: BankIdentifier) => Promise<void>
}

/** Pays providers and refunds customers, once per uuid. An unknown result throws. */
export type PaymentConnector = {
  pay: (payout: Payout) => Promise<PayoutResult>
  refund: (refund: RefundPayment) => Promise<PayoutResult>
  /**
   * Queries the bank for a payment. Absent if the bank has no query.
   * @returns undefined if the bank has not received it
   * @throws ConnectorFault if the bank gives no usable reply
   */
  query?: (payment: DebitAtBank & { kind: PaymentKind }) => Promise<PayoutResult | undefined>
}

export type PaymentKind = 'payout' | 'refund'

export type ConnectionConfig = {
  settingsOf: (bank: BankIdentifier) => Promise<ConnectorSettings | undefined>
  /** Returns the behaviour that an operator chose for a sandbox bank. */
  behaviourOf: (bank: BankIdentifier) => Promise<BankBehaviour | undefined>
  wallTime: () => Date
  pause: (milliseconds: number) => Promise<unknown>
  /** The timeout of one request, from the connection to the last byte of the response. */
  timeoutSeconds: number
  /** Hosts of banks that need no TLS: only in a local sandbox. */
  localPeers: readonly string[]
  /** Returns the text of the stage's client certificate, if it has one. */
  clientCertificate: () => Promise<string | undefined>
}

export type ConnectorConfig = ConnectionConfig & {
  /** Schedules the sandbox bank's report. */
  reportLater: (report: SandboxReport) => Promise<void>
}

/** Faults between the service and a bank (docs/api.md#bank-connectors). */
type ConnectorCode = Extract<ErrorCode, 2001 | 2002 | 2408 | 2500 | 2502>

/** An unknown result: SQS redelivers the message. The code is only logged. */
export class ConnectorFault extends Error {
  override readonly name = 'ConnectorFault'
  readonly code: ConnectorCode
  readonly reason: string

  constructor(code: ConnectorCode, reason: string, options?: ErrorOptions) {
    super(`${errors[code].message}: ${reason}`, options)
    this.code = code
    this.reason = reason
  }
}
