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
    description: 'a worker is lost just before it writes, sends or posts',
    probability: 0.006,
  },
  'killed after an effect': { description: 'or just after', probability: 0.006 },
  'stalled worker': {
    description: 'a worker stands still for up to its timeout, and is lost when that is over',
    probability: 0.001,
  },
  'table throttled': { description: 'DynamoDB refuses a call for now', probability: 0.006 },
  'table conflict': {
    description: 'a write meets a transaction at the same item',
    probability: 0.03,
  },
  'table unreachable': {
    description: 'a call to DynamoDB is lost, and its repeat too',
    probability: 0.004,
  },
  'table result unknown': {
    description: 'a write is done, and the answer is lost',
    probability: 0.008,
  },
  'table call repeated': {
    description: 'the answer is lost and the SDK repeats the call, which is done twice',
    probability: 0.01,
  },
  'page cut short': {
    description: 'a query gives fewer items than there are, and says where to go on',
    probability: 0.1,
  },
  'read in part': {
    description: 'a batch of reads leaves some of them for later',
    probability: 0.1,
  },
  'index late': { description: 'an index shows a write up to a minute later', probability: 0.2 },
  'queue unreachable': { description: 'a call to SQS is lost', probability: 0.006 },
  'queue result unknown': {
    description: 'a message is sent, and the answer is lost',
    probability: 0.008,
  },
  'queue takes a part': { description: 'SQS refuses some messages of a batch', probability: 0.01 },
  'message twice': {
    description: 'a message is delivered twice, at once or later',
    probability: 0.06,
  },
  'message late': { description: 'a message comes up to two minutes late', probability: 0.05 },
  'message lost': { description: 'a message is gone', probability: 0.01 },
  'record twice': {
    description: 'stream records come again after they were taken',
    probability: 0.05,
  },
  'record late': {
    description: 'the stream stands still for up to two minutes',
    probability: 0.02,
  },
  'record lost': { description: 'a stream record is gone', probability: 0.008 },
  'timer late': { description: 'a schedule fires up to a minute late', probability: 0.5 },
  'timer twice': { description: 'a schedule fires twice', probability: 0.2 },
  'timer never': { description: 'a schedule never fires', probability: 0.15 },
  'scheduler unreachable': { description: 'a call to Scheduler is lost', probability: 0.02 },
  'schedule result unknown': {
    description: 'a schedule is made, and the answer is lost',
    probability: 0.03,
  },
  'run missed': { description: 'a nightly run or a sweep is not set off', probability: 0.12 },
  'night missed': { description: 'no run of a night is set off', probability: 0.5, share: 0.5 },
  'run twice': { description: 'a nightly run or a sweep is set off twice', probability: 0.12 },
  'report not written': { description: 'S3 fails', probability: 0.15 },
  'clock skew': { description: 'a worker has another time, up to 5 s away', probability: 1 },
  'answer lost': { description: 'a caller gets no answer, and asks again', probability: 0.06 },
  'asked twice at once': {
    description: 'a caller sends a request twice at once',
    probability: 0.06,
  },
  'bank silent': { description: 'a bank takes nothing and says nothing', probability: 0.04 },
  'bank accepts in silence': {
    description: 'a bank takes a debit and gives no answer',
    probability: 0.05,
  },
  'bank breaks off': {
    description: 'a bank takes a debit and breaks off its answer',
    probability: 0.05,
  },
  'bank talks nonsense': {
    description: 'a bank answers what nobody understands',
    probability: 0.04,
  },
  'bank down': { description: 'a bank answers 503, or takes no connection', probability: 0.04 },
  'receiver refuses': { description: 'a receiver takes no connection', probability: 0.2 },
  'receiver silent': {
    description: 'a receiver takes a webhook and never answers',
    probability: 0.03,
  },
  'receiver slow': {
    description: 'a receiver answers after two to nine seconds',
    probability: 0.03,
  },
  'receiver breaks off': {
    description: 'a receiver breaks off before it answers',
    probability: 0.04,
  },
  'receiver answers 5xx': {
    description: 'a receiver answers 500, 502, 503 or 504',
    probability: 0.08,
  },
  'receiver asks for time': {
    description: 'a receiver answers 408, or 429 with Retry-After',
    probability: 0.04,
  },
  'receiver refuses for good': {
    description: 'a receiver answers 4xx, 3xx or 501',
    probability: 0.03,
  },
  'receiver unknown': {
    description: 'a host has no address, or no certificate',
    probability: 0.02,
  },
  'receiver flaps': { description: 'a receiver is down for some minutes', probability: 0.25 },
  'table outage': {
    description: 'DynamoDB refuses every call for up to ten minutes',
    probability: 1,
    share: 0.05,
  },
  'queue outage': {
    description: 'SQS refuses every call for up to ten minutes',
    probability: 1,
    share: 0.05,
  },
} as const satisfies Record<string, Fault>

export type FaultName = keyof typeof faults
export const faultNames = Object.keys(faults) as FaultName[]

const SHARE = 0.16

export type Faults = ReturnType<typeof newFaults>

/** The highest probability that the intensity can raise a fault to. */
const WELL_SHARE = 0.5

/** @param intensity multiplies the probabilities */
export const newFaults = (random: Random, wanted: ReadonlySet<FaultName>, intensity: number) => {
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
    /** Counts a fault that was drawn before. */
    hit,
    has: (name: FaultName): boolean => !isOver && wanted.has(name),
    /** Draws whether a fault strikes. A fault that the scenario lacks draws nothing. */
    strikes: (name: FaultName): boolean => {
      if (isOver || !wanted.has(name)) return false
      if (random.draw() >= (probability.get(name) ?? 0)) return false
      hit(name)
      return true
    },
    /** Stops all faults. */
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
