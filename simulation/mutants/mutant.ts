/** A mistake that a tired engineer could have made, as one replacement in a file of the product. */
export type Fault = {
  name: string
  area: 'money' | 'order' | 'tenancy' | 'retry' | 'signing' | 'timers' | 'idempotency'
  /** From the root of the repository. */
  file: string
  /** What stands in the file exactly once. */
  from: string
  to: string
  /** The invariants that it breaks, each of which may be the first to be told (docs/simulation.md). */
  invariants: readonly number[]
  /** What must happen in the simulated world for it to show. */
  needs: string
  /** Of a fault that is known not to be caught: why. */
  why?: string
}

/**
 * The source of its file with the fault in it.
 * @throws Error when the place of the replacement is not there, or is not the only one
 */
export const planted = (source: string, { name, file, from, to }: Fault): string => {
  const places = source.split(from).length - 1
  if (places !== 1) throw new Error(`${name} finds its place ${places} times in ${file}`)
  return source.replace(from, () => to)
}
