import { createHmac } from 'node:crypto'
import type { Post } from '../../simulation/engine/observations.ts'
import type { RawDelivery } from '../../simulation/invariants/raw-items.ts'
import {
  changesOf,
  deliveryOf,
  type Fault,
  falsify,
  must,
  overwrite,
  postsOf,
  type Tampered,
  take,
} from './planted.ts'

/** Signs a post anew, as if its bytes had always been others. */
const tell = ({ scene }: Tampered, post: Post, raw: string): void => {
  const secret = must(scene.providers[0]?.webhook).secret
  const { 'webhook-id': id, 'webhook-timestamp': time } = post.headers
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const standard = createHmac('sha256', key).update(`${id}.${time}.${raw}`).digest('base64')
  post.raw = raw
  post.headers['x-svc-signature'] = createHmac('sha256', secret).update(raw).digest('hex')
  post.headers['webhook-signature'] = `v1,${standard}`
}

const COMPLETED = 3

const completedPost = (world: Tampered, reference: string): Post =>
  must(postsOf(world, reference, COMPLETED)[0])

/** The record of the one event whose first attempt was answered 500, and that attempt. */
const failedOnce = (world: Tampered) => {
  const failed = must(world.changes.find(({ after }) => after?.nextAttemptAt && after.last))
  const after = must(failed.after) as RawDelivery
  return { after, record: deliveryOf(world, after.reference, after.n) }
}

/** Faults in events, in their posts and in the records of their delivery. */
export const inEvents: readonly Fault[] = [
  {
    number: 11,
    what: 'a bank that acts twice',
    plant: ({ handOvers }) => handOvers.push({ ...must(handOvers[0]) }),
  },
  {
    number: 11,
    what: 'a repeat under another key',
    plant: ({ handOvers }) =>
      handOvers.push({ ...must(handOvers[0]), idempotencyKey: 'another', effective: false }),
  },
  {
    number: 11,
    what: 'a repeat with other bytes',
    plant: ({ handOvers }) => {
      const first = must(handOvers[0])
      const body = { ...first.body, narration: 'Order 2' }
      handOvers.push({ ...first, body, effective: false })
    },
  },
  {
    number: 12,
    what: 'an event that names another status before',
    plant: (world, { settled }) => {
      const post = completedPost(world, settled)
      const told = '"previous_status":"processing"'
      tell(world, post, post.raw.replace(told, '"previous_status":"pending"'))
    },
  },
  {
    number: 13,
    what: 'an attempt with another event id',
    plant: (world, { settled }) => {
      completedPost(world, settled).headers['x-svc-event-id'] = 'evt_1'
    },
  },
  {
    number: 13,
    what: 'two attempts of one name',
    plant: (world, { settled }) => world.posts.push({ ...completedPost(world, settled) }),
  },
  {
    number: 14,
    what: 'an event that shows what came later',
    plant: (world, { settled }) => {
      const post = must(postsOf(world, settled, 1)[0])
      tell(world, post, post.raw.replace('"bank_reference":null', '"bank_reference":"GCB-0001"'))
    },
  },
  {
    number: 14,
    what: 'an event that is not in the feed',
    plant: ({ items }, { settled }) => {
      for (const item of items.filter(({ entity }) => entity === 'feed-page')) {
        const entries = item.entries as string[]
        item.entries = entries.filter((entry) => entry !== `${settled}#3`)
      }
    },
  },
  {
    number: 14,
    what: 'an event that never happened',
    plant: ({ items }, { settled }) => {
      const page = must(items.find(({ entity }) => entity === 'feed-page'))
      page.entries = [...(page.entries as string[]), `${settled}#7`]
    },
  },
  {
    number: 14,
    what: 'a payment that is told with another sum',
    plant: (world) => {
      const post = must(world.posts.find(({ raw }) => raw.includes('settlement.completed')))
      tell(world, post, post.raw.replace('"paid":141.51', '"paid":141.52'))
    },
  },
  {
    number: 15,
    what: 'an event without a record',
    plant: (world, { settled }) => take(world, deliveryOf(world, settled, COMPLETED)),
  },
  {
    number: 15,
    what: 'a record that waits for ever',
    plant: (world, { settled }) => {
      const nextAttemptAt = '2026-11-21T13:00:00.000Z'
      Object.assign(deliveryOf(world, settled, COMPLETED), { status: 'failed', nextAttemptAt })
    },
  },
  {
    number: 15,
    what: 'delivered, and nobody has received it',
    plant: (world, { settled }) => {
      for (const post of postsOf(world, settled, COMPLETED)) post.heard = false
    },
  },
  {
    number: 15,
    what: 'more attempts than there may be',
    plant: (world, { settled }) =>
      falsify(world, deliveryOf(world, settled, COMPLETED), { attemptsMax: 12 }),
  },
  {
    number: 16,
    what: 'an attempt a second after the first',
    plant: (world) => {
      const { after } = failedOnce(world)
      const at = Date.parse(must(after.last).at) + 1000
      after.nextAttemptAt = new Date(at).toISOString()
    },
  },
  {
    number: 16,
    what: 'an attempt before it was due',
    plant: (world) => {
      const { after, record } = failedOnce(world)
      const second = must(postsOf(world, record.reference, record.n)[1])
      second.at = Date.parse(after.nextAttemptAt ?? '') - 1
    },
  },
  {
    number: 17,
    what: 'another attempt after a 404',
    plant: (world) => {
      const { after, record } = failedOnce(world)
      Object.assign(must(after.last), { responseCode: 404, cause: 'status' })
      must(postsOf(world, record.reference, record.n)[0]).code = 404
    },
  },
  {
    number: 17,
    what: 'given up after a 503',
    plant: (world, { settled }) => {
      const record = deliveryOf(world, settled, COMPLETED)
      const last = { ...must(record.last), responseCode: 503, cause: 'status' }
      falsify(world, record, { status: 'abandoned', last })
    },
  },
  {
    number: 17,
    what: 'an attempt after it was delivered',
    plant: (world, { settled }) => {
      const record = deliveryOf(world, settled, COMPLETED)
      const at = '2026-11-21T13:00:00.000Z'
      const last = { ...record.last, id: 'dlv_1_f', number: 2, at }
      overwrite(world, record, { attemptCount: 2, last }, 'deliver-webhook')
    },
  },
  {
    number: 17,
    what: 'an answer on record that no receiver gave',
    plant: (world, { settled }) => {
      for (const { after } of changesOf(world, deliveryOf(world, settled, COMPLETED))) {
        Object.assign(must((after as RawDelivery).last), { responseCode: 201 })
      }
    },
  },
  {
    number: 18,
    what: 'a signature of other bytes',
    plant: (world, { settled }) => {
      completedPost(world, settled).raw += ' '
    },
  },
  {
    number: 18,
    what: 'bytes that are not minified',
    plant: (world, { settled }) => {
      const post = completedPost(world, settled)
      tell(world, post, post.raw.replace(',"data"', ', "data"'))
    },
  },
  {
    number: 18,
    what: 'a standard signature by another secret',
    plant: (world, { settled }) => {
      completedPost(world, settled).headers['webhook-signature'] = 'v1,AAAA'
    },
  },
  {
    number: 19,
    what: 'a post to the receiver of another',
    plant: ({ posts, scene }) => {
      const url = 'https://other.test/webhooks'
      const webhook = { ...must(scene.providers[0]?.webhook), url }
      Object.assign(must(scene.providers[1]), { webhook })
      must(posts[0]).url = url
    },
  },
]
