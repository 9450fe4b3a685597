import { expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { NOON } from '../support/examples.ts'
import { faultsOf } from '../support/world/faults.ts'
import { answering, eachDeath } from '../support/world/lives.ts'
import { openWorld, type World } from '../support/world/world.ts'

/** A redelivery and a recovery on somebody's word, and a worker lost at any of their effects. */

const EACH = 600_000

/** Of a debit that its bank has rejected: an event that the receiver has refused for good. */
const refused = async (world: World) => {
  world.receiver.conduct = answering(410)
  const { reference } = await world.charge('+233240000001')
  await world.settle()
  return reference
}

const asked = (ask: (world: World, reference: Reference) => Promise<unknown>) => ({
  open: () => openWorld({ events: ['transaction.created'] }),
  run: async (world: World, doom: () => void) => {
    const reference = await refused(world)
    doom()
    await ask(world, reference)
    await world.rest()
  },
  judge: (world: World) => faultsOf(world, { repeats: 1, unparted: true }),
})

test(
  'a redelivery: the event arrives',
  async () => {
    const redelivery = asked((world, reference) => world.redeliver(reference, 0))
    expect(await eachDeath(redelivery)).toEqual([])
  },
  EACH,
)

test(
  'a recovery: the event arrives',
  async () => {
    const recovery = asked((world) => world.recover(world.provider, NOON))
    expect(await eachDeath(recovery)).toEqual([])
  },
  EACH,
)
