import { apiError, type ProblemDetails, ServerError } from './errors.ts'
import type { Problem } from './wire.ts'

export type Reply = {
  status: number
  requestId: string | undefined
  headers: Headers
  text: string
  /** The envelope, or undefined if the reply has another form. */
  envelope: Envelope | undefined
}

type Envelope = Record<string, unknown> & { success: boolean }

const requestIdOf = (headers: Headers): string | undefined =>
  headers.get('x-request-id') ?? undefined

const envelopeIn = (text: string): Envelope | undefined => {
  try {
    const json = JSON.parse(text)
    const content = json?.success ? json.data : json?.error
    return typeof json?.success === 'boolean' && content instanceof Object ? json : undefined
  } catch {
    return undefined
  }
}

export const fileIn = async (response: Response): Promise<Reply> => {
  const { status, headers } = response
  const text = await response.text()
  return { status, requestId: requestIdOf(headers), headers, text, envelope: undefined }
}

/** Returns a success: an envelope, or text of the format. @throws ApiError for another response */
export const parseSuccess = async (response: Response, format: unknown): Promise<Reply> => {
  const { status, ok, headers } = response
  const text = await response.text()
  const envelope = envelopeIn(text)
  const isReport = format && headers.get('content-type')?.startsWith(`text/${format}`)
  const requestId = requestIdOf(headers)
  if (ok && (envelope?.success || isReport)) return { status, requestId, headers, text, envelope }
  const retryAfter = secondsOf(headers.get('retry-after'))
  if (!envelope || envelope.success) {
    const message = `The reply with status ${status} is not from the service`
    // Not by status: the 404 of a proxy does not mean that a debit is missing.
    throw new ServerError(status, { message, requestId, retryAfter })
  }
  const { error, details } = envelope as unknown as Problem & { details?: ProblemDetails }
  throw apiError(status, { ...error, docUrl: error.doc_url, details, requestId, retryAfter })
}

/** Parses Retry-After: seconds, or the date that some proxies send. */
const secondsOf = (text: string | null): number | undefined => {
  if (!text) return undefined
  const isDate = /^[a-z]/i.test(text)
  const seconds = isDate ? (Date.parse(text) - Date.now()) / 1000 : Number(text)
  return seconds >= 0 ? seconds : undefined
}
