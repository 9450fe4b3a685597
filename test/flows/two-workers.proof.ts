import { afterEach, expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { faultsOf } from '../support/world/faults.ts'
import { endOf } from '../support/world/lives.ts'
import { openWorld, type Sent, type WebhookSettings, type World } from '../support/world/world.ts'

/** Two workers at once, as queues bring about: on one attempt, and on the health of one webhook. */

let world: World
/** Whether the test alone says which webhook messages there are. */
let isHeld: boolean

const open = async (settings: WebhookSettings): Promise<void> => {
  isHeld = true
  const isWebhook = (sent: Sent) => 'queue' in sent && sent.queue.startsWith('webhooks-')
  world = await openWorld(settings, { copies: (sent) => (isHeld && isWebhook(sent) ? 0 : 1) })
}

afterEach(() => world.close())

/** A debit of which no event was told yet. */
const untold = async (): Promise<Reference> => {
  const { reference } = await world.charge()
  await world.settle()
  return reference
}

/** A worker at one attempt. */
const attempt = (reference: Reference, n: number, number = 1): Promise<void> => {
  isHeld = false
  world.queues.put('webhooks-low', JSON.stringify({ reference, n, attempt: number }))
  isHeld = true
  return world.work(world.queues.queued.slice(-1))
}

/** Lets the world go on by itself. */
const rest = async (): Promise<void> => {
  isHeld = false
  await world.rest()
  isHeld = true
}

const faults = () => faultsOf(world, { unparted: true })

/** Both post before either is answered; the second is answered once the other has done its work. */
const answeredInTurn = async (reference: Reference, codes: readonly [number, number]) => {
  const both = Promise.withResolvers<number>()
  const oneIsDone = Promise.withResolvers<number>()
  const answers = [() => both.promise, () => oneIsDone.promise]
  world.receiver.conduct = () => {
    if (answers.length === 1) both.resolve(codes[0])
    return answers.shift()?.() ?? 410
  }
  const works = [attempt(reference, 0), attempt(reference, 0)]
  await Promise.race(works)
  oneIsDone.resolve(codes[1])
  await Promise.all(works)
}

test.each([
  { order: 'the success first', codes: [204, 500] },
  { order: 'the failure first', codes: [500, 204] },
] as const)('on one attempt, $order: one record, delivered', async ({ codes }) => {
  await open({ events: ['transaction.created'] })
  const reference = await untold()
  await answeredInTurn(reference, codes)
  await rest()
  expect(await faults()).toEqual([])
  expect(world.receiver.posts).toHaveLength(2)
})

test('a success is on record also when a redelivery is asked for while it is written', async () => {
  await open({ events: ['transaction.created'] })
  const reference = await untold()
  let writes = 0
  world.workers.interleave(async (name) => {
    if (!name.endsWith('DELIVERY#00')) return
    writes += 1
    // The failure's, the success's as if it were alone, and this: the success's beside the other.
    if (writes === 3) await world.redeliver(reference, 0)
  })
  await answeredInTurn(reference, [500, 204])
  await rest()
  expect(await faults()).toEqual([])
})

test('a success beside the last failure of another event: that one is taken up again', async () => {
  await open({ attemptsMax: 2, events: ['transaction.created', 'transaction.pending'] })
  const reference = await untold()
  world.receiver.conduct = () => 500
  await attempt(reference, 0)
  const otherIsDone = Promise.withResolvers<number>()
  const isPosted = Promise.withResolvers<void>()
  world.receiver.conduct = () => {
    isPosted.resolve()
    return otherIsDone.promise
  }
  const success = attempt(reference, 1)
  await isPosted.promise
  world.receiver.conduct = () => 500
  await attempt(reference, 0, 2)
  world.receiver.conduct = () => 204
  otherIsDone.resolve(204)
  await success
  await rest()
  expect(await faults()).toEqual([])
})

test('a last failure that ends after the webhook recovered: the next success takes it up', async () => {
  await open({ attemptsMax: 1, events: ['transaction.created', 'transaction.pending'] })
  const reference = await untold()
  world.receiver.conduct = () => 500
  await attempt(reference, 0)
  const isRecovered = Promise.withResolvers<number>()
  const isPosted = Promise.withResolvers<void>()
  world.receiver.conduct = () => {
    isPosted.resolve()
    return isRecovered.promise
  }
  const failure = attempt(reference, 1)
  await isPosted.promise
  world.receiver.conduct = () => 204
  const other = await untold()
  await attempt(other, 0)
  await world.settle()
  isRecovered.resolve(500)
  await failure
  expect((await endOf(world, reference)).deliveries.map(({ status }) => status)).toContain(
    'abandoned',
  )
  await rest()
  await untold()
  await rest()
  expect(await faults()).toEqual([])
})
