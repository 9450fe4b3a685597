import { measure } from '../metrics.ts'
import type { RequestContext } from './context.ts'
import { endpoint } from './endpoint.ts'

/**
 * Counts a bank's request that is answered 4xx, once and in one metric: a refused report can cost a
 * customer's money. Other replies write no line.
 */
const countRefused = ({ credentialRefused }: RequestContext, status: number): void => {
  if (status < 400 || status >= 500) return
  if (credentialRefused) measure({ BankCredentialsRefused: 1 })
  else if (status === 429) measure({ BankRequestsLimited: 1 })
  else measure({ BankRequestsRefused: 1 })
}

/** The wrapper of a bank's operation. Providers' bundles stay without the metrics library. */
export const bankEndpoint: typeof endpoint = (name, runtime, handle, options) =>
  endpoint(name, runtime, handle, { ...options, onReply: countRefused })
