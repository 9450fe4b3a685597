import { expect, test } from 'vitest'
import { automaticRecovery } from '../../shared/domain/webhooks/recovery.ts'
import { openRecovery } from '../../shared/store/webhooks/recoveries.ts'
import { faultsOf } from '../support/world/faults.ts'
import { accepted, COMPLETED, eachDeath, endOf, isEveryDeath } from '../support/world/lives.ts'
import { leaveOutage } from '../support/world/outage.ts'
import { openWorld, type World } from '../support/world/world.ts'

/** A receiver that is down for longer than its events are tried, and answers again later. */

const EACH = 600_000
const down = () => null
const up = () => 204

test('down through all attempts: abandoned, with a reason; up again: all that was missed arrives', async () => {
  const world = await openWorld()
  world.receiver.conduct = down
  const { reference, uuid } = await world.charge()
  await accepted(world, reference)
  await world.report(uuid, COMPLETED)
  await world.rest()
  expect(await faultsOf(world, { prompt: true, ends: ['abandoned'] })).toEqual([])
  const { deliveries } = await endOf(world, reference)
  expect(deliveries.map(({ attemptCount, reason }) => [attemptCount, reason])).toEqual([
    [3, 4001],
    [3, 4001],
    [6, 4001],
    [11, 4001],
  ])
  world.receiver.conduct = up
  await world.charge()
  await world.rest()
  expect(await faultsOf(world, { unparted: true })).toEqual([])
  await world.close()
})

const outage = {
  open: () =>
    openWorld({
      attemptsMax: 1,
      events: ['transaction.processing', 'transaction.completed', 'transaction.failed'],
    }),
  run: async (world: World, doom: () => void) => {
    world.receiver.conduct = down
    const { reference, uuid } = await world.charge()
    await accepted(world, reference)
    doom()
    // Until the attempt was made; whoever is lost then comes again when the receiver is up.
    await world.pass(280)
    world.receiver.conduct = up
    await world.report(uuid, COMPLETED)
    await world.rest()
    const met = world.workers.met()
    if (met?.how !== 'throws' || met.name !== 'post') return
    // A post that breaks is one more attempt that failed: then the next event tells.
    await world.charge()
    await world.rest()
  },
  judge: (world: World) => faultsOf(world, { repeats: 1, unparted: true }),
}

test(
  'a worker is lost while an event is abandoned and taken up again: it arrives',
  async () => {
    expect(await eachDeath(outage)).toEqual([])
  },
  EACH,
)

const twoPages = {
  open: () => openWorld(),
  run: async (world: World, doom: () => void) => {
    await leaveOutage(world, 18)
    doom()
    const opening = { provider: world.provider, id: 'automatic-1', now: world.now() }
    await openRecovery(automaticRecovery(opening))
    await world.rest()
  },
  judge: (world: World) => faultsOf(world, { repeats: 1, unparted: true }),
}

test(
  'a worker is lost in a recovery of two pages: all that was missed arrives',
  async () => {
    // In the first page, at the page itself, and about what follows it.
    const effects = isEveryDeath ? [1, 2, 3, 102, 103] : [3, 102]
    expect(await eachDeath(twoPages, effects)).toEqual([])
  },
  EACH,
)

test('a recovery that was opened, and nobody knows: what is abandoned since is taken up too', async () => {
  const world = await openWorld({ attemptsMax: 1, events: ['transaction.created'] })
  world.receiver.conduct = down
  await world.charge()
  await world.settle()
  world.receiver.conduct = up
  world.workers.interleave(async (name) => {
    if (!name.endsWith('WEBHOOK_HEALTH') || world.receiver.conduct === down) return
    world.receiver.conduct = down
    throw new Error('throttled')
  })
  await world.charge()
  await world.rest()
  expect(world.receiver.posts.map(({ code }) => code)).toEqual([null, 204, null, null])
  world.workers.interleave(async () => undefined)
  world.receiver.conduct = up
  await world.charge()
  await world.rest()
  expect(await faultsOf(world, { repeats: 1, unparted: true })).toEqual([])
  await world.close()
})
