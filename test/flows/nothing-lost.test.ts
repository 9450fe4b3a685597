import { afterEach, describe, expect, test } from 'vitest'
import { faultsOf } from '../support/world/faults.ts'
import { accepted, answering, COMPLETED, endOf } from '../support/world/lives.ts'
import { leaveOutage } from '../support/world/outage.ts'
import {
  type Luck,
  openWorld,
  type Sent,
  type WebhookSettings,
  type World,
} from '../support/world/world.ts'

/** Whatever is lost, doubled or late on the way, each debit ends and each event arrives. */

const LIFE = ['created', 'pending', 'processing', 'completed']

const worlds: World[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close()
})

const opened = async (settings: WebhookSettings = {}, luck: Luck = {}): Promise<World> => {
  const world = await openWorld(settings, luck)
  worlds.push(world)
  return world
}

/** A charge, its submission, the bank's report, and a receiver that fails once. */
const liveThrough = async (world: World) => {
  world.receiver.conduct = answering(500)
  const { reference, uuid } = await world.charge()
  await accepted(world, reference)
  await world.pass(20)
  await world.report(uuid, COMPLETED)
  await world.rest()
  expect((await endOf(world, reference)).history).toEqual(LIFE)
}

test('a debit whose receiver fails once: four events, five attempts, and nothing is left to do', async () => {
  const world = await opened()
  await liveThrough(world)
  expect(await faultsOf(world, { prompt: true })).toEqual([])
  expect(world.receiver.posts).toHaveLength(5)
})

describe('messages, timers and stream records that come twice, and in any order', () => {
  test.each([1, 2, 3, 4])('one history, one record for each event (seed %i)', async (seed) => {
    const world = await opened({}, { seed, copies: () => 2, shuffled: true })
    await liveThrough(world)
    expect(await faultsOf(world)).toEqual([])
    expect(world.receiver.posts).toHaveLength(5)
  })
})

describe('what is lost on the way', () => {
  // A completed debit is looked at once: what follows from that look must not need another.
  test('messages about events that are lost again and again', async () => {
    let lost = 0
    const copies = (sent: Sent): number => {
      if (!('queue' in sent) || !sent.queue.startsWith('webhooks') || lost === 12) return 1
      lost += 1
      return 0
    }
    const world = await opened({}, { copies })
    const { reference, uuid } = await world.charge()
    await accepted(world, reference)
    await world.pass(20)
    await world.report(uuid, COMPLETED)
    await world.rest()
    expect(lost).toBe(12)
    expect(await faultsOf(world)).toEqual([])
    expect(world.receiver.posts).toHaveLength(LIFE.length)
  })

  const STREAM = (sent: Sent) => ('records' in sent ? 0 : 1)

  test.each([
    { what: 'completed', report: COMPLETED, end: 'completed' },
    { what: 'failed', report: { status: 'failed', error_message: 'Declined' }, end: 'failed' },
    { what: 'timed-out', report: undefined, end: 'failed' },
  ])(
    'the whole stream: the sweep alone brings a $what debit to its end',
    async ({ report, end }) => {
      const world = await opened({}, { copies: STREAM })
      const { reference, uuid } = await world.charge()
      await accepted(world, reference)
      if (report) await world.report(uuid, report)
      await world.rest()
      expect((await endOf(world, reference)).history.at(-1)).toBe(end)
      expect(await faultsOf(world)).toEqual([])
    },
  )

  test('every timer: the sweep ends a debit whose bank is silent', async () => {
    const world = await opened({}, { copies: (sent) => ('schedule' in sent ? 0 : 1) })
    const { reference } = await world.charge()
    await world.rest()
    expect((await endOf(world, reference)).history).toEqual([...LIFE.slice(0, 3), 'failed'])
    expect(await faultsOf(world)).toEqual([])
  })

  test('each message, the first time it is sent', async () => {
    const lost = new Set<string>()
    const once = (sent: Sent): number => {
      if (!('queue' in sent) || lost.has(sent.queue + sent.body)) return 1
      lost.add(sent.queue + sent.body)
      return 0
    }
    const world = await opened({}, { copies: once })
    const { reference, uuid } = await world.charge()
    await accepted(world, reference)
    await world.report(uuid, COMPLETED)
    await world.rest()
    expect((await endOf(world, reference)).history).toEqual(LIFE)
    expect(await faultsOf(world)).toEqual([])
  })

  test('each message about a page of a recovery, the first time it is sent', async () => {
    const lost = new Set<string>()
    const once = (sent: Sent): number => {
      if (!('queue' in sent) || sent.queue !== 'recoveries' || lost.has(sent.body)) return 1
      lost.add(sent.body)
      return 0
    }
    const world = await opened({}, { copies: once })
    await leaveOutage(world, 1)
    await world.recover(world.provider, new Date(world.now().getTime() - 60_000))
    await world.rest()
    expect(lost.size).toBeGreaterThan(0)
    expect(await faultsOf(world, { unparted: true })).toEqual([])
  })
})
