import type { RequestLimits } from '../domain/providers/request-limits.ts'
import { environment } from '../runtime.ts'
import { type Operation, type OperationName, operations } from './operations.ts'

/** Requests per minute in the published scope, and over all references. */
export type EffectiveLimit = { perMinute: number; total?: number }

/** Returns the override of a provider or bank, or the published limit. An override scales `total` too. */
export const effectiveLimit = (
  name: OperationName,
  overrides: RequestLimits = {},
): EffectiveLimit => {
  const { limit }: Operation = operations[name]
  const published = limit[environment.limits]
  const perMinute = overrides[name] ?? published
  if (!limit.perCaller) return { perMinute }
  const total = limit.perCaller[environment.limits]
  return { perMinute, total: Math.ceil((total * perMinute) / published) }
}
