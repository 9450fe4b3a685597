import { type ChargedDebit, type ChargeOptions, chargeBody, isDebitOf } from './charge.ts'
import { DebitCollectionError, DuplicateReferenceError } from './errors.ts'
import { type List, listOf } from './pages.ts'
import type { MonthlyStatements, SettlementReports } from './reports.ts'
import { dataIn, postOf, readOf } from './requests.ts'
import {
  type CallOptions,
  type ClientOptions,
  openTransport,
  type Request,
  type SendOptions,
  type Transport,
} from './transport.ts'
import { openWaits } from './wait.ts'
import type {
  Bank,
  BankDetail,
  Charge,
  Debit,
  DebitDetail,
  DebitStatus,
  Delivery,
  DeliveryWithAttempts,
  Event,
  MonthlyStatement,
  OpenReversal,
  PingResult,
  RequestedReversal,
  Settlement,
  SettlementReport,
} from './wire.ts'

export type DebitFilter = {
  status?: DebitStatus | undefined
  /** ISO 8601. */
  createdFrom?: string | undefined
  /** ISO 8601, exclusive. */
  createdTo?: string | undefined
  partnerReference?: string | undefined
}

/** `kind` is `refund` by default. */
export type ReversalOptions = Pick<RequestedReversal, 'reason'> & {
  kind?: RequestedReversal['kind'] | undefined
}

export type WaitOptions = {
  /** Milliseconds (default 11 minutes, after which the service has failed a debit without outcome). */
  timeout?: number | undefined
  signal?: AbortSignal | undefined
}

const debitOf = (reference: string): Request =>
  readOf('getDebitRequest', '/debit-requests/{reference}', { reference })

/** Calls the provider operations of the debit collection service (docs/api.md). */
export class DebitCollection {
  // Private, so that console.log of a client shows no key.
  readonly #send: Transport
  readonly #waits = openWaits()

  constructor(options: ClientOptions) {
    this.#send = openTransport(options)
  }

  /**
   * Requests a debit; the outcome arrives by webhook, or with `waitFor`. A repeat with the same
   * partnerReference and fields returns the existing debit with `replayed: true`.
   *
   * @throws TypeError for a number as amount
   * @throws DuplicateReferenceError if another charge has the partnerReference
   */
  async charge(options: ChargeOptions, call?: CallOptions): Promise<ChargedDebit> {
    const body = chargeBody(options)
    const sending = { ...call, startedAt: performance.now() }
    const request: Request = {
      operation: 'charge',
      method: 'POST',
      path: '/debit-requests/charge',
      body,
    }
    try {
      const reply = await this.#send(request, sending)
      const { response } = dataIn<Charge>(reply)
      return { ...response, replayed: reply.headers.get('idempotent-replayed') === 'true' }
    } catch (error) {
      // The reply to an earlier attempt was lost: its debit has the reference.
      if (!(error instanceof DuplicateReferenceError) || error.attempts === 1) throw error
      const read = this.#call<DebitDetail>(debitOf(error.existing.reference), sending)
      const debit = await read.catch((cause) => {
        throw cause instanceof DebitCollectionError ? Object.assign(error, { cause }) : cause
      })
      if (!isDebitOf(body, debit)) throw error
      const { uuid, reference, status, created_at: timestamp, bank } = debit
      return { uuid, status, timestamp, reference, bank, replayed: true }
    }
  }

  /** Reads a debit. @throws NotFoundError */
  get(reference: string, call?: CallOptions): Promise<DebitDetail> {
    return this.#call(debitOf(reference), call)
  }

  /** Returns undefined for a partner reference without a debit. */
  async findByPartnerReference(
    partnerReference: string,
    call?: CallOptions,
  ): Promise<Debit | undefined> {
    // A list without the filter has the debits of others.
    if (!partnerReference) throw new TypeError('partnerReference is missing')
    for await (const debit of this.list({ partnerReference }, call)) return debit
    return undefined
  }

  /** Lists debits, newest first. */
  list(filter: DebitFilter = {}, call?: CallOptions): List<Debit> {
    const query = {
      status: filter.status,
      created_from: filter.createdFrom,
      created_to: filter.createdTo,
      partner_reference: filter.partnerReference,
    }
    return this.#list('listDebitRequests', '/debit-requests', query, call)
  }

  /**
   * Reads a debit until it has an outcome, within the rate limits. Failures of the
   * service or the network do not end the wait.
   *
   * @throws WaitTimeoutError
   */
  waitFor(reference: string, options: WaitOptions = {}): Promise<DebitDetail> {
    return this.#waits(reference, (signal) => this.get(reference, { signal }), options)
  }

  /**
   * Asks the operator to return the whole amount of a completed debit. A repeat returns the open request,
   * whose reason stays. The decision is `reversal_request` of `get`.
   *
   * @throws ValidationError if the debit is not completed
   * @throws ForbiddenError unless the operator has enabled requests
   * @throws ConflictError if the debit is reversed, or an earlier request was declined
   */
  requestReversal(
    reference: string,
    { reason, kind }: ReversalOptions,
    call?: CallOptions,
  ): Promise<OpenReversal> {
    const path = '/debit-requests/{reference}/reversal-request'
    const request = postOf('requestReversal', path, { reference })
    return this.#call({ ...request, body: { reason, kind } }, call)
  }

  readonly events = {
    /** Reads the feed of all events of the last 30 days, oldest first, from a stored cursor. */
    list: (
      { cursor }: { cursor?: string | null | undefined } = {},
      call?: CallOptions,
    ): List<Event> => this.#list('listEvents', '/events', {}, call, cursor),
  }

  readonly settlements = {
    /** Lists settlement batches, newest first. */
    list: (call?: CallOptions): List<Settlement> =>
      this.#list('listSettlements', '/settlements', {}, call),
    /** Reads a settlement batch. @throws NotFoundError */
    get: (id: string, call?: CallOptions): Promise<Settlement> =>
      this.#call(readOf('getSettlement', '/settlements/{id}', { id }), call),
    report: this.#report.bind(this) as SettlementReports,
    statement: this.#statement.bind(this) as MonthlyStatements,
  }

  readonly banks = {
    /** Lists the banks that can be charged, by name. */
    list: (call?: CallOptions): Promise<Bank[]> =>
      this.#call(readOf('listBanks', '/banks', {}), call),
    /** Reads a bank. @throws NotFoundError */
    get: (identifier: string, call?: CallOptions): Promise<BankDetail> =>
      this.#call(readOf('getBank', '/banks/{identifier}', { identifier }), call),
    /** Returns the account holder and the banks of a phone number. @throws NotFoundError */
    lookup: async (phoneNumber: string, call?: CallOptions) => {
      const request = readOf('lookupCustomerBanks', '/banks/lookup/{phone_number}', {
        phone_number: phoneNumber,
      })
      const reply = await this.#send(request, call)
      return { customer: String(reply.envelope?.customer), banks: dataIn<Bank[]>(reply) }
    },
  }

  readonly deliveries = {
    /** Lists the webhook deliveries of a debit with their attempts. @throws NotFoundError */
    list: (reference: string, call?: CallOptions): Promise<DeliveryWithAttempts[]> => {
      const path = '/debit-requests/{reference}/deliveries'
      return this.#call(readOf('listDeliveries', path, { reference }), call)
    },
    /** Requests another attempt of a delivery. @throws NotFoundError, ConflictError */
    redeliver: (id: number, call?: CallOptions): Promise<Delivery> =>
      this.#call(postOf('redeliverEvent', '/deliveries/{id}/redeliver', { id }), call),
  }

  readonly webhook = {
    /** Sends a signed ping to the webhook and returns the result of the attempt. */
    test: (call?: CallOptions): Promise<PingResult> =>
      this.#call(postOf('testWebhook', '/webhook/test', {}), call),
  }

  async #report(
    id: string,
    { format = 'json', ...call }: { format?: 'json' | 'csv' } & CallOptions = {},
  ): Promise<SettlementReport | string> {
    const request = readOf('getSettlementReport', '/settlements/{id}/report', { id })
    const reply = await this.#send({ ...request, query: { format }, isFile: true }, call)
    if (format === 'csv') return reply.text
    return reply.envelope ? dataIn(reply) : JSON.parse(reply.text)
  }

  async #statement(
    month: string,
    { format = 'json', ...call }: { format?: 'json' | 'csv' | 'html' } & CallOptions = {},
  ): Promise<MonthlyStatement | string> {
    const path = '/settlements/statements/{month}'
    const request = readOf('getMonthlyStatement', path, { month })
    const reply = await this.#send({ ...request, query: { format }, isFile: true }, call)
    return format === 'json' ? dataIn(reply) : reply.text
  }

  async #call<Data>(request: Request, call?: SendOptions): Promise<Data> {
    return dataIn<Data>(await this.#send(request, call))
  }

  #list<Item>(
    operation: string,
    path: string,
    query: NonNullable<Request['query']>,
    call?: CallOptions,
    start?: string | null,
  ): List<Item> {
    const request = { ...readOf(operation, path, {}), query }
    return listOf<Item>((page) => this.#send(page, call), request, dataIn, start)
  }
}
