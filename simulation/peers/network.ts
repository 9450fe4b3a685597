import type { Chance } from '../world/chance.ts'
import type { Clock } from '../world/clock.ts'
import type { Effects } from '../world/effects.ts'
import { current } from '../world/invocations.ts'

/** What lies between the service and those it calls: names, connections, and what is sent on them. */

export type Sent = { url: string; method: string; headers: Record<string, string>; body: string }

export type Answer = { code: number; headers: Record<string, string>; text: string }

/** What one who was called does, and how long that takes; `heard` is told whether it was of use. */
export type Conduct = {
  after: number
  answer: Answer | 'broken off' | 'silence'
  /** When the sender has the answer, or has given up. */
  heard?: (isHeard: boolean) => void
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
  take: (sent: Sent) => Conduct
}

type Around = {
  clock: Clock
  chance: Chance
  effects: Effects
  peerAt: (host: string) => Peer
}

export type Network = ReturnType<typeof newNetwork>

const brokenOff = (): Error =>
  Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })

const ADDRESS = '93.184.216.34'

export const newNetwork = ({ clock, chance, effects, peerAt }: Around) => {
  const wait = (): number => chance.between(5, 60)

  /** Waits for what a peer does, or for the signal. */
  const answered = ({ after, answer, heard }: Conduct, signal: AbortSignal): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const worker = current()
      let isOver = false
      const end = (isHeard: boolean): boolean => {
        if (isOver) return false
        isOver = true
        heard?.(isHeard)
        return true
      }
      signal.addEventListener('abort', () => {
        if (end(false)) reject(signal.reason)
      })
      if (answer === 'silence') return
      clock.after(after, () => {
        // Whoever is lost hears nothing, and has its connection closed.
        if (worker?.isDead || !end(answer !== 'broken off')) return void end(false)
        if (answer === 'broken off') reject(brokenOff())
        else resolve(answer)
      })
    })

  return {
    lookup: (host: string): Promise<{ address: string }[]> =>
      new Promise((resolve, reject) => {
        clock.after(wait(), () =>
          peerAt(host).isKnown()
            ? resolve([{ address: ADDRESS }])
            : reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' })),
        )
      }),
    connect: (host: string, { connected, secured, failed }: Connecting): void => {
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
            clock.after(wait(), secured)
        }
      })
    },
    /** Has something arrive at a peer, and waits for the answer. */
    exchange: async (sent: Sent, signal: AbortSignal): Promise<Answer> => {
      const { host, pathname } = new URL(sent.url)
      const outgoing = {
        name: `${sent.method} ${host}${pathname}`,
        changes: sent.method !== 'GET',
        takes: [5, 60],
      } as const
      const conduct = await effects.call(outgoing, () => {
        if (signal.aborted) throw signal.reason
        return peerAt(host).take(sent)
      })
      return answered(conduct, signal)
    },
  }
}
