import type { ProviderId } from '../../domain/providers/provider.ts'
import { type Day, secondsAfter } from '../../domain/time.ts'
import type { Runtime } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { optimistically } from '../optimistic.ts'
import * as db from '../table.ts'
import { dueAttributes } from '../work-index.ts'

/**
 * The leases of the builders of a provider's batches of a day. A day has one lane, and a large day
 * several; each lane has one builder at a time. The record exists until all lanes are done, so that the
 * table's stream and the sweep continue it.
 */

export type BuildRecord = {
  provider: ProviderId
  date: Day
  lanes: number
  /** The lanes in work: who holds each, and until when. */
  leases: readonly { lane: number; holder: string; until: string }[]
  /** The lanes without unsettled debits. */
  done: readonly number[]
  /** Times that a builder left lanes to another one: at its time limit, or when it divided the day. */
  continuations: number
  /** Counts writes: the optimistic lock. */
  version: number
}

/** A worker ends within fifteen minutes, so a holder beyond that has crashed. */
const LEASE_SECONDS = 900

const WIDE_LANES = 8
/** Two builders share a large day: one writes as fast as its processor allows in four lanes. */
const LANES_PER_BUILDER = 4

/** The lanes that a builder holds, of all lanes of its day. */
export type HeldLanes = Pick<BuildRecord, 'provider' | 'date'> & {
  holder: string
  held: readonly number[]
  lanes: number
}

type BuildRuntime = Pick<Runtime, 'now' | 'newId'>

/** Acquires free lanes. Returns undefined when other builders hold all that are not done. */
export const acquireLanes = (
  { provider, date }: Pick<BuildRecord, 'provider' | 'date'>,
  { now, newId }: BuildRuntime,
): Promise<HeldLanes | undefined> => {
  const holder = newId()
  return change({ provider, date }, now, (record) => {
    const { lanes, leases, done } = record
    const build = { provider, date, holder, lanes }
    // A repeated write after a lost response finds its own leases.
    const own = leases.filter((lease) => lease.holder === holder).map(({ lane }) => lane)
    if (own.length > 0) return { result: { ...build, held: own } }
    const time = now().toISOString()
    const current = leases.filter(({ until }) => until > time)
    const taken = new Set([...done, ...current.map(({ lane }) => lane)])
    const held = lanesOf(lanes)
      .filter((lane) => !taken.has(lane))
      .slice(0, LANES_PER_BUILDER)
    if (held.length === 0) return { result: undefined }
    const until = secondsAfter(now(), LEASE_SECONDS).toISOString()
    const added = held.map((lane) => ({ lane, holder, until }))
    return { next: { ...record, leases: [...current, ...added] }, result: { ...build, held } }
  })
}

const lanesOf = (count: number): number[] => Array.from({ length: count }, (_, lane) => lane)

/** Divides a day of one lane. The stream starts a builder for the lanes beyond those that it holds. */
export const divideLanes = (build: HeldLanes, { now }: BuildRuntime): Promise<HeldLanes> =>
  change(build, now, (record) => {
    const { lanes } = record
    const leases = record.leases.filter(({ holder }) => holder === build.holder)
    const [own] = leases
    // The lease expired, and another builder continues; or a repeated write after a lost response.
    const result = { ...build, held: leases.map(({ lane }) => lane), lanes }
    if (!own || lanes > 1) return { result }
    const held = lanesOf(LANES_PER_BUILDER)
    const { continuations } = record
    return {
      next: {
        ...record,
        lanes: WIDE_LANES,
        leases: held.map((lane) => ({ ...own, lane })),
        continuations: continuations + 1,
      },
      result: { ...build, held, lanes: WIDE_LANES },
    }
  })

/**
 * Marks lanes as done unless they are the last ones.
 * @returns true if they are: their builder seals the batches and completes the build
 */
export const finishLanes = (build: HeldLanes, { now }: BuildRuntime): Promise<boolean> =>
  change(build, now, (record) => {
    const own = record.leases.filter(({ holder }) => holder === build.holder)
    const isLast = own.length > 0 && record.done.length + own.length === record.lanes
    if (isLast || own.length === 0) return { result: isLast }
    const done = [...record.done, ...own.map(({ lane }) => lane)]
    return { next: { ...without(record, build), done }, result: false }
  })

/** @param isContinued makes the stream start the next builder; otherwise the sweep does */
export const releaseLanes = (
  build: HeldLanes,
  { isContinued }: { isContinued: boolean },
  { now }: BuildRuntime,
): Promise<void> =>
  change(build, now, (record) => {
    if (!record.leases.some(({ holder }) => holder === build.holder)) return { result: undefined }
    const continuations = record.continuations + (isContinued ? 1 : 0)
    return { next: { ...without(record, build), continuations }, result: undefined }
  })

const without = (record: BuildRecord, { holder }: HeldLanes): BuildRecord => ({
  ...record,
  leases: record.leases.filter((lease) => lease.holder !== holder),
})

/** Removes the record of a build whose last lanes this builder holds. */
export const completeBuild = async ({ provider, date, holder }: HeldLanes): Promise<void> => {
  const record = await findBuild(provider, date)
  if (!record?.leases.some((lease) => lease.holder === holder)) return
  await db.remove(keys.build(provider, date), db.hasVersion(record.version))
}

export const fromBuildItem = (item: db.Item): BuildRecord => db.withoutKeys<BuildRecord>(item)

export const findBuild = (provider: ProviderId, date: Day): Promise<BuildRecord | undefined> =>
  db.find(keys.build(provider, date), fromBuildItem)

/** Changes the record, unless `decide` returns no `next`, and returns the result. */
const change = <T>(
  { provider, date }: Pick<BuildRecord, 'provider' | 'date'>,
  now: () => Date,
  decide: (record: BuildRecord) => { next?: BuildRecord; result: T },
): Promise<T> => {
  const key = keys.build(provider, date)
  const first = { provider, date, lanes: 1, leases: [], done: [], continuations: 0, version: 0 }
  const attempt = async (): Promise<{ result: T } | undefined> => {
    const found = await findBuild(provider, date)
    const { next, result } = decide(found ?? first)
    if (!next) return { result }
    const version = next.version + 1
    const ends = next.leases.map(({ until }) => until)
    const due = ends.length > 0 ? new Date(ends.sort()[0] as string) : now()
    const work = dueAttributes(key, due)
    const item = { ...key, entity: 'build', ...work, ...next, version }
    const condition = found ? db.hasVersion(found.version) : db.isNew
    return (await db.putIf(item, condition)) ? { result } : undefined
  }
  return optimistically(`Build ${provider} ${date}`, attempt).then(({ result }) => result)
}
