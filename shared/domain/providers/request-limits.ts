import * as v from 'valibot'

/** Requests per minute by operation, where an operator replaces the published limit. */
export const RequestLimits = v.record(v.string(), v.number())
export type RequestLimits = Readonly<v.InferOutput<typeof RequestLimits>>

/** Settings with one override set; null removes it. */
export const withRequestLimit = <T extends { requestLimits?: RequestLimits | undefined }>(
  { requestLimits, ...rest }: T,
  operation: string,
  perMinute: number | null,
) => {
  const { [operation]: _, ...others } = requestLimits ?? {}
  const next = perMinute === null ? others : { ...others, [operation]: perMinute }
  return Object.keys(next).length > 0 ? { ...rest, requestLimits: next } : rest
}
