import { DAY_MS, type Day, dayAfter, HOUR_MS, startOf } from '../domain/time.ts'
import { mapConcurrent } from '../store/concurrent.ts'
import { findRestore } from '../store/operator/restores.ts'
import { findClosing } from '../store/settlement/ledger-days.ts'
import { findRun } from '../store/settlement/reconciliations.ts'
import type { DayVerdict } from '../views/operator/change.ts'
import { readDigest } from './bucket.ts'
import { canonical, differencesBetween, type LineDifference, linesOf } from './lines.ts'
import {
  findSealed,
  GAP_DAYS_MAX,
  LATE,
  type SealedContent,
  type SealedDay,
  sealedLines,
} from './sealed-day.ts'
import { type Source, sources } from './sources.ts'

/** Compares the sealed days with their objects, their files and the table. */

const OK = 'ok'
const OPEN = 'open'

export const isDifference = ({ result }: DayVerdict): boolean => result !== OK && result !== OPEN

const READS_AT_ONCE = 16
const DAYS_AT_ONCE = 4

const daysBetween = (from: Day, to: Day): Day[] => {
  const count = Math.round((startOf(to).getTime() - startOf(from).getTime()) / DAY_MS) + 1
  return Array.from({ length: Math.max(count, 0) }, (_, n) => dayAfter(from, n))
}

/** The objects around a span of days, by the day of their key. */
type Chain = { byDay: ReadonlyMap<Day, SealedDay>; generation: number; now: Date }

const loadChain = async (from: Day, to: Day, now: Date): Promise<Chain> => {
  const days = daysBetween(dayAfter(from, -GAP_DAYS_MAX), dayAfter(to, GAP_DAYS_MAX)).filter(
    (day) => startOf(day) < now,
  )
  const found = await mapConcurrent(days, READS_AT_ONCE, findSealed)
  const objects = found.filter((object) => object !== undefined)
  // In a drill, the table is older than objects that were sealed after `now`: these are not checked.
  const isLater = ({ content }: SealedDay) => content && new Date(content.sealed_at) > now
  const last = objects.findLastIndex((object) => !isLater(object))
  return {
    byDay: new Map(objects.slice(0, last + 1).map((object) => [object.day, object])),
    generation: (await findRestore())?.generation ?? 1,
    now,
  }
}

/** @returns undefined if the time was up first */
export const verifyDays = async (
  { from, to }: { from: Day; to: Day },
  now: Date,
  timeIsUp: () => boolean,
): Promise<DayVerdict[] | undefined> => {
  const chain = await loadChain(from, to, now)
  const verdicts = await mapConcurrent(daysBetween(from, to), DAYS_AT_ONCE, async (day) =>
    timeIsUp() ? undefined : { day, result: (await resultOfDay(day, chain)) ?? OK },
  )
  return verdicts.includes(undefined) ? undefined : (verdicts as DayVerdict[])
}

/** Two nights after the day, its object should exist: each night seals the ones before. */
const isOverdue = (day: Day, now: Date): boolean =>
  now.getTime() >= startOf(dayAfter(day, 2)).getTime() + 6 * HOUR_MS

/** Returns the SHA-256 that the run of a day names, unless this is of one of its objects. */
const otherSeal = async (day: Day, sha256 = ''): Promise<string | undefined> => {
  const { sealed, seals } = (await findRun(day)) ?? {}
  return sealed === sha256 || seals?.includes(sha256) ? undefined : sealed
}

const resultOfAbsent = async (day: Day, { byDay, now }: Chain): Promise<string> => {
  const sealed = await findSealed(day)
  const other = await otherSeal(day, sealed?.sha256)
  if (other) return `missing: the object with SHA-256 ${other}`
  // A night has sealed the day after `now`, or after the chain was read.
  if (sealed) return OPEN
  const others = [...byDay.keys()].sort()
  if (!others[0] || others[0] > day) return OPEN
  const later = others.find((other) => other > day)
  if (later) return `missing: the object between others; the next is of ${later}`
  return isOverdue(day, now) ? 'missing: no night has sealed the day' : OPEN
}

/** Returns the first difference of a day; undefined if it has none. */
const resultOfDay = async (day: Day, chain: Chain): Promise<string | undefined> => {
  const sealed = chain.byDay.get(day)
  if (!sealed) return resultOfAbsent(day, chain)
  const { content } = sealed
  if (!content) return 'altered: the object is not readable'
  if (content.day !== day) return `swapped: the object is of ${content.day}`
  const next = chain.byDay.get(dayAfter(day))
  return (
    (await linkDifference(sealed, content, next, chain)) ??
    (await fileDifference(day, content)) ??
    (await recordDifference(day, content, next, chain)) ??
    (await balanceDifference(day, content, chain))
  )
}

const linkDifference = async (
  { day, sha256 }: SealedDay,
  { previous }: SealedContent,
  next: SealedDay | undefined,
  { byDay }: Chain,
): Promise<string | undefined> => {
  const other = await otherSeal(day, sha256)
  if (other) return `altered: its SHA-256 was ${other}`
  const named = next?.content?.day === next?.day ? next?.content?.previous : undefined
  if (named && named.sha256 !== sha256) return `altered: its SHA-256 was ${named.sha256}`
  const before = byDay.get(dayAfter(day, -1))
  if (!previous) return before && 'broken link: the object names no predecessor'
  if (!before) return `broken link: the object of ${previous.day} is missing`
  return previous.day === before.day && previous.sha256 === before.sha256
    ? undefined
    : `broken link: the object names another one of ${previous.day}`
}

const fileDifference = async (day: Day, { sources, late }: SealedContent) => {
  for (const [name, digest] of Object.entries({ ...sources, [LATE]: late })) {
    const stored = await readDigest(day, name)
    const file = `${day}/${name}.ndjson`
    if (!stored) return `missing: ${file}`
    if (stored.sha256 === digest.sha256) continue
    return stored.count < digest.count
      ? `truncated: ${file} has ${stored.count} of ${digest.count} lines`
      : `altered: ${file}`
  }
  return undefined
}

const hasExpired = ({ keptDays }: Source, day: Day, now: Date): boolean => {
  const days = keptDays?.()
  return days !== undefined && startOf(dayAfter(day, days)) <= now
}

const recordDifference = async (
  day: Day,
  content: SealedContent,
  next: SealedDay | undefined,
  { generation, now }: Chain,
): Promise<string | undefined> => {
  const isRestored = content.generation < generation
  for (const [name, source] of Object.entries(sources)) {
    if (!content.sources[name] || hasExpired(source, day, now)) continue
    const current = () => linesOf(source.records(day))
    let first: LineDifference | undefined
    let lastAt: string | undefined
    for await (const difference of differencesBetween(
      () => sealedLines(day, name, next),
      current,
    )) {
      if (isRestored && difference.kind === 'removed') {
        lastAt ??= await latest(current())
        // The restored table lacks the end of the day, perhaps within the last millisecond it has.
        if (difference.line.at >= lastAt) continue
      }
      if (!first || difference.line.at < first.line.at) first = difference
    }
    if (first) return `${first.kind}: ${name} ${first.line.id}`
  }
  return undefined
}

const latest = async (lines: ReturnType<typeof linesOf>): Promise<string> => {
  let last = ''
  for await (const { at } of lines) if (at > last) last = at
  return last
}

/** Balances after a restore may lack what it undid. */
const balanceDifference = async (
  day: Day,
  { balances, generation }: SealedContent,
  chain: Chain,
): Promise<string | undefined> => {
  if (!balances || generation < chain.generation) return undefined
  const closing = await findClosing(day)
  if (closing?.day !== day) return 'removed: the closing balances of the ledger'
  return canonical(closing.balances) === canonical(balances)
    ? undefined
    : 'altered: the closing balances of the ledger'
}
