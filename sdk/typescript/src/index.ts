/** Client of the debit collection service for providers, and a kit for banks. */

import {
  applyEvent,
  expressReceiver,
  fetchReceiver,
  honoReceiver,
  memoryStore,
} from './receiver.ts'
import { signed, verify } from './signature.ts'

export const webhooks = {
  verify,
  apply: applyEvent,
  fetch: fetchReceiver,
  hono: honoReceiver,
  express: expressReceiver,
  memoryStore,
}

export const testing = { signed }

export { type Amount, pesewasOf } from './amount.ts'
export type {
  DebitOutcome,
  Outcome,
  PaymentReply,
  ReplyStore,
  SubmissionReply,
} from './bank-replies.ts'
export { type BankCallback, type BankReport, BankReports } from './bank-reports.ts'
export { type BankServerOptions, bankServer } from './bank-server.ts'
export type { Payment, RefundOrder, Submission } from './bank-wire.ts'
export type { ChargedDebit, ChargeOptions } from './charge.ts'
export {
  DebitCollection,
  type DebitFilter,
  type ReversalOptions,
} from './client.ts'
export {
  ApiError,
  AuthenticationError,
  BankUnavailableError,
  ConflictError,
  DebitCollectionError,
  DuplicateReferenceError,
  type ExistingDebit,
  ForbiddenError,
  LimitExceededError,
  NetworkError,
  NotFoundError,
  type ProblemDetails,
  RateLimitError,
  RequestTimeoutError,
  ServerError,
  SignatureError,
  ValidationError,
  WaitTimeoutError,
} from './errors.ts'
export type { ReadableRequest } from './node-request.ts'
export type { List, Page } from './pages.ts'
export type {
  ApplyOptions,
  EventHandlers,
  EventKey,
  EventStore,
  ReceiverOptions,
} from './receiver.ts'
export type { HeaderSource, WebhookEvent } from './signature.ts'
export type { CallOptions, ClientOptions, LogEntry } from './transport.ts'
export type * from './wire.ts'
