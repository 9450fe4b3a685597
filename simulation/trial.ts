import type { FaultName } from './engine/faults.ts'
import type { Complaint } from './engine/observations.ts'
import { complaintsOf } from './invariants/all.ts'
import { live } from './run.ts'
import type { Plan } from './scenario/scenario.ts'

/** One world, lived through and held against what must hold. */

export type Trial = {
  seed: number
  lifecycles: number
  /** Debits that came into being. */
  debits: number
  steps: number
  digest: string
  complaints: Complaint[]
  hits: [FaultName, number][]
  effects: readonly string[]
}

export const tryPlan = async (plan: Plan, print?: (line: string) => void): Promise<Trial> => {
  const { witnessed, steps, digest, hits, effects } = await live(plan, print)
  return {
    seed: plan.seed,
    lifecycles: plan.lives.length,
    debits: witnessed.items.filter(({ entity }) => entity === 'debit').length,
    steps,
    digest,
    complaints: complaintsOf(witnessed),
    hits: [...hits],
    effects,
  }
}
