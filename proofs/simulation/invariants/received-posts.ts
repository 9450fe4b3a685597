import type { Observations, Post, SimulatedProvider } from '../engine/observations.ts'
import { type Members, membersOf } from './calls.ts'
import { SETTLED } from './time-and-money.ts'

export type ReceivedPost = {
  post: Post
  receiver: SimulatedProvider | undefined
  body: Members
  /** Undefined for a ping or an unreadable body. */
  about: 'transaction' | 'settlement' | undefined
  subject: Members
  reference: string
  n: number
  id: string
}

const readBody = (raw: string): Omit<ReceivedPost, 'post' | 'receiver' | 'id'> => {
  const body = membersOf(raw)
  const { transaction, settlement } = membersOf(body.data)
  const subject = membersOf(transaction ?? settlement)
  if (transaction) {
    const reference = String(subject.reference)
    return { body, about: 'transaction', subject, reference, n: Number(body.sequence) % 10 }
  }
  return settlement
    ? { body, about: 'settlement', subject, reference: String(subject.id), n: SETTLED }
    : { body, about: undefined, subject, reference: '', n: -1 }
}

export const receivedPosts = (
  posts: readonly Post[],
  providers: readonly SimulatedProvider[],
): ReceivedPost[] => {
  const receivers = new Map(providers.map((provider) => [provider.id, provider]))
  // All attempts of an event have the same body.
  const read = new Map<string, ReturnType<typeof readBody>>()
  return posts.map((post) => {
    const known = read.get(post.raw) ?? readBody(post.raw)
    read.set(post.raw, known)
    const id = post.headers['x-svc-delivery-id'] ?? ''
    return {
      post,
      receiver: receivers.get(new URL(post.url).host.split('.')[0] ?? ''),
      ...known,
      id,
    }
  })
}

export const isFinished = ({ by }: Post, { invocations, setup }: Observations): boolean =>
  by === undefined ? setup.isHealthy : (invocations.get(by)?.isFinished ?? false)

export const isConfirmed = ({ code, responseReceived }: Post): boolean =>
  responseReceived && code !== null && code >= 200 && code < 300
