import type { Peer, PeerAnswer, PeerRequest } from '../../simulation/engine/network.ts'

/** Banks and webhook receivers that answer after a fixed time. */

/** Milliseconds. */
const BANK_TAKES = 300
const RECEIVER_TAKES = 150

const answer = (code: number, body: object): PeerAnswer => ({
  code,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify(body),
})

/** @param onAccepted receives the uuid of each submission */
export const newBank = (onAccepted: (uuid: string) => void): Peer => {
  const replyTo = ({ url, method, body }: PeerRequest): PeerAnswer => {
    if (method === 'GET') return answer(404, {})
    const { uuid, amount } = JSON.parse(body) as { uuid: string; amount: string }
    const bank_reference = `B-${uuid.slice(0, 8)}`
    if (!url.endsWith('/submissions')) {
      return answer(201, { status: 'paid', uuid, amount, bank_reference })
    }
    onAccepted(uuid)
    return answer(202, { status: 'accepted', uuid, amount, bank_reference })
  }
  return {
    isKnown: () => true,
    connects: () => 'well',
    take: (request) => ({ after: BANK_TAKES, answer: replyTo(request) }),
  }
}

/** @param onPost receives the bytes of each webhook */
export const newReceiver = (onPost: (bytes: number) => void): Peer => ({
  isKnown: () => true,
  connects: () => 'well',
  take: ({ headers, body }) => {
    onPost(body.length + JSON.stringify(headers).length)
    return { after: RECEIVER_TAKES, answer: answer(200, {}) }
  },
})
