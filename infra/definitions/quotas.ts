/**
 * AWS's documented defaults in `eu-west-1` on 22 November 2026. docs/capacity.md#quotas has other Regions
 * and the remedies.
 */
export const quotas = {
  lambdaConcurrency: 1_000,
  gatewayRequestsPerSecond: 10_000,
  tableWriteUnits: 40_000,
  tableReadUnits: 40_000,
  /** Of one partition, which may have a single key of the table or of an index. */
  partitionWriteUnits: 1_000,
  fifoCallsPerGroup: 300,
  schedules: 1_000_000,
  createSchedulesPerSecond: 5_000,
  scheduleInvocationsPerSecond: 1_000,
} as const

/** Lambda reads each shard of the stream four times a second. */
export const READS_PER_SHARD = 4

/** Write units of a debit under load, at most (docs/benchmarks.md#units). */
const UNITS_PER_DEBIT = 18.5

/**
 * Returns the groups of a provider in `feeds.fifo`. Each batch of a shard sends one message to one group, so
 * the busiest provider has four a shard and second.
 */
export const feedGroupsOf = ({ throttle }: { throttle: { perSecond: number } }): number => {
  const shards = (throttle.perSecond * UNITS_PER_DEBIT) / quotas.partitionWriteUnits
  return Math.ceil((READS_PER_SHARD * shards) / quotas.fifoCallsPerGroup)
}
