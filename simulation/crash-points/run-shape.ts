import { checkScenario } from '../check.ts'
import type { Crash } from '../engine/effects.ts'
import type { Violation } from '../engine/observations.ts'
import { scenarioOf, shapes } from './shapes.ts'

/** Worlds of one shape in which a worker is lost at one effect, or at that and a later one. */

export type Unit = {
  /** How many worlds were lived through. */
  worlds: number
  /** How many of them met all of their crashes. */
  met: number
  wrong: { crashes: readonly Crash[]; violations: readonly Violation[] }[]
}

const WHENS = ['before', 'after'] as const

export const shapeNamed = (name: string) => {
  const shape = shapes.find((one) => one.name === name)
  if (!shape) throw new Error(`There is no shape ${name}`)
  return shape
}

export const tryUnit = async ({
  name,
  effect,
  pairs,
}: {
  name: string
  effect: number
  pairs: boolean
}): Promise<Unit> => {
  const scenario = scenarioOf(shapeNamed(name))
  const unit: Unit = { worlds: 0, met: 0, wrong: [] }
  /** @returns how many effects that world had */
  const attempt = async (crashes: readonly Crash[]): Promise<number> => {
    const { violations, effects } = await checkScenario({ ...scenario, crashes })
    unit.worlds += 1
    if (crashes.every((crash) => crash.effect <= effects.length)) unit.met += 1
    if (violations.length > 0) unit.wrong.push({ crashes, violations })
    return effects.length
  }
  for (const when of WHENS) {
    const first = { effect, when }
    if (!pairs) {
      await attempt([first])
      continue
    }
    for (const whenLater of WHENS) {
      // What is done anew has effects of its own, so their number is found on the way.
      let count = Number.POSITIVE_INFINITY
      for (let later = effect + 1; later <= count; later += 1) {
        count = await attempt([first, { effect: later, when: whenLater }])
      }
    }
  }
  return unit
}
