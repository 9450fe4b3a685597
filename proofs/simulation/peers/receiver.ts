import type { Clock } from '../../../sandbox/aws/clock.ts'
import type { Faults } from '../engine/faults.ts'
import type { Peer, PeerAnswer, PeerRequest, PeerResponse } from '../engine/network.ts'
import type { Post } from '../engine/observations.ts'
import type { Random } from '../engine/random.ts'

/** A provider's webhook receiver, with its failures. */

type Deps = {
  clock: Clock
  random: Random
  faults: Faults
  posts: Post[]
  downs: readonly { from: number; to: number }[]
  /** The statuses of the first responses of all receivers; 0 for none. */
  answers: number[]
}

const answer = (code: number, headers: Record<string, string> = {}, text = ''): PeerAnswer => ({
  code,
  headers,
  text,
})

const PERMANENT = [400, 401, 403, 404, 405, 410, 422, 301, 302, 501]

export const newReceiver = ({ clock, random, faults, posts, downs, answers }: Deps): Peer => {
  const isDown = (): boolean => {
    const now = clock.now()
    if (!downs.some(({ from, to }) => from <= now && now < to)) return false
    return faults.has('receiver flaps')
  }

  const conduct = (): Pick<PeerResponse, 'after' | 'answer'> => {
    const soon = random.between(20, 400)
    const next = answers.shift()
    if (next === 0) return { after: 0, answer: 'silence' }
    if (next !== undefined) return { after: soon, answer: answer(next) }
    if (isDown()) {
      faults.hit('receiver flaps')
      return { after: soon, answer: answer(503) }
    }
    if (faults.strikes('receiver silent')) return { after: 0, answer: 'silence' }
    if (faults.strikes('receiver breaks off')) return { after: soon, answer: 'broken off' }
    if (faults.strikes('receiver slow')) {
      return { after: random.between(2_000, 9_000), answer: answer(200) }
    }
    if (faults.strikes('receiver answers 5xx')) {
      return { after: soon, answer: answer(random.pick([500, 502, 503, 504])) }
    }
    if (faults.strikes('receiver asks for time')) {
      const seconds = String(random.below(400))
      return {
        after: soon,
        answer: random.happens(0.5) ? answer(408) : answer(429, { 'retry-after': seconds }),
      }
    }
    if (faults.strikes('receiver refuses for good')) {
      return { after: soon, answer: answer(random.pick(PERMANENT), {}, 'no') }
    }
    return { after: soon, answer: answer(random.pick([200, 202, 204]), {}, 'ok') }
  }

  return {
    isKnown: () => !faults.strikes('receiver unknown'),
    connects: () => {
      if (isDown() && random.happens(0.5)) return 'refused'
      if (faults.strikes('receiver refuses')) return random.pick(['refused', 'no answer'])
      return faults.strikes('receiver unknown') ? 'no certificate' : 'well'
    },
    take: ({ url, headers, body, by }: PeerRequest): PeerResponse => {
      const response = conduct()
      const answered = typeof response.answer === 'object' ? response.answer : undefined
      const after = answered?.headers['retry-after']
      const post: Post = {
        at: clock.now(),
        url,
        headers,
        raw: body,
        code: answered?.code ?? null,
        responseReceived: false,
        by,
        ...(after === undefined ? {} : { retryAfter: Number(after) }),
      }
      posts.push(post)
      return {
        ...response,
        onEnd: (isHeard) => {
          post.responseReceived = isHeard
        },
      }
    },
  }
}
