import type { Effects } from '../engine/effects.ts'
import type { Faults } from '../engine/faults.ts'
import { unavailable } from './failures.ts'
import type { Command } from './sdk.ts'

/** Calls to S3, which stores nothing: no function reads a report. */
export const reportCalls =
  ({ effects, faults }: { effects: Effects; faults: Faults }) =>
  ({ constructor: { name }, input }: Command): Promise<unknown> | undefined => {
    if (name !== 'PutObjectCommand') return undefined
    const outgoing = { name: `report ${input.Key}`, changes: true, takes: [20, 90] } as const
    return effects.call(outgoing, () => {
      if (faults.strikes('report not written')) throw unavailable()
      return {}
    })
  }
