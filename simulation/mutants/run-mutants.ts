import type { Fault } from './mutant.ts'
import { type End, tryOut } from './run-copy.ts'
import { copyWith, remove } from './source-copies.ts'

/** Worlds with a fault in them, until it is told or the lifecycles are used up. */

/** Debits in each world. */
export const EACH = 100

export type Hunted = {
  fault: Fault
  end: End
  /** What was lived through until then. */
  lifecycles: number
  /** Of the last world. */
  seed: number
  seconds: number
}

type Hunting = { seed: number; lifecycles: number; signal: AbortSignal }

export const hunt = async (
  fault: Fault,
  { seed, lifecycles, signal }: Hunting,
): Promise<Hunted> => {
  const begun = performance.now()
  const folder = await copyWith(fault)
  const wanted = { seed, worlds: Math.ceil(lifecycles / EACH), each: EACH }
  const { end, worlds } = await tryOut(folder, wanted, signal)
  await remove(folder)
  return {
    fault,
    end,
    lifecycles: worlds * EACH,
    seed: seed + worlds - 1,
    seconds: (performance.now() - begun) / 1000,
  }
}

/** A simulator that crashes over a fault has seen it; one that hangs may be merely slow. */
export const isCaught = ({ end }: Hunted): boolean =>
  end.kind === 'caught' || end.kind === 'crashed'

/** Hunts all of them, some at a time; each is handed over as it is done. */
export const huntAll = async (
  faults: readonly Fault[],
  { together, ...hunting }: Hunting & { together: number },
  done: (hunted: Hunted) => void,
): Promise<Hunted[]> => {
  const left = [...faults]
  const hunted: Hunted[] = []
  const work = async (): Promise<void> => {
    while (!hunting.signal.aborted) {
      const fault = left.shift()
      if (!fault) return
      const one = await hunt(fault, hunting)
      if (hunting.signal.aborted) return
      hunted.push(one)
      done(one)
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  return hunted
}
