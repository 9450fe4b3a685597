import * as v from 'valibot'

/** Requests per minute by operation, in place of the published limits (docs/api.md#rate-limits). */
export const RequestLimits = v.record(v.string(), v.number())
export type RequestLimits = Readonly<v.InferOutput<typeof RequestLimits>>

/** Sets the override of one operation; null removes it. */
export const withRequestLimit = <T extends { requestLimits?: RequestLimits | undefined }>(
  { requestLimits, ...settings }: T,
  operation: string,
  perMinute: number | null,
) => {
  const { [operation]: _, ...others } = requestLimits ?? {}
  const next = perMinute === null ? others : { ...others, [operation]: perMinute }
  return Object.keys(next).length > 0 ? { ...settings, requestLimits: next } : settings
}
