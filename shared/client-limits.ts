/** Timeouts and attempts of the AWS clients. Without a timeout, a lost reply would hold a worker until Lambda ends it. */

const within = (requestTimeout: number, maxAttempts: number) => ({
  maxAttempts,
  requestHandler: { connectionTimeout: 1_000, requestTimeout, throwOnRequestTimeout: true },
})

export const clientLimits = {
  // Far below the deadline of a handler, so that a lost connection costs one retry.
  table: within(2_000, 2),
  // The reads of sealing key and client certificate and a query then end within the 15 s of the sweep for banks.
  secrets: within(2_000, 2),
  schedules: within(2_000, 3),
  queues: within(3_000, 3),
  objects: within(10_000, 3),
  // Payments and bank requests take less than a minute. A retry would run while the first call is in flight.
  functions: within(60_000, 1),
}
