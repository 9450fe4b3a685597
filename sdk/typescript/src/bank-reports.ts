import { type Amount, amountText } from './amount.ts'
import { type List, listOf } from './pages.ts'
import { dataIn, postOf, readOf } from './requests.ts'
import { type CallOptions, type ClientOptions, openTransport, type Transport } from './transport.ts'
import type {
  BankStatusFilter,
  BankTransaction,
  BankTransactionList,
  CallbackTransaction,
  DebitCallbackFields,
  ReportedTransaction,
  UpdateDebitTransactionFields,
} from './wire.ts'

/** `failed` requires `errorMessage`. */
export type BankReport = {
  status: UpdateDebitTransactionFields['status']
  bankReference: string
  approvalMethod?: UpdateDebitTransactionFields['approval_method'] | undefined
  errorMessage?: string | undefined
  fee?: Amount | undefined
  metadata?: Record<string, unknown> | undefined
}

/** `approved` has no effect but to end the timeout of five minutes. After the outcome it is an error. */
export type BankCallback = Omit<BankReport, 'status'> & Pick<DebitCallbackFields, 'status'>

/** Reports the outcomes of debits, for banks (docs/api.md#bank-reports). A repeated outcome has no second effect. */
export class BankReports {
  readonly #send: Transport

  constructor(options: ClientOptions) {
    this.#send = openTransport(options, '/api/v1/banks')
  }

  /** Reports the outcome of a debit. @throws NotFoundError, ApiError with code 3001 for another outcome */
  update(uuid: string, report: BankReport, call?: CallOptions): Promise<ReportedTransaction> {
    return this.#report('updateDebitTransaction', 'update', uuid, report, call)
  }

  /** Reports the outcome, or the approval, of a debit. @throws NotFoundError, ApiError with code 3001 for another outcome */
  callback(uuid: string, report: BankCallback, call?: CallOptions): Promise<CallbackTransaction> {
    return this.#report('debitCallback', 'callback', uuid, report, call)
  }

  /** Lists the debits of a phone number, newest first, by default the pending ones. @throws ValidationError without an account */
  list(
    { phoneNumber, status }: { phoneNumber: string; status?: BankStatusFilter | undefined },
    call?: CallOptions,
  ): List<BankTransaction> {
    const read = readOf('listDebitTransactions', '/debit-transactions', {})
    const request = { ...read, query: { phone_number: phoneNumber, status } }
    return listOf(
      (page) => this.#send(page, call),
      request,
      (reply) => dataIn<BankTransactionList>(reply).transactions,
    )
  }

  async #report<Reported>(
    operation: string,
    verb: string,
    uuid: string,
    { status, bankReference, approvalMethod, errorMessage, fee, metadata }: BankCallback,
    call?: CallOptions,
  ): Promise<Reported> {
    const body = {
      ...{ status, metadata },
      bank_reference: bankReference,
      approval_method: approvalMethod,
      error_message: errorMessage,
      fee: fee === undefined ? undefined : amountText(fee),
    }
    const request = postOf(operation, `/debit-transactions/{uuid}/${verb}`, { uuid })
    return dataIn(await this.#send({ ...request, body }, call))
  }
}
