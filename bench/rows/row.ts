import type { PartName } from '../rows.ts'

/** One thing that is measured, and what it is to be. */

export type Target =
  | { ratioAtMost: number }
  | { ratioAtLeast: number }
  | { atMost: number }
  /** Shown beside others, and held to nothing: why. */
  | { none: string }

export type Row = {
  part: PartName
  what: string
  /** What it is divided by; absent: the figure stands for itself. */
  base?: string
  unit: 'ms' | 'µs' | '1/s' | 'kB' | 'units' | 'times' | '$'
  target: Target
  /** Why it misses its target where it does. */
  explained?: string
  /** Measured by `--full` alone, or not by `--short`. */
  only?: 'full' | 'not short'
}

/** A tenth more than the base. */
export const TENTH = { ratioAtMost: 1.1 } as const
/** A tenth less in a second. */
export const TENTH_LESS = { ratioAtLeast: 0.9 } as const

export const NOISE =
  'Of some hundred requests it is the few slowest: pauses of the database, in either column.'

/** By their names. */
export type Rows = Readonly<Record<string, Row>>
