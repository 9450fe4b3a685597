import type { APIGatewayProxyResult } from 'aws-lambda'
import type { Refusal } from '../domain/refusal.ts'
import type { Rate } from '../store/windows.ts'

/** The frame of every reply: envelope, request id, rate headers (specification, the service envelope). */

export const API_VERSION = 'v1'

type Frame = { requestId: string; at: Date; rate: Rate }

export type Success = {
  /** Overrides the operation's own status. */
  status?: number
  data: unknown
  headers?: Record<string, string>
}

const meta = ({ requestId, at }: Frame) => ({
  timestamp: at.toISOString(),
  request_id: requestId,
  api_version: API_VERSION,
})

const reply = (
  status: number,
  body: object,
  frame: Frame,
  headers: Record<string, string> = {},
): APIGatewayProxyResult => ({
  statusCode: status,
  headers: {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Request-ID': frame.requestId,
    'X-RateLimit-Limit': String(frame.rate.limit),
    'X-RateLimit-Remaining': String(frame.rate.remaining),
    'X-RateLimit-Reset': String(frame.rate.reset),
    ...headers,
  },
  body: JSON.stringify(body),
  isBase64Encoded: false,
})

export const successReply = (
  success: Success,
  status: number,
  frame: Frame,
): APIGatewayProxyResult =>
  reply(
    success.status ?? status,
    { success: true, data: success.data, meta: meta(frame) },
    frame,
    success.headers,
  )

/**
 * Both published error forms in one body: validation messages stand in `details` and in
 * `error.details`.
 */
export const refusalReply = (refusal: Refusal, frame: Frame): APIGatewayProxyResult => {
  const { details } = refusal
  return reply(
    refusal.http,
    {
      success: false,
      error: { ...refusal.error, ...(details === undefined ? {} : { details }) },
      ...(details === undefined ? {} : { details }),
      meta: meta(frame),
    },
    frame,
    refusal.variant.headers,
  )
}
