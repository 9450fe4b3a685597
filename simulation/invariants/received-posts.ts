import type { Observations, Post, SimulatedProvider } from '../engine/observations.ts'
import { type Members, membersOf } from './reply.ts'
import { SETTLED } from './time-and-money.ts'

/** A post, and what it is about. */
export type ReceivedPost = {
  post: Post
  /** Whose receiver got it; undefined: nobody's. */
  receiver: SimulatedProvider | undefined
  body: Members
  /** `transaction`, `settlement`; undefined for a ping, and for what cannot be read. */
  about: 'transaction' | 'settlement' | undefined
  subject: Members
  /** Of the debit or the batch; empty for anything else. */
  reference: string
  n: number
  /** Which attempt it says it is. */
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
  // The attempts of one event have the same bytes.
  const read = new Map<string, ReturnType<typeof readBody>>()
  return posts.map((post) => {
    const known = read.get(post.raw) ?? readBody(post.raw)
    read.set(post.raw, known)
    const id = post.headers['x-svc-delivery-id'] ?? ''
    return { post, receiver: receivers.get(post.url), ...known, id }
  })
}

/** Whether the worker of a post got to write what it led to. */
export const isFinished = ({ by }: Post, { invocations, setup }: Observations): boolean =>
  by === undefined ? setup.isHealthy : (invocations.get(by)?.isFinished ?? false)

export const isReceived = ({ post: { code } }: ReceivedPost): boolean =>
  code !== null && code >= 200 && code < 300
