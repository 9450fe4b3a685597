import type { Engine, FaultName } from '../engine/faults.ts'
import type { Peer, PeerAnswer, PeerRequest, PeerResponse } from '../engine/network.ts'
import type { Post } from '../engine/observations.ts'
import type { Random } from '../engine/random.ts'

/** A provider's webhook receiver, with its failures. */

type Deps = Engine & {
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

const ERRORS = [500, 502, 503, 504]
const PERMANENT = [400, 401, 403, 404, 405, 410, 422, 301, 302, 501]

/** One type that a receiver may never accept. */
const TYPES = ['created', 'processing', 'completed', 'failed'].map((name) => `transaction.${name}`)

type Conduct = Pick<PeerResponse, 'after' | 'answer'>

const SILENCE: Conduct = { after: 0, answer: 'silence' }

/** What a receiver does under each fault; the first that strikes decides. `soon` is its usual delay. */
const conductsOf = (random: Random): [FaultName, (soon: number) => Conduct][] => [
  ['receiver silent', () => SILENCE],
  ['receiver breaks off', (after) => ({ after, answer: 'broken off' })],
  ['receiver slow', () => ({ after: random.between(2_000, 9_000), answer: answer(200) })],
  ['receiver answers 5xx', (after) => ({ after, answer: answer(random.pick(ERRORS)) })],
  [
    'receiver asks for time',
    (after) => {
      const seconds = { 'retry-after': String(random.below(400)) }
      return { after, answer: random.happens(0.5) ? answer(408) : answer(429, seconds) }
    },
  ],
  [
    'receiver refuses for good',
    (after) => ({ after, answer: answer(random.pick(PERMANENT), {}, 'no') }),
  ],
]

export const newReceiver = ({ clock, random, faults, posts, downs, answers }: Deps): Peer => {
  const isDown = (): boolean => {
    const now = clock.now()
    if (!downs.some(({ from, to }) => from <= now && now < to)) return false
    return faults.has('receiver flaps')
  }

  const [refused, refusal] = [random.pick(TYPES), random.pick([400, 500])]
  const conducts = conductsOf(random)
  const mayBeGone = random.happens(0.4)

  const conduct = (type: unknown): Conduct => {
    const soon = random.between(20, 400)
    const next = answers.shift()
    if (next !== undefined) return next === 0 ? SILENCE : { after: soon, answer: answer(next) }
    if (type === refused && faults.strikes('receiver refuses a type'))
      return { after: soon, answer: answer(refusal) }
    if (mayBeGone && faults.strikes('receiver gone')) return { after: soon, answer: answer(410) }
    if (isDown()) {
      faults.hit('receiver flaps')
      return { after: soon, answer: answer(503) }
    }
    const [, strike] = conducts.find(([name]) => faults.strikes(name)) ?? []
    if (strike) return strike(soon)
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
      const response = conduct(headers['x-svc-event'])
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
