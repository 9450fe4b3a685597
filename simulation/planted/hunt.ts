import { copyWith, remove } from './copies.ts'
import type { Fault } from './fault.ts'
import { type End, tryOut } from './trial.ts'

/** One fault in a world of its own, which lives until it is told or the lifecycles are used up. */
export type Hunted = {
  fault: Fault
  end: End
  /** What was lived through until then, and by which seed it was told. */
  lifecycles: number
  seed: number
  seconds: number
}

/** Most are told within a few lifecycles; each seed after the first has twice as many. */
const FIRST_LIFECYCLES = 25

export const hunt = async (fault: Fault, budget: number, signal: AbortSignal): Promise<Hunted> => {
  const begun = performance.now()
  const folder = await copyWith(fault)
  let lived = 0
  let seed = 0
  let end: End = { kind: 'clean' }
  while (lived < budget && end.kind === 'clean' && !signal.aborted) {
    const lifecycles = Math.min(FIRST_LIFECYCLES * 2 ** seed, budget - lived)
    seed += 1
    lived += lifecycles
    end = await tryOut(folder, { lifecycles, seed }, signal)
  }
  await remove(folder)
  const seconds = (performance.now() - begun) / 1000
  return { fault, end, lifecycles: lived, seed, seconds }
}

/** A simulator that crashes over a fault has seen it; one that hangs may be merely slow. */
export const isCaught = ({ end }: Hunted): boolean =>
  end.kind === 'caught' || end.kind === 'crashed'

/** Works on all of them, some at a time; each is handed over as it is done. */
export const huntAll = async (
  faults: readonly Fault[],
  { budget, together, signal }: { budget: number; together: number; signal: AbortSignal },
  done: (hunted: Hunted) => void,
): Promise<Hunted[]> => {
  const left = [...faults]
  const hunted: Hunted[] = []
  const work = async (): Promise<void> => {
    for (let fault = left.shift(); fault && !signal.aborted; fault = left.shift()) {
      const one = await hunt(fault, budget, signal)
      if (signal.aborted) return
      hunted.push(one)
      done(one)
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  return hunted
}
