import type { Observations, Post, SimulatedProvider } from '../engine/observations.ts'
import { type Members, membersOf } from './reply.ts'
import { SETTLED } from './time-and-money.ts'

/** A post and its subject. */
export type ReceivedPost = {
  post: Post
  /** The provider of the receiver. */
  receiver: SimulatedProvider | undefined
  body: Members
  /** Undefined for a ping or an unreadable body. */
  about: 'transaction' | 'settlement' | undefined
  subject: Members
  /** The id of the debit or batch. */
  reference: string
  n: number
  /** The id of the attempt. */
  id: string
}

const NOTHING: Members = {}

const readBody = (raw: string) => {
  const body = membersOf(raw)
  const data = membersOf(body.data)
  if (data.transaction) {
    const subject = membersOf(data.transaction)
    const reference = String(subject.reference)
    return { body, about: 'transaction', subject, reference, n: Number(body.sequence) } as const
  }
  if (data.settlement) {
    const subject = membersOf(data.settlement)
    return {
      body,
      about: 'settlement',
      subject,
      reference: String(subject.id),
      n: SETTLED,
    } as const
  }
  return { body, about: undefined, subject: NOTHING, reference: '', n: -1 } as const
}

export const receivedPosts = (
  posts: readonly Post[],
  providers: readonly SimulatedProvider[],
): ReceivedPost[] => {
  const receivers = new Map(providers.map((provider) => [provider.webhook?.url, provider]))
  // All attempts of an event have the same body.
  const read = new Map<string, ReturnType<typeof readBody>>()
  return posts.map((post) => {
    const known = read.get(post.raw) ?? readBody(post.raw)
    read.set(post.raw, known)
    const id = post.headers['x-svc-delivery-id'] ?? ''
    return { post, receiver: receivers.get(post.url), ...known, id }
  })
}

/** Reports whether the invocation of a post completed its writes. */
export const isFinished = ({ by }: Post, { invocations, setup }: Observations): boolean =>
  by === undefined ? setup.isHealthy : (invocations.get(by)?.isFinished ?? false)

export const isReceived = ({ post: { code } }: ReceivedPost): boolean =>
  code !== null && code >= 200 && code < 300
