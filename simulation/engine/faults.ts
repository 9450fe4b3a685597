import type { Random } from './random.ts'

/**
 * Everything that can go wrong, by name, with the probability that it does at each occasion. A
 * world draws which of them it has, so that some are alone and some meet, and how often they strike.
 */

type Fault = {
  says: string
  probability: number
  /** Of worlds that are not healthy, how many have it, where that is not as usual. */
  share?: number
}

export const faults = {
  'killed before an effect': {
    says: 'a worker is lost just before it writes, sends or posts',
    probability: 0.006,
  },
  'killed after an effect': { says: 'or just after', probability: 0.006 },
  'stalled worker': {
    says: 'a worker stands still for up to its timeout, and is lost when that is over',
    probability: 0.001,
  },
  'table throttled': { says: 'DynamoDB refuses a call for now', probability: 0.006 },
  'table conflict': {
    says: 'a write meets a transaction at the same item',
    probability: 0.03,
  },
  'table unreachable': {
    says: 'a call to DynamoDB is lost, and its repeat too',
    probability: 0.004,
  },
  'table result unknown': {
    says: 'a write is done, and the answer is lost',
    probability: 0.008,
  },
  'table call repeated': {
    says: 'the answer is lost and the SDK repeats the call, which is done twice',
    probability: 0.01,
  },
  'page cut short': {
    says: 'a query gives fewer items than there are, and says where to go on',
    probability: 0.1,
  },
  'read in part': { says: 'a batch of reads leaves some of them for later', probability: 0.1 },
  'index late': { says: 'an index shows a write up to a minute later', probability: 0.2 },
  'queue unreachable': { says: 'a call to SQS is lost', probability: 0.006 },
  'queue result unknown': { says: 'a message is sent, and the answer is lost', probability: 0.008 },
  'queue takes a part': { says: 'SQS refuses some messages of a batch', probability: 0.01 },
  'message twice': { says: 'a message is delivered twice, at once or later', probability: 0.06 },
  'message late': { says: 'a message comes up to two minutes late', probability: 0.05 },
  'message lost': { says: 'a message is gone', probability: 0.01 },
  'record twice': { says: 'stream records come again after they were taken', probability: 0.05 },
  'record late': { says: 'the stream stands still for up to two minutes', probability: 0.02 },
  'record lost': { says: 'a stream record is gone', probability: 0.008 },
  'timer late': { says: 'a schedule fires up to a minute late', probability: 0.5 },
  'timer twice': { says: 'a schedule fires twice', probability: 0.2 },
  'timer never': { says: 'a schedule never fires', probability: 0.15 },
  'scheduler unreachable': { says: 'a call to Scheduler is lost', probability: 0.02 },
  'schedule result unknown': {
    says: 'a schedule is made, and the answer is lost',
    probability: 0.03,
  },
  'run missed': { says: 'a nightly run or a sweep is not set off', probability: 0.12 },
  'night missed': { says: 'no run of a night is set off', probability: 0.5, share: 0.5 },
  'run twice': { says: 'a nightly run or a sweep is set off twice', probability: 0.12 },
  'report not written': { says: 'S3 fails', probability: 0.15 },
  'clock skew': { says: 'a worker has another time, up to 5 s away', probability: 1 },
  'answer lost': { says: 'a caller gets no answer, and asks again', probability: 0.06 },
  'asked twice at once': { says: 'a caller sends a request twice at once', probability: 0.06 },
  'bank silent': { says: 'a bank takes nothing and says nothing', probability: 0.04 },
  'bank accepts in silence': {
    says: 'a bank takes a debit and gives no answer',
    probability: 0.05,
  },
  'bank breaks off': { says: 'a bank takes a debit and breaks off its answer', probability: 0.05 },
  'bank talks nonsense': { says: 'a bank answers what nobody understands', probability: 0.04 },
  'bank down': { says: 'a bank answers 503, or takes no connection', probability: 0.04 },
  'receiver refuses': { says: 'a receiver takes no connection', probability: 0.2 },
  'receiver silent': { says: 'a receiver takes a webhook and never answers', probability: 0.03 },
  'receiver slow': { says: 'a receiver answers after two to nine seconds', probability: 0.03 },
  'receiver breaks off': { says: 'a receiver breaks off before it answers', probability: 0.04 },
  'receiver answers 5xx': { says: 'a receiver answers 500, 502, 503 or 504', probability: 0.08 },
  'receiver asks for time': {
    says: 'a receiver answers 408, or 429 with Retry-After',
    probability: 0.04,
  },
  'receiver refuses for good': { says: 'a receiver answers 4xx, 3xx or 501', probability: 0.03 },
  'receiver unknown': { says: 'a host has no address, or no certificate', probability: 0.02 },
  'receiver flaps': { says: 'a receiver is down for some minutes', probability: 0.25 },
  'table outage': {
    says: 'DynamoDB refuses every call for up to ten minutes',
    probability: 1,
    share: 0.05,
  },
  'queue outage': {
    says: 'SQS refuses every call for up to ten minutes',
    probability: 1,
    share: 0.05,
  },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof faults
export const faultNames = Object.keys(faults) as FaultName[]

/** The usual one. */
const SHARE = 0.16

export type Faults = ReturnType<typeof newFaults>

/** However bad a world is, as much goes well in it. */
const WELL_SHARE = 0.5

/** How many of these are lost first: messages by the prefix of their queue, stream records, timers. */
export type Losses = Readonly<Record<string, number>>

type Settings = {
  /** The faults of this world. */
  faults: ReadonlySet<FaultName>
  /** How many times as often each of them strikes. */
  intensity: number
  losses?: Losses
}

export const newFaults = (random: Random, { faults: wanted, intensity, losses = {} }: Settings) => {
  const remaining = new Map(Object.entries(losses))
  const probability = new Map(
    faultNames.map((name) => {
      const usual = faults[name].probability
      return [name, Math.max(usual, Math.min(usual * intensity, WELL_SHARE))]
    }),
  )
  const hits = new Map<FaultName, number>()
  let isOver = false
  const hit = (name: FaultName): void => {
    hits.set(name, (hits.get(name) ?? 0) + 1)
  }
  return {
    hits,
    /** It went wrong, by what was drawn beforehand. */
    hit,
    has: (name: FaultName): boolean => !isOver && wanted.has(name),
    /** Whether it goes wrong, now. A world without a fault draws nothing for it. */
    strikes: (name: FaultName): boolean => {
      if (isOver || !wanted.has(name)) return false
      if (random.draw() >= (probability.get(name) ?? 0)) return false
      hit(name)
      return true
    },
    /** Whether the scenario loses this message, record or timer. */
    loses: (name: string): boolean => {
      const key = [...remaining.keys()].find((prefix) => name.startsWith(prefix))
      const count = key === undefined ? 0 : (remaining.get(key) ?? 0)
      if (isOver || key === undefined || count === 0) return false
      remaining.set(key, count - 1)
      return true
    },
    /** From now on all goes well. */
    heal: (): void => {
      isOver = true
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
