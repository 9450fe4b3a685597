/** List prices in US dollars, of one each, without any free tier. */
export const prices = {
  of: 'list prices of eu-west-1, November 2025',
  /** REST API. */
  apiRequest: 3.5e-6,
  firewallRequest: 0.6e-6,
  invocation: 0.2e-6,
  /** Lambda on arm64. */
  gigabyteSecond: 13.3334e-6,
  /** On demand. */
  writeUnit: 0.705e-6,
  readUnit: 0.141e-6,
  /** Standard queues. */
  queueRequest: 0.4e-6,
  schedule: 1e-6,
  loggedGigabyte: 0.57,
} as const
