import type { Clock } from './clock.ts'
import type { Effects } from './effects.ts'
import { currentInvocation } from './invocations.ts'
import type { Random } from './random.ts'

/** What lies between the service and those it calls: names, connections, and what is sent on them. */

export type PeerRequest = {
  url: string
  method: string
  headers: Record<string, string>
  body: string
  /** The invocation that sends it. */
  by?: number | undefined
}

export type PeerAnswer = { code: number; headers: Record<string, string>; text: string }

/** What one who was called does, and how long that takes; `heard` is told whether it was of use. */
export type PeerResponse = {
  after: number
  answer: PeerAnswer | 'broken off' | 'silence'
  /** When the sender has the answer, or has given up. */
  onEnd?: (isHeard: boolean) => void
}

export type Connecting = {
  connected: () => void
  secured: () => void
  failed: (error: Error) => void
}

export type Peer = {
  /** Whether its name leads anywhere. */
  isKnown: () => boolean
  /** What comes of an attempt to connect. */
  connects: () => 'well' | 'refused' | 'no answer' | 'no certificate'
  take: (sent: PeerRequest) => PeerResponse
}

type Deps = {
  clock: Clock
  random: Random
  effects: Effects
  peerAt: (host: string) => Peer
}

export type Network = ReturnType<typeof newNetwork>

const brokenOff = (): Error =>
  Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })

const ADDRESS = '93.184.216.34'

export const newNetwork = ({ clock, random, effects, peerAt }: Deps) => {
  const wait = (): number => random.between(5, 60)
  let awaited = 0

  /** Somebody waits, until that is said to be over. */
  const begin = (): (() => void) => {
    awaited += 1
    let isOver = false
    return () => {
      if (!isOver) awaited -= 1
      isOver = true
    }
  }

  /** Waits for what a peer does, or for the signal. */
  const answered = (
    { after, answer, onEnd }: PeerResponse,
    signal: AbortSignal,
  ): Promise<PeerAnswer> =>
    new Promise((resolve, reject) => {
      const worker = currentInvocation()
      let isOver = false
      const end = (isHeard: boolean): boolean => {
        if (isOver) return false
        isOver = true
        signal.removeEventListener('abort', giveUp)
        onEnd?.(isHeard)
        return true
      }
      const giveUp = (): void => {
        if (end(false)) reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp)
      if (answer === 'silence') return
      clock.after(after, () => {
        // Whoever is lost hears nothing, and has its connection closed.
        if (worker?.isCrashed || !end(answer !== 'broken off')) return void end(false)
        if (answer === 'broken off') reject(brokenOff())
        else resolve(answer)
      })
    })

  return {
    /** Whether anybody waits for an answer, and may be waiting for a time to be over. */
    isAwaited: (): boolean => awaited > 0,
    lookup: (host: string): Promise<{ address: string }[]> =>
      new Promise((resolve, reject) => {
        const end = begin()
        clock.after(wait(), () => {
          end()
          if (peerAt(host).isKnown()) resolve([{ address: ADDRESS }])
          else reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
        })
      }),
    /** @returns to be called when nobody waits for it any more */
    connect: (host: string, { connected, secured, failed }: Connecting): (() => void) => {
      const end = begin()
      clock.after(wait(), () => {
        switch (peerAt(host).connects()) {
          case 'refused':
            return failed(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
          case 'no answer':
            return
          case 'no certificate':
            connected()
            clock.after(wait(), () => failed(new Error('self-signed certificate')))
            return
          case 'well':
            connected()
            clock.after(wait(), () => {
              end()
              secured()
            })
        }
      })
      return end
    },
    /** Has something arrive at a peer, and waits for the answer. */
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
        return await answered(conduct, signal)
      } finally {
        end()
      }
    },
  }
}
