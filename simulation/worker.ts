import './platform/register.ts'
import type { Unit } from './crash-points/unit.ts'
import type { Trial } from './trial.ts'

/** A process that lives through worlds, one after the other, as it is asked. */

export type Wanted =
  /** The world of a seed. */
  | { kind: 'world'; seed: number; lifecycles: number }
  /** A shape of a life, whose worker is lost at one effect, or at that and each of those after it. */
  | { kind: 'shape'; name: string; effect: number; pairs: boolean }

export type Told =
  | { kind: 'world'; trial: Omit<Trial, 'effects'> }
  | { kind: 'shape'; unit: Unit }
  | { kind: 'failure'; says: string }

// Read at each call, and slow where they are the system's own.
process.env = { ...process.env }
// Thousands of refused writes a second, whose stacks nobody reads.
Error.stackTraceLimit = 0

// The product is loaded last: by then the world is in the place of the network and of AWS.
await import('./engine/environment.ts')
const { drawPlan } = await import('./scenario/scenario.ts')
const { tryPlan } = await import('./trial.ts')
const { tryUnit } = await import('./crash-points/unit.ts')

const answer = async (wanted: Wanted): Promise<Told> => {
  if (wanted.kind === 'shape') return { kind: 'shape', unit: await tryUnit(wanted) }
  const { effects: _, ...trial } = await tryPlan(drawPlan(wanted.seed, wanted.lifecycles))
  return { kind: 'world', trial }
}

process.on('message', async (wanted: Wanted) => {
  const told = await answer(wanted).catch(
    (error: unknown): Told => ({ kind: 'failure', says: String(error) }),
  )
  process.send?.(told)
})
process.send?.('ready')
