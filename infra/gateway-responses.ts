import { type ErrorCode, errors } from '../shared/domain/refusal.ts'

/** What the gateway answers by itself, without any function, in the envelope. */
export const gatewayResponses = {
  REQUEST_TOO_LARGE: { status: 413, code: 1400, details: ['body too large'] },
  BAD_REQUEST_PARAMETERS: { status: 400, code: 1400 },
  BAD_REQUEST_BODY: { status: 400, code: 1400 },
  UNSUPPORTED_MEDIA_TYPE: { status: 400, code: 1400 },
  MISSING_AUTHENTICATION_TOKEN: { status: 404, code: 1404 },
  RESOURCE_NOT_FOUND: { status: 404, code: 1404 },
  ACCESS_DENIED: { status: 403, code: 1403 },
  WAF_FILTERED: { status: 403, code: 1403 },
  THROTTLED: { status: 429, code: 1429 },
  QUOTA_EXCEEDED: { status: 429, code: 1429 },
  INTEGRATION_TIMEOUT: { status: 504, code: 2408 },
  INTEGRATION_FAILURE: { status: 503, code: 1503 },
  DEFAULT_4XX: { status: 400, code: 1400 },
  DEFAULT_5XX: { status: 500, code: 1500 },
} as const satisfies Record<string, { status: number; code: ErrorCode; details?: string[] }>

export type GatewayResponse = keyof typeof gatewayResponses

/** @param frame the time and the id, or the gateway's variables that stand for them */
export const gatewayBody = (
  type: GatewayResponse,
  frame: { timestamp: string; requestId: string },
): string => {
  const { code, ...row }: { code: ErrorCode; details?: readonly string[] } = gatewayResponses[type]
  const { message, category, severity } = errors[code]
  return JSON.stringify({
    success: false,
    error: { code, message, category, severity },
    ...(row.details ? { details: row.details } : {}),
    meta: { timestamp: frame.timestamp, request_id: frame.requestId, api_version: 'v1' },
  })
}
