import type { SteppedClock } from '../../../sandbox/aws/clock.ts'
import { type Random, randomOf, seedOf } from './random.ts'

/**
 * The faults, with their probability at each occasion. A scenario draws its faults and their
 * intensity.
 */

/**
 * @param share the share of faulty scenarios that have it
 * @param minutes the duration of a fault that lasts
 */
const fault = (
  probability: number,
  description: string,
  share = 0.16,
  minutes: readonly [least: number, most: number] = [1, 10],
) => ({ probability, description, share, minutes })

export const faults = {
  'killed before an effect': fault(0.006, 'an invocation crashes just before a write or request'),
  'killed after an effect': fault(0.006, 'an invocation crashes just after one'),
  'stalled worker': fault(0.001, 'an invocation pauses, at most until its timeout'),
  'table throttled': fault(0.006, 'DynamoDB throttles a call'),
  'table conflict': fault(0.03, 'a write conflicts with a transaction'),
  'table unreachable': fault(0.004, 'a call to DynamoDB and its retry are lost'),
  'table result unknown': fault(0.008, 'a write succeeds, but its response is lost'),
  'table call repeated': fault(0.01, 'the response is lost and the SDK repeats the write'),
  'page cut short': fault(0.1, 'a query returns a short page'),
  'read in part': fault(0.1, 'a batch read leaves keys unprocessed'),
  'index late': fault(0.2, 'an index shows a write up to a minute later', 0.4),
  'queue unreachable': fault(0.006, 'a call to SQS is lost'),
  'queue result unknown': fault(0.008, 'a message is sent, but the response is lost'),
  'queue takes a part': fault(0.01, 'SQS rejects part of a batch'),
  'message twice': fault(0.06, 'a message is delivered twice, at once or later'),
  'message late': fault(0.05, 'a message is up to two minutes late'),
  'message lost': fault(0.01, 'a message is lost'),
  'record twice': fault(0.05, 'stream records are delivered again'),
  'record late': fault(0.02, 'the stream pauses for up to two minutes'),
  'record unreadable': fault(0.01, 'a stream record cannot be read when it first comes'),
  'record lost': fault(0.008, 'a stream record is lost'),
  'timer late': fault(0.5, 'a schedule fires up to a minute late'),
  'timer twice': fault(0.2, 'a schedule fires twice'),
  'timer never': fault(0.15, 'a schedule never fires'),
  'scheduler unreachable': fault(0.02, 'a call to Scheduler is lost'),
  'schedule result unknown': fault(0.03, 'a schedule is created, but the response is lost'),
  'run missed': fault(0.12, 'a settlement run or a sweep does not start'),
  'night missed': fault(0.5, 'no run of a night starts, and no reconciliation', 0.5),
  'run twice': fault(0.12, 'a settlement run or a sweep starts twice'),
  'operator settles': fault(0.7, 'an operator settles the day while the night runs'),
  'report not written': fault(0.15, 'S3 fails'),
  'clock skew': fault(1, 'the clock of an invocation is up to 5 s off'),
  'answer lost': fault(0.06, 'a reply is lost and the caller retries'),
  'asked twice at once': fault(0.06, 'a caller sends a request twice concurrently'),
  'bank silent': fault(0.04, 'a bank ignores a request'),
  'bank accepts in silence': fault(0.05, 'a bank accepts a request without a response', 0.25),
  'bank breaks off': fault(0.05, 'a bank accepts a request and breaks the connection'),
  'bank talks nonsense': fault(0.04, 'a bank returns an invalid response'),
  'bank slow': fault(0.1, 'a bank accepts a request and responds after 2 to 25 s', 0.3),
  'bank forgets': fault(0.2, 'a query finds nothing, though the bank acts once on the key'),
  'bank pays what it rejects': fault(0.5, 'a bank makes a payout or refund that it rejects', 0.3),
  'bank pays late': fault(1, 'banks have payouts and refunds under way until the faults end', 0.2),
  'bank down': fault(0.04, 'a bank returns 503 or refuses connections'),
  'bank outage': fault(1, 'a bank refuses every request for ten seconds to a day', 0.25),
  'receiver refuses': fault(0.2, 'a receiver refuses a connection'),
  'receiver silent': fault(0.03, 'a receiver never responds'),
  'receiver slow': fault(0.03, 'a receiver responds after two to nine seconds'),
  'receiver breaks off': fault(0.04, 'a receiver breaks the connection'),
  'receiver answers 5xx': fault(0.08, 'a receiver returns 500, 502, 503 or 504'),
  'receiver asks for time': fault(0.04, 'a receiver returns 408, or 429 with Retry-After'),
  'receiver refuses for good': fault(0.03, 'a receiver returns 4xx, 3xx or 501'),
  'receiver refuses a type': fault(1, 'a receiver returns 400 or 500 to events of one type', 0.2),
  'receiver gone': fault(1, 'a receiver returns 410 until the faults end', 0.12),
  'receiver unknown': fault(0.02, 'a host has no address or no valid certificate'),
  'receiver flaps': fault(0.25, 'a receiver is down for some minutes'),
  'table outage': fault(1, 'DynamoDB rejects every call for up to ten minutes', 0.05),
  'slow settlement': fault(0.03, 'a call of a builder takes up to a minute', 0.01),
  'queue outage': fault(1, 'SQS rejects every call for up to ten minutes', 0.05),
  'key store outage': fault(1, 'Secrets Manager rejects every call for minutes', 0.05, [1, 30]),
  'sealing key missing': fault(1, 'no version of the sealing key is found for minutes', 0.05),
  'hot key': fault(1, 'one key of the table or an index is throttled for minutes', 0.1, [5, 10]),
  'hot shard': fault(1, 'one shard of the stream is not read for minutes', 0.08, [5, 10]),
  'shard blocked': fault(1, 'one shard is not read until records expire', 0.04, [1_500, 1_800]),
  'index far behind': fault(1, 'an index shows writes up to ten minutes later', 0.06, [5, 30]),
  'function throttled': fault(1, 'Lambda starts no invocation of one job for minutes', 0.1),
  'sweep throttled': fault(0.1, 'DynamoDB throttles a write of a sweep, which writes many items'),
  'sweep refused': fault(0.2, 'SQS rejects part of a batch of a sweep'),
  'slow sweep': fault(0.3, 'each call of a sweep takes seconds, and two run at once', 0.03),
  'clock far off': fault(0.02, 'the clock of an invocation is up to three minutes off', 0.08),
  'message days later': fault(0.003, 'a message is delivered again up to three days later'),
  'dead letters redriven': fault(1, 'operators redrive dead letters, some days later', 0.5),
  'expired items removed': fault(1, 'items are deleted up to 48 hours after their expiry', 0.3),
}

export type FaultName = keyof typeof faults
export const faultNames = Object.keys(faults) as FaultName[]

export type Faults = ReturnType<typeof newFaults>

/** What decides when and how each thing of a run happens. */
export type Engine = { clock: SteppedClock; random: Random; faults: Faults }

const PROBABILITY_MAX = 0.5

/** Counts of the first losses: messages by the prefix of their queue, `record` and `timer`. */
export type Losses = Readonly<Record<string, number>>

type FaultSettings = { faults: ReadonlySet<FaultName>; intensity: number; losses?: Losses }

export const newFaults = (
  random: Random,
  { faults: selected, intensity, losses = {} }: FaultSettings,
  onHit: (name: FaultName, about: string) => void = () => undefined,
) => {
  const remaining = new Map(Object.entries(losses))
  const probability = new Map(
    faultNames.map((name) => {
      const usual = faults[name].probability
      return [name, Math.max(usual, Math.min(usual * intensity, PROBABILITY_MAX))]
    }),
  )
  const hits = new Map<FaultName, number>()
  let isHealed = false
  const hit = (name: FaultName, about = ''): void => {
    hits.set(name, (hits.get(name) ?? 0) + 1)
    onHit(name, about)
  }
  return {
    hits,
    /** Counts a fault that was drawn before. */
    hit,
    has: (name: FaultName): boolean => !isHealed && selected.has(name),
    /**
     * Draws whether a fault strikes. A fault that the scenario lacks draws nothing.
     * @param about what it strikes, if that is no call of a function
     */
    strikes: (name: FaultName, about?: string): boolean => {
      if (isHealed || !selected.has(name)) return false
      if (random.draw() >= (probability.get(name) ?? 0)) return false
      hit(name, about)
      return true
    },
    loses: (name: string): boolean => {
      const [prefix, count] = [...remaining].find(([key]) => name.startsWith(key)) ?? ['', 0]
      if (isHealed || count === 0) return false
      remaining.set(prefix, count - 1)
      return true
    },
    heal: (): void => {
      isHealed = true
    },
  }
}

const STREAM = 13

/** Returns random draws for one fault of a scenario. Other faults leave them unchanged. */
export const randomOfFault = (seed: number, name: FaultName, use = 0): Random =>
  randomOf(seedOf(seed, STREAM, use, ...Buffer.from(name)))

export const drawFaults = (seed: number): FaultName[] =>
  faultNames.filter((name) => randomOfFault(seed, name).happens(faults[name].share))
