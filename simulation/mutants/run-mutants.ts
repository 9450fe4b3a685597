import type { Mutant } from './mutants.ts'
import { type End, runCopy } from './run-copy.ts'
import { copySource, removeCopy } from './source-copies.ts'

/** Debits per run. */
export const EACH = 100

export type MutantResult = {
  mutant: Mutant
  end: End
  lifecycles: number
  /** The seed of the last run. */
  seed: number
  seconds: number
}

type Limits = { seed: number; lifecycles: number; signal: AbortSignal }

const runMutant = async (
  mutant: Mutant,
  { seed, lifecycles, signal }: Limits,
): Promise<MutantResult> => {
  const startedAt = performance.now()
  const folder = await copySource(mutant)
  const task = { seed, runs: Math.ceil(lifecycles / EACH), each: EACH }
  const { end, runs } = await runCopy(folder, task, signal)
  await removeCopy(folder)
  return {
    mutant,
    end,
    lifecycles: runs * EACH,
    seed: seed + runs - 1,
    seconds: (performance.now() - startedAt) / 1000,
  }
}

/** A crash of the simulator reveals the mutant; a hang may be mere slowness. */
export const isCaught = ({ end }: MutantResult): boolean =>
  end.kind === 'caught' || end.kind === 'crashed'

/** Runs mutants, some at a time, each until it is caught or its lifecycles are used up. */
export const runMutants = async (
  mutants: readonly Mutant[],
  { together, ...limits }: Limits & { together: number },
  onResult: (result: MutantResult) => void,
): Promise<MutantResult[]> => {
  const remaining = [...mutants]
  const results: MutantResult[] = []
  const work = async (): Promise<void> => {
    while (!limits.signal.aborted) {
      const mutant = remaining.shift()
      if (!mutant) return
      const result = await runMutant(mutant, limits)
      if (limits.signal.aborted) return
      results.push(result)
      onResult(result)
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  return results
}
