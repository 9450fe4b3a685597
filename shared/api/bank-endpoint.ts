import { measure } from '../metrics.ts'
import type { RequestContext } from './context.ts'
import { endpoint } from './endpoint.ts'

/** Counts a 4xx reply to a bank in one metric: a rejected report can cost a customer's money. */
const countRefused = ({ credentialRefused }: RequestContext, status: number): void => {
  if (status < 400 || status >= 500) return
  if (credentialRefused) measure({ BankCredentialsRefused: 1 })
  else if (status === 429) measure({ BankRequestsLimited: 1 })
  else measure({ BankRequestsRefused: 1 })
}

/** Wraps a bank's operation. Only this wrapper imports the metrics library. */
export const bankEndpoint: typeof endpoint = (name, handle, options) =>
  endpoint(name, handle, { ...options, onReply: countRefused })
