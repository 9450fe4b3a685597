import type { Reference } from '../../../shared/domain/ids.ts'
import type { World } from './world.ts'

/** Runs that are made again and again, each with another thing going wrong. */

export const COMPLETED = { status: 'completed', approval_method: 'ussd' }

/** What stands of a debit, and of its deliveries by the number of their event. */
export const endOf = async (world: World, reference: Reference) => {
  const items = (await world.items()).filter(({ pk }) => pk === `DEBIT#${reference}`)
  const history = items.find(({ sk }) => sk === 'DEBIT')?.history as { type: string }[]
  return {
    history: history.map(({ type }) => type),
    deliveries: items.filter(({ entity }) => entity === 'delivery'),
  }
}

/** Until the bank has taken a debit, and may report what became of it. */
export const accepted = (world: World, reference: Reference): Promise<void> =>
  world.rest(async () => (await endOf(world, reference)).history.includes('processing'))

/** A receiver that answers so at first, and then as receivers do. */
export const answering = (...codes: (number | null)[]) => {
  let count = 0
  return (): number | null => {
    const code = codes[count]
    count += 1
    return code === undefined ? 204 : code
  }
}

/** The ways of losing a worker at an effect. */
const DEATHS = [
  { how: 'dies', when: 'before' },
  { how: 'throws', when: 'before' },
  { how: 'dies', when: 'after' },
  { how: 'throws', when: 'after' },
] as const

type Doomed = {
  open: () => Promise<World>
  /** @param doom from where on effects are counted */
  run: (world: World, doom: () => void) => Promise<void>
  /** What is wrong in the end. */
  judge: (world: World) => Promise<string[]>
}

/** Whether each effect is to be met in each of the ways, not in one of them. */
export const isEveryDeath = process.env.EVERY_DEATH !== undefined

/**
 * The same run with a worker lost at one side effect after the other, until none is left.
 * @param effects these alone
 * @returns what was wrong after any of them
 */
export const eachDeath = async (
  { open, run, judge }: Doomed,
  effects?: readonly number[],
): Promise<string[]> => {
  const found: string[] = []
  for (let place = 0; ; place += 1) {
    const effect = effects ? effects[place] : place + 1
    if (effect === undefined) return found
    for (const death of isEveryDeath ? DEATHS : DEATHS.slice((effect - 1) % 4).slice(0, 1)) {
      const world = await open()
      await run(world, () => world.workers.doom({ ...death, effect }))
      const met = world.workers.met()
      const faults = await judge(world)
      await world.close()
      found.push(...faults.map((fault) => `${death.how} ${death.when} ${met?.name}: ${fault}`))
      if (!met && place === 0) throw new Error('There was no effect to be lost at')
      if (!met) return found
    }
  }
}
