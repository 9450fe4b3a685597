import type { Clock } from '../../../sandbox/aws/clock.ts'
import type { Effects } from './effects.ts'
import { currentInvocation } from './invocations.ts'
import type { Random } from './random.ts'

/** The network between the service and its peers. */

export type PeerRequest = {
  url: string
  method: string
  headers: Record<string, string>
  body: string
  by?: number | undefined
}

export type PeerAnswer = { code: number; headers: Record<string, string>; text: string }

/** A peer's response and its delay. */
export type PeerResponse = {
  after: number
  answer: PeerAnswer | 'broken off' | 'silence'
  /** Called when the sender has received the response or stopped waiting. */
  onEnd?: (isHeard: boolean) => void
}

export type Connecting = {
  connected: () => void
  secured: () => void
  failed: (error: Error) => void
}

export type Peer = {
  isKnown: () => boolean
  connects: () => 'well' | 'refused' | 'no answer' | 'no certificate'
  take: (sent: PeerRequest) => PeerResponse
}

type Deps = { clock: Clock; random: Random; effects: Effects; peerAt: (host: string) => Peer }

export type Network = ReturnType<typeof newNetwork>

const brokenOff = () => Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })

const ADDRESS = '93.184.216.34'

const answered = (clock: Clock, { after, answer, onEnd }: PeerResponse, signal: AbortSignal) =>
  new Promise<PeerAnswer>((resolve, reject) => {
    const worker = currentInvocation()
    let hasEnded = false
    const end = (isHeard: boolean): boolean => {
      if (hasEnded) return false
      hasEnded = true
      signal.removeEventListener('abort', abort)
      onEnd?.(isHeard)
      return true
    }
    const abort = (): void => {
      if (end(false)) reject(signal.reason)
    }
    signal.addEventListener('abort', abort)
    if (answer === 'silence') return
    clock.after(after, () => {
      // A crashed invocation closes its connection.
      if (worker?.hasEnded || !end(answer !== 'broken off')) return void end(false)
      if (answer === 'broken off') reject(brokenOff())
      else resolve(answer)
    })
  })

export const newNetwork = ({ clock, random, effects, peerAt }: Deps) => {
  const wait = (): number => random.between(5, 60)
  const waiting = new Set<symbol>()
  /** Adds a waiting sender until the returned function is called. */
  const begin = (): (() => unknown) => {
    const sender = Symbol()
    waiting.add(sender)
    return () => waiting.delete(sender)
  }
  return {
    isAwaited: (): boolean => waiting.size > 0,
    lookup: (host: string): Promise<{ address: string }[]> =>
      new Promise((resolve, reject) => {
        const end = begin()
        clock.after(wait(), () => {
          end()
          if (peerAt(host).isKnown()) resolve([{ address: ADDRESS }])
          else reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
        })
      }),
    connect: (host: string, { connected, secured, failed }: Connecting): (() => unknown) => {
      const end = begin()
      clock.after(wait(), () => {
        const connection = peerAt(host).connects()
        if (connection === 'refused')
          failed(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
        if (connection === 'refused' || connection === 'no answer') return
        connected()
        clock.after(wait(), () => {
          if (connection === 'no certificate') return failed(new Error('self-signed certificate'))
          end()
          secured()
        })
      })
      return end
    },
    exchange: async (sent: PeerRequest, signal: AbortSignal): Promise<PeerAnswer> => {
      const { host, pathname } = new URL(sent.url)
      const outgoing = {
        name: `${sent.method} ${host}${pathname}`,
        changes: sent.method !== 'GET',
        takes: [5, 60],
      } as const
      const by = currentInvocation()?.number
      const end = begin()
      try {
        const conduct = await effects.call(outgoing, () => {
          if (signal.aborted) throw signal.reason
          return peerAt(host).take({ ...sent, by })
        })
        return await answered(clock, conduct, signal)
      } finally {
        end()
      }
    },
  }
}
