import { type Debit, stateAt } from '../domain/debits/debit.ts'
import { lifecycle } from '../domain/debits/lifecycle.ts'
import type { BatchId, Reference } from '../domain/ids.ts'
import type { Line } from '../domain/settlement/batch.ts'
import { adjustmentLine, debitLine } from '../domain/settlement/line.ts'
import type { Runtime } from '../runtime.ts'
import { type Building, findOpenBatch, replaceBatch } from '../store/settlement/batches.ts'
import type { HeldLanes } from '../store/settlement/build-lease.ts'
import {
  addLines,
  findLaneEnd,
  type LaneEnd,
  LINES_PER_CHUNK,
  type LineEntry,
} from '../store/settlement/lines.ts'
import { finishBatch, sealBatch } from './seal.ts'

/** An unsettled or reversed debit, and its line if it is settled. */
export type Candidate = { debit: Debit; settled: Line | undefined }

export type BuildScope = Parameters<typeof findOpenBatch>[0] & {
  /** Debits completed or reversed before are settled. */
  before: Date
  sweptBefore: Date
  linesMax: number
}

/** Memory: a read debit has about 3 kB. */
const CHUNKS_QUEUED_MAX = 4

/** Returns the lane of a debit; digits of base 36 are random, and each lane gets as many. */
export const laneOf = (reference: Reference, lanes: number): number =>
  Number.parseInt(reference.slice(-2), 36) % lanes

type LaneWriter = {
  lane: number
  waiting: Candidate[]
  /** The chunks that are not written yet, in order. */
  queue: Promise<void>[]
  last: Promise<void>
  place?: { building: Building; end: LaneEnd } | undefined
}

/**
 * Writes lines in lanes: chunk after chunk in each, and concurrently in different ones. A builder without
 * a lease on a lane settles nothing twice, but both repeat each other's transactions.
 */
export const openLanes = (scope: BuildScope, { held, lanes }: HeldLanes, runtime: Runtime) => {
  const batches = new Set<BatchId>()
  const own = new Map(held.map((lane) => [lane, newLane(lane)]))
  const open = openBatches(scope, lanes, runtime)
  const write = lineWriter(scope, open, { batches, runtime })
  let added = 0

  const enqueue = async (lane: LaneWriter, candidates: readonly Candidate[]): Promise<void> => {
    lane.last = lane.last.then(() => write(lane, candidates))
    // Awaited below; until then, a failure is not unhandled.
    lane.last.catch(() => undefined)
    lane.queue.push(lane.last)
    if (lane.queue.length > CHUNKS_QUEUED_MAX) await lane.queue.shift()
  }

  return {
    /** The batches that got lines. */
    batches,
    countAdded: () => added,
    isOwn: (reference: Reference) => own.has(laneOf(reference, lanes)),
    /** Writes full chunks, and keeps the rest. */
    add: async (candidates: readonly Candidate[]): Promise<void> => {
      for (const candidate of candidates) {
        const lane = own.get(laneOf(candidate.debit.facts.reference, lanes))
        if (!lane) continue
        added += 1
        lane.waiting.push(candidate)
        if (lane.waiting.length === LINES_PER_CHUNK) await enqueue(lane, lane.waiting.splice(0))
      }
    },
    /** Writes the rest. */
    flush: async (): Promise<void> => {
      for (const lane of own.values()) await enqueue(lane, lane.waiting.splice(0))
      await Promise.all([...own.values()].map(({ last }) => last))
    },
    /** Waits for writes in flight, also after a failure. */
    settle: () => Promise.allSettled([...own.values()].map(({ last }) => last)),
  }
}

/** Returns a function that writes the lines of candidates to the open batch, and seals full ones. */
const lineWriter = (
  scope: BuildScope,
  open: ReturnType<typeof openBatches>,
  { batches, runtime }: { batches: Set<BatchId>; runtime: Runtime },
) => {
  const placeOf = async ({ lane }: LaneWriter) => {
    const building = await open.find()
    const end = building.isNew
      ? { lane, chunk: 0, lines: 0 }
      : await findLaneEnd(building.batch.id, lane)
    return { building, end }
  }

  /** The worker that seals a full batch also writes its reports. */
  const finish = async (building: Building): Promise<void> => {
    const { id } = building.batch
    const isFirst = await sealBatch(id, runtime)
    open.leave(building)
    if (isFirst) await finishBatch(id, runtime)
  }

  return async (lane: LaneWriter, candidates: readonly Candidate[]): Promise<void> => {
    let rest = candidates
    while (rest.length > 0) {
      lane.place ??= await placeOf(lane)
      const { building, end } = lane.place
      const { batch } = building
      const room = Math.floor(scope.linesMax / (batch.lanes ?? 1)) - end.lines
      if (room <= 0) {
        lane.place = undefined
        await finish(building)
        continue
      }
      const some = rest.slice(0, room)
      const entries = entriesFor(building, some, scope.before)
      if (entries.length > 0) {
        const add = () => addLines(building, end, { entries, ...scope }, runtime)
        const result = building.isNew ? await open.openFirst(building, add) : await add()
        if (result.kind === 'changed') {
          const changed = new Set(result.references)
          rest = rest.filter(({ debit }) => !changed.has(debit.facts.reference))
          continue
        }
        if (result.kind === 'moved') {
          lane.place = undefined
          open.leave(building)
          continue
        }
        lane.place.end = result.end
        batches.add(batch.id)
      }
      rest = rest.slice(some.length)
    }
  }
}

const newLane = (lane: number): LaneWriter => ({
  lane,
  waiting: [],
  queue: [],
  last: Promise.resolve(),
})

/** The batch that the lanes of a builder fill. */
const openBatches = (scope: BuildScope, lanes: number, runtime: Runtime) => {
  let loading: Promise<Building> | undefined
  let current: Building | undefined
  let opening: Promise<unknown> = Promise.resolve()

  const load = async (): Promise<Building> => {
    for (;;) {
      const { batch, isNew } = await findOpenBatch(scope, runtime)
      if (lanes === 1 || batch.lanes) return { batch, isNew }
      if (isNew) return { batch: { ...batch, lanes }, isNew }
      const divided = await replaceBatch(batch, { ...batch, lanes })
      if (divided) return { batch: divided, isNew }
    }
  }

  return {
    find: async (): Promise<Building> => {
      loading ??= load()
      current = await loading
      return current
    },
    /** Makes the lanes find the open batch again. */
    leave: (building: Building): void => {
      if (current === building) loading = undefined
    },
    /** Lets one lane create a new batch; the others wait, and add their lines to it. */
    openFirst: (
      building: Building,
      add: () => ReturnType<typeof addLines>,
    ): ReturnType<typeof addLines> => {
      const first = opening.then(async (): ReturnType<typeof addLines> => {
        if (current !== building || !loading) return { kind: 'moved' }
        const added = await add()
        if (added.kind === 'added') building.isNew = false
        if (added.kind === 'moved') loading = undefined
        return added
      })
      opening = first.catch(() => undefined)
      return first
    },
  }
}

/** Leaves out debits that another run has settled and that a late index still lists. */
const entriesFor = (
  { batch }: Building,
  candidates: readonly Candidate[],
  before: Date,
): LineEntry[] =>
  candidates.flatMap(({ debit, settled }) => {
    const { status, settledIn, adjustedIn } = debit
    if (stateAt(debit).updatedAt >= before) return []
    const { settlement } = lifecycle[status]
    if (settlement === 'settle' && !settledIn) {
      return [{ debit, line: debitLine(debit, batch.feeSchedule) }]
    }
    // An adjustment is never in the batch of its line.
    const isReversal = settlement === 'adjust' && settled && !adjustedIn && settledIn !== batch.id
    return isReversal ? [{ debit, line: adjustmentLine(settled) }] : []
  })
