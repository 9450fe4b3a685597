import type { APIGatewayProxyResult } from 'aws-lambda'
import { defined } from '../domain/complete.ts'
import { docUrl, type Refusal } from '../domain/refusal.ts'
import { environment } from '../runtime.ts'
import type { RequestContext } from './context.ts'
import { errorHeaders, replyHeaders } from './reply-headers.ts'

/** The values of a request that every reply shows (docs/api.md#envelope, docs/api.md#headers). */
type Frame = Pick<RequestContext, 'requestId' | 'at' | 'rate'>

/** A file, which has no envelope. */
export type TextReply = { text: string; type: string; filename: string }

export type Success = {
  /** Replaces the status of the operation. */
  status?: number
  data: unknown
  /** Members that one operation publishes next to `data`. */
  topLevel?: Record<string, unknown>
  page?: Pagination
  headers?: Record<string, string>
}

/** The page of a list, as `meta` shows it (docs/api.md#pages). */
type Pagination = {
  current_page?: number
  per_page: number
  total_pages?: number
  total_count?: number
  /** The count stopped at 10,000. */
  total_is_at_least?: true
  next_cursor?: string | null
  has_more?: boolean
}

const meta = ({ requestId, at }: Frame) => ({
  timestamp: at.toISOString(),
  request_id: requestId,
  api_version: 'v1',
})

const framed = (
  status: number,
  body: string,
  { requestId, rate }: Frame,
  headers: Record<string, string> = {},
): APIGatewayProxyResult => ({
  statusCode: status,
  headers: {
    'Content-Type': 'application/json; charset=utf-8',
    ...replyHeaders,
    'X-Request-ID': requestId,
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(rate.remaining),
    'X-RateLimit-Reset': String(rate.reset),
    ...headers,
  },
  body,
  isBase64Encoded: false,
})

const reply = (status: number, body: object, frame: Frame, headers?: Record<string, string>) =>
  framed(status, JSON.stringify(body), frame, headers)

export const textReply = ({ text, type, filename }: TextReply, status: number, frame: Frame) =>
  framed(status, text, frame, {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${filename}"`,
  })

export const successReply = (success: Success, status: number, frame: Frame) =>
  reply(
    success.status ?? status,
    {
      success: true,
      ...success.topLevel,
      data: success.data,
      meta: { ...meta(frame), ...success.page },
    },
    frame,
    success.headers,
  )

/** Renders a refusal in both published forms: `details` and `error.details` (docs/api.md#errors). */
export const refusalReply = (
  refusal: Refusal,
  frame: Frame,
  guide = environment.errorGuide,
): APIGatewayProxyResult => {
  const details = defined({ details: refusal.details })
  const error = { ...refusal.error, ...docUrl(refusal.code, guide), ...details }
  return reply(refusal.http, { success: false, error, ...details, meta: meta(frame) }, frame, {
    ...errorHeaders(refusal.code, refusal.http),
    ...refusal.variant.headers,
  })
}
