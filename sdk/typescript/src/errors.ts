import type { DebitStatus } from './wire.ts'

/** Root of all errors that this package throws, except for TypeErrors of wrong arguments. */
export class DebitCollectionError extends Error {
  override name = this.constructor.name
  /** Number of attempts, from 1. */
  attempts = 1
  /** A debit of the charge may exist: the service has not refused each attempt, or `existing` names one. */
  mayExist = false
}

/** No reply arrived: the connection failed. `cause` has the reason. */
export class NetworkError extends DebitCollectionError {}

/** No complete reply arrived in time. */
export class RequestTimeoutError extends NetworkError {}

/** A webhook without a valid signature. */
export class SignatureError extends DebitCollectionError {}

/** Messages of each refused field by its name, a list of messages, a text, or other details. */
export type ProblemDetails = Record<string, string | number | string[]> | string[] | string

/** The published error of a reply. docs/errors.md has advice for each code. */
export type ApiErrorFields = {
  code?: number | undefined
  message: string
  category?: string | undefined
  severity?: string | undefined
  docUrl?: string | undefined
  details?: ProblemDetails | undefined
  requestId?: string | undefined
  /** Seconds. */
  retryAfter?: number | undefined
}

/** The service refused a request, or failed. */
export class ApiError extends DebitCollectionError {
  readonly status: number
  readonly code: number | undefined
  readonly category: string | undefined
  readonly severity: string | undefined
  readonly docUrl: string | undefined
  readonly details: ProblemDetails | undefined
  /** Messages by the name of the refused field; empty if no field was refused. */
  readonly fields: Record<string, string[]>
  /** Quote it to the operator. */
  readonly requestId: string | undefined
  /** Seconds until a retry can succeed. */
  readonly retryAfter: number | undefined

  constructor(status: number, problem: ApiErrorFields) {
    super(textOf(status, problem))
    this.status = status
    this.code = problem.code
    this.category = problem.category
    this.severity = problem.severity
    this.docUrl = problem.docUrl
    this.details = problem.details
    this.fields = fieldsOf(problem.details)
    this.requestId = problem.requestId
    this.retryAfter = problem.retryAfter
  }
}

/** Returns a text such as `422/1007 Validation failed: phone_number (request 1-2-3)`. */
const textOf = (status: number, { code, message, details, requestId }: ApiErrorFields): string => {
  const names = Object.keys(fieldsOf(details)).sort().join(', ')
  const numbers = code === undefined ? status : `${status}/${code}`
  const request = requestId ? ` (request ${requestId})` : ''
  return `${numbers} ${message}${names && `: ${names}`}${request}`
}

const isMessages = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((message) => typeof message === 'string')

const fieldsOf = (details: unknown): Record<string, string[]> => {
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return {}
  return Object.fromEntries(
    Object.entries(details).filter((field): field is [string, string[]] => isMessages(field[1])),
  )
}

/** A field is refused; `fields` has the messages. */
export class ValidationError extends ApiError {}
/** The key, token or signature is wrong. */
export class AuthenticationError extends ApiError {}
/** The caller may not do this, or not from this address. */
export class ForbiddenError extends ApiError {}
/** The object does not exist or belongs to another caller. */
export class NotFoundError extends ApiError {}
/** The state of the object prevents the request. */
export class ConflictError extends ApiError {}
/** The maximum of the bank or the daily limit is exceeded. */
export class LimitExceededError extends ApiError {}
/** The bank is down or has no connector. Unless `mayExist`, the customer can choose another bank. */
export class BankUnavailableError extends ApiError {}
/** Too many requests, also after the retries. */
export class RateLimitError extends ApiError {}
/** The service failed, also after the retries, or a reply of any status is not from the service. */
export class ServerError extends ApiError {}

/** A debit that has expired has no status. */
export type ExistingDebit = { reference: string; uuid: string; status?: DebitStatus }

/** Another charge has this partner_reference. */
export class DuplicateReferenceError extends ConflictError {
  /** The debit that has the partner_reference. */
  readonly existing = this.details as ExistingDebit
}

/** A debit had no outcome in the time of `waitFor`. */
export class WaitTimeoutError<Debit = unknown> extends DebitCollectionError {
  override mayExist = true
  /** The last state that was read; undefined if no read succeeded. */
  readonly debit: Debit | undefined

  constructor(reference: string, debit: Debit | undefined, options: ErrorOptions) {
    super(`${reference} has no outcome yet`, options)
    this.debit = debit
  }
}

const BY_CODE: Record<number, typeof ApiError> = {
  2003: BankUnavailableError,
  3003: DuplicateReferenceError,
  3005: LimitExceededError,
}

const BY_STATUS: Record<number, typeof ApiError> = {
  401: AuthenticationError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: ValidationError,
  429: RateLimitError,
}

/** Returns the error of a reply: by its code, then by its status. */
export const apiError = (status: number, problem: ApiErrorFields): ApiError => {
  const hasFields = status === 400 && Object.keys(fieldsOf(problem.details)).length > 0
  const found = BY_CODE[problem.code ?? 0] ?? BY_STATUS[status]
  const other = hasFields ? ValidationError : status < 400 || status >= 500 ? ServerError : ApiError
  return new (found ?? other)(status, problem)
}
