import { checkScenario } from '../check.ts'
import type { Crash } from '../engine/effects.ts'
import type { Violation } from '../engine/observations.ts'
import { scenarioOf, shapeNamed } from './shapes.ts'

export type ShapeResult = {
  runs: number
  /** Runs in which all crashes happened. */
  crashed: number
  failed: { crashes: readonly Crash[]; violations: readonly Violation[] }[]
}

type ShapeTask = { name: string; effect: number; pairs: boolean }

const WHENS = ['before', 'after'] as const

/** Runs a shape with a crash at one effect, or at that and each later one. */
export const runShape = async ({ name, effect, pairs }: ShapeTask): Promise<ShapeResult> => {
  const scenario = scenarioOf(shapeNamed(name))
  const result: ShapeResult = { runs: 0, crashed: 0, failed: [] }
  const runWith = async (crashes: readonly Crash[]): Promise<number> => {
    const { violations, effects } = await checkScenario({ ...scenario, crashes })
    result.runs += 1
    if (crashes.every((crash) => crash.effect <= effects.length)) result.crashed += 1
    if (violations.length > 0) result.failed.push({ crashes, violations })
    return effects.length
  }
  for (const when of WHENS) {
    const first = { effect, when }
    if (!pairs) {
      await runWith([first])
      continue
    }
    for (const whenLater of WHENS) {
      // Retries add effects, so each run corrects their number.
      let count = Number.POSITIVE_INFINITY
      for (let later = effect + 1; later <= count; later += 1) {
        count = await runWith([first, { effect: later, when: whenLater }])
      }
    }
  }
  return result
}
