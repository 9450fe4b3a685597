import './platform/register.ts'

/** A process that lives through worlds, one after the other, as it is asked. */

export type Wanted = { seed: number; lifecycles: number }

// Read at each call, and slow where they are the system's own.
process.env = { ...process.env }
// Thousands of refused writes a second, whose stacks nobody reads.
Error.stackTraceLimit = 0

// The product is loaded last: by then the world is in the place of the network and of AWS.
await import('./world/environment.ts')
const { drawPlan } = await import('./world/plan.ts')
const { tryPlan } = await import('./trial.ts')

process.on('message', async ({ seed, lifecycles }: Wanted) => {
  try {
    const { effects: _, ...trial } = await tryPlan(drawPlan(seed, lifecycles))
    process.send?.({ trial })
  } catch (error) {
    process.send?.({ seed, failure: error instanceof Error ? error.stack : String(error) })
  }
})
process.send?.({ ready: true })
