export type Area = 'money' | 'order' | 'tenancy' | 'retry' | 'signing' | 'timers' | 'idempotency'

/** A plausible mistake: one replacement in one file of the product. */
export type Mutant = {
  name: string
  area: Area
  /** The path from the root of the repository. */
  file: string
  /** Text that occurs in the file exactly once. */
  from: string
  to: string
  /** The invariants that may report it first (simulation/invariants/all.ts). */
  invariants: readonly number[]
  /** The events of a run that reveal it. */
  needs: string
}

/** Returns the mutants of one file. */
export const mutantsOf = (
  area: Area,
  file: string,
  mutants: readonly Omit<Mutant, 'area' | 'file'>[],
): Mutant[] => mutants.map((mutant) => ({ ...mutant, area, file }))

/**
 * Returns the source with the mutant's replacement.
 * @throws Error unless `from` occurs exactly once
 */
export const mutate = (source: string, { name, file, from, to }: Mutant): string => {
  const count = source.split(from).length - 1
  if (count !== 1) throw new Error(`${name}: \`from\` occurs ${count} times in ${file}`)
  return source.replace(from, () => to)
}
