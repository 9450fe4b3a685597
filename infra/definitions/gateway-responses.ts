import { errorHeaders, replyHeaders } from '../../shared/api/reply-headers.ts'
import { docUrl, type ErrorCode, errors } from '../../shared/domain/refusal.ts'

/** Maps every response type of the gateway to the service's error codes (docs/api.md#gateway). */
export const gatewayResponses = {
  REQUEST_TOO_LARGE: { status: 413, code: 1400, details: ['body too large'] },
  BAD_REQUEST_PARAMETERS: { status: 400, code: 1400 },
  BAD_REQUEST_BODY: { status: 400, code: 1400 },
  UNSUPPORTED_MEDIA_TYPE: { status: 400, code: 1400 },
  MISSING_AUTHENTICATION_TOKEN: { status: 404, code: 1404 },
  RESOURCE_NOT_FOUND: { status: 404, code: 1404 },
  // No operation uses the gateway's own credentials, but a caller may still send some.
  UNAUTHORIZED: { status: 401, code: 1401 },
  INVALID_API_KEY: { status: 401, code: 1401 },
  INVALID_SIGNATURE: { status: 401, code: 1401 },
  EXPIRED_TOKEN: { status: 401, code: 1401 },
  ACCESS_DENIED: { status: 403, code: 1403 },
  WAF_FILTERED: { status: 403, code: 1403 },
  THROTTLED: { status: 429, code: 1429 },
  QUOTA_EXCEEDED: { status: 429, code: 1429 },
  AUTHORIZER_FAILURE: { status: 500, code: 1500 },
  AUTHORIZER_CONFIGURATION_ERROR: { status: 500, code: 1500 },
  API_CONFIGURATION_ERROR: { status: 500, code: 1500 },
  INTEGRATION_TIMEOUT: { status: 504, code: 2408 },
  INTEGRATION_FAILURE: { status: 503, code: 1503 },
  DEFAULT_4XX: { status: 400, code: 1400 },
  DEFAULT_5XX: { status: 500, code: 1500 },
} as const satisfies Record<string, GatewayResponseRow>

type GatewayResponseRow = { status: number; code: ErrorCode; details?: readonly string[] }
export type GatewayResponse = keyof typeof gatewayResponses

/** Returns the row of a response type; a paused stage denies every request with 503/1503. */
export const gatewayResponseOf = (
  type: GatewayResponse,
  { paused }: { paused?: boolean } = {},
): GatewayResponseRow =>
  paused && type === 'ACCESS_DENIED' ? { status: 503, code: 1503 } : gatewayResponses[type]

/** The gateway throttles by the second. */
const THROTTLED_SECONDS = 1

/** Returns the headers of a gateway's reply, except X-Request-ID. */
export const gatewayHeaders = ({ status, code }: GatewayResponseRow): Record<string, string> => ({
  ...replyHeaders,
  ...errorHeaders(code, status),
  ...(status === 429 ? { 'Retry-After': String(THROTTLED_SECONDS) } : {}),
})

/** The gateway's variable for the id that it generates; `$context.requestId` can be the caller's. */
export const REQUEST_ID = '$context.extendedRequestId'

/**
 * Returns the body of an error that no function writes (docs/api.md#errors). Its time is null, because
 * the gateway has no variable in ISO 8601.
 */
export const errorBody = (
  { code, details }: { code: ErrorCode; details?: object },
  requestId: string | null,
  guide?: string,
): string => {
  const { message, category, severity } = errors[code]
  return JSON.stringify({
    success: false,
    error: {
      ...{ code, message, category, severity },
      ...docUrl(code, guide),
      ...(details ? { details } : {}),
    },
    ...(details ? { details } : {}),
    meta: { timestamp: null, request_id: requestId, api_version: 'v1' },
  })
}
