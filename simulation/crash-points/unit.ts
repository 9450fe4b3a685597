import type { Death } from '../engine/effects.ts'
import type { Complaint } from '../engine/observations.ts'
import { tryPlan } from '../trial.ts'
import { planOf, shapes } from './shapes.ts'

/** Worlds of one shape in which a worker is lost at one effect, or at that and a later one. */

export type Unit = {
  /** How many worlds were lived through. */
  worlds: number
  /** How many of them met all of their deaths. */
  met: number
  wrong: { deaths: readonly Death[]; complaints: readonly Complaint[] }[]
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
  const plan = planOf(shapeNamed(name))
  const unit: Unit = { worlds: 0, met: 0, wrong: [] }
  /** @returns how many effects that world had */
  const attempt = async (deaths: readonly Death[]): Promise<number> => {
    const { complaints, effects } = await tryPlan({ ...plan, deaths })
    unit.worlds += 1
    if (deaths.every((death) => death.effect <= effects.length)) unit.met += 1
    if (complaints.length > 0) unit.wrong.push({ deaths, complaints })
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
