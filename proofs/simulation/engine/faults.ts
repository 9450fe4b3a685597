import type { Random } from './random.ts'

/**
 * The faults, with their probability at each occasion. A scenario draws its faults and their
 * intensity.
 */

type Fault = {
  description: string
  probability: number
  /** The share of faulty scenarios that have it, if unusual. */
  share?: number
}

export const faults = {
  'killed before an effect': {
    description: 'an invocation crashes just before a write, message or request',
    probability: 0.006,
  },
  'killed after an effect': {
    description: 'an invocation crashes just after one',
    probability: 0.006,
  },
  'stalled worker': {
    description: 'an invocation pauses, at most until its timeout',
    probability: 0.001,
  },
  'table throttled': { description: 'DynamoDB throttles a call', probability: 0.006 },
  'table conflict': { description: 'a write conflicts with a transaction', probability: 0.03 },
  'table unreachable': {
    description: 'a call to DynamoDB and its retry are lost',
    probability: 0.004,
  },
  'table result unknown': {
    description: 'a write succeeds, but its response is lost',
    probability: 0.008,
  },
  'table call repeated': {
    description: 'the response is lost and the SDK repeats the write',
    probability: 0.01,
  },
  'page cut short': { description: 'a query returns a short page', probability: 0.1 },
  'read in part': { description: 'a batch read leaves keys unprocessed', probability: 0.1 },
  'index late': {
    description: 'an index shows a write up to a minute later',
    probability: 0.2,
    share: 0.4,
  },
  'queue unreachable': { description: 'a call to SQS is lost', probability: 0.006 },
  'queue result unknown': {
    description: 'a message is sent, but the response is lost',
    probability: 0.008,
  },
  'queue takes a part': { description: 'SQS rejects part of a batch', probability: 0.01 },
  'message twice': {
    description: 'a message is delivered twice, at once or later',
    probability: 0.06,
  },
  'message late': { description: 'a message is up to two minutes late', probability: 0.05 },
  'message lost': { description: 'a message is lost', probability: 0.01 },
  'record twice': { description: 'stream records are delivered again', probability: 0.05 },
  'record late': { description: 'the stream pauses for up to two minutes', probability: 0.02 },
  'record lost': { description: 'a stream record is lost', probability: 0.008 },
  'timer late': { description: 'a schedule fires up to a minute late', probability: 0.5 },
  'timer twice': { description: 'a schedule fires twice', probability: 0.2 },
  'timer never': { description: 'a schedule never fires', probability: 0.15 },
  'scheduler unreachable': { description: 'a call to Scheduler is lost', probability: 0.02 },
  'schedule result unknown': {
    description: 'a schedule is created, but the response is lost',
    probability: 0.03,
  },
  'run missed': { description: 'a settlement run or a sweep does not start', probability: 0.12 },
  'night missed': {
    description: 'no settlement run of a night starts',
    probability: 0.5,
    share: 0.5,
  },
  'run twice': { description: 'a settlement run or a sweep starts twice', probability: 0.12 },
  'operator settles': {
    description: 'an operator settles the day while the night runs',
    probability: 0.7,
  },
  'report not written': { description: 'S3 fails', probability: 0.15 },
  'clock skew': { description: 'the clock of an invocation is up to 5 s off', probability: 1 },
  'answer lost': { description: 'a reply is lost and the caller retries', probability: 0.06 },
  'asked twice at once': {
    description: 'a caller sends a request twice concurrently',
    probability: 0.06,
  },
  'bank silent': { description: 'a bank ignores a request', probability: 0.04 },
  'bank accepts in silence': {
    description: 'a bank accepts a request without a response',
    probability: 0.05,
  },
  'bank breaks off': {
    description: 'a bank accepts a request and breaks the connection',
    probability: 0.05,
  },
  'bank talks nonsense': { description: 'a bank returns an invalid response', probability: 0.04 },
  'bank down': { description: 'a bank returns 503 or refuses connections', probability: 0.04 },
  'bank outage': {
    description: 'a bank refuses every request for eight to fourteen minutes',
    probability: 1,
    share: 0.08,
  },
  'receiver refuses': { description: 'a receiver refuses a connection', probability: 0.2 },
  'receiver silent': { description: 'a receiver never responds', probability: 0.03 },
  'receiver slow': {
    description: 'a receiver responds after two to nine seconds',
    probability: 0.03,
  },
  'receiver breaks off': { description: 'a receiver breaks the connection', probability: 0.04 },
  'receiver answers 5xx': {
    description: 'a receiver returns 500, 502, 503 or 504',
    probability: 0.08,
  },
  'receiver asks for time': {
    description: 'a receiver returns 408, or 429 with Retry-After',
    probability: 0.04,
  },
  'receiver refuses for good': {
    description: 'a receiver returns 4xx, 3xx or 501',
    probability: 0.03,
  },
  'receiver unknown': {
    description: 'a host has no address or no valid certificate',
    probability: 0.02,
  },
  'receiver flaps': { description: 'a receiver is down for some minutes', probability: 0.25 },
  'table outage': {
    description: 'DynamoDB rejects every call for up to ten minutes',
    probability: 1,
    share: 0.05,
  },
  'slow settlement': {
    description: 'each call of a builder takes up to a minute, so that runs are cut off',
    probability: 0.5,
    share: 0.01,
  },
  'queue outage': {
    description: 'SQS rejects every call for up to ten minutes',
    probability: 1,
    share: 0.05,
  },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof faults
export const faultNames = Object.keys(faults) as FaultName[]

const SHARE = 0.16

export type Faults = ReturnType<typeof newFaults>

/** The highest probability that the intensity can raise a fault to. */
const PROBABILITY_MAX = 0.5

/** Counts of the first losses: messages by the prefix of their queue, `record` and `timer`. */
export type Losses = Readonly<Record<string, number>>

type FaultSettings = {
  faults: ReadonlySet<FaultName>
  /** Multiplies the probabilities. */
  intensity: number
  losses?: Losses
}

export const newFaults = (
  random: Random,
  { faults: selected, intensity, losses = {} }: FaultSettings,
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
  const hit = (name: FaultName): void => {
    hits.set(name, (hits.get(name) ?? 0) + 1)
  }
  return {
    hits,
    /** Counts a fault that was drawn before. */
    hit,
    has: (name: FaultName): boolean => !isHealed && selected.has(name),
    /** Draws whether a fault strikes. A fault that the scenario lacks draws nothing. */
    strikes: (name: FaultName): boolean => {
      if (isHealed || !selected.has(name)) return false
      if (random.draw() >= (probability.get(name) ?? 0)) return false
      hit(name)
      return true
    },
    /** Whether the scenario loses a message, record or timer. */
    loses: (name: string): boolean => {
      const [prefix, count] = [...remaining].find(([key]) => name.startsWith(key)) ?? ['', 0]
      if (isHealed || count === 0) return false
      remaining.set(prefix, count - 1)
      return true
    },
    /** Stops all faults. */
    heal: (): void => {
      isHealed = true
    },
  }
}

export const drawFaults = (random: Random): Set<FaultName> =>
  new Set(
    faultNames.filter((name) => {
      const { share = SHARE }: Fault = faults[name]
      return random.happens(share)
    }),
  )
