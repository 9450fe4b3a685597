import * as v from 'valibot'
import {
  type RequestException,
  RequestKind,
  requestStatus,
  requestStatuses,
} from '../domain/debits/reversal-request.ts'
import { Reference } from '../domain/ids.ts'
import { Day } from '../domain/time.ts'
import { NullableText, NullableTime, named } from './fields.ts'

/** Shows a request to its provider in the status read (docs/api.md#reversal-requests). */
export const reversalRequestView = (request: RequestException) => ({
  kind: request.request.kind,
  status: requestStatus(request),
  reason: request.report,
  note: request.note ?? null,
  respond_by: request.request.respondBy,
  resolved_at: request.resolvedAt ?? null,
})

export const reversalRequestSchema = () =>
  named(
    'RequestedReversal',
    v.object({
      kind: RequestKind,
      status: v.picklist(requestStatuses),
      reason: NullableText,
      note: NullableText,
      respond_by: Day,
      resolved_at: NullableTime,
    }),
  )

/** Shows an open request in the reply to it. */
export const requestedView = ({ reference, request }: RequestException) => ({
  reference,
  status: 'open' as const,
  respond_by: request.respondBy,
})

export const requestedSchema = () =>
  named(
    'OpenReversal',
    v.object({ reference: Reference, status: v.literal('open'), respond_by: Day }),
  )
