import { expect, test } from 'vitest'
import { faultsOf } from '../support/world/faults.ts'
import { accepted, answering, COMPLETED, eachDeath, endOf } from '../support/world/lives.ts'
import { openWorld, type World } from '../support/world/world.ts'

/** A worker that is lost just before or after anything it does, in the whole life of a debit. */

const EACH = 600_000

const life = {
  open: () => openWorld(),
  run: async (world: World, doom: () => void) => {
    world.receiver.conduct = answering(500)
    doom()
    const { reference, uuid } = await world.charge()
    await accepted(world, reference)
    await world.pass(20)
    await world.report(uuid, COMPLETED)
    await world.rest()
    const { history } = await endOf(world, reference)
    expect(history).toEqual(['created', 'pending', 'processing', 'completed'])
  },
  judge: (world: World) => faultsOf(world, { repeats: 1 }),
}

test(
  'from the charge to the last event: the debit ends and each event arrives',
  async () => {
    expect(await eachDeath(life)).toEqual([])
  },
  EACH,
)
