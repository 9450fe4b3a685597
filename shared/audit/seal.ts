import { hash } from 'node:crypto'
import { type Day, dayAfter } from '../domain/time.ts'
import { log } from '../log.ts'
import { measure } from '../metrics.ts'
import type { Runtime } from '../runtime.ts'
import { findRestore } from '../store/operator/restores.ts'
import { findClosing } from '../store/settlement/ledger-days.ts'
import { addSeal } from '../store/settlement/reconciliations.ts'
import { type FileDigest, nameFirstDay, putLines, putObject } from './bucket.ts'
import { canonical, differencesBetween, linesOf } from './lines.ts'
import {
  findSealed,
  findSealedBefore,
  GAP_DAYS_MAX,
  LATE,
  lateLine,
  type SealedContent,
  type SealedDay,
  type SealedResult,
  sealedLines,
} from './sealed-day.ts'
import { type Source, sources } from './sources.ts'

type Night = { date: Day; result: SealedResult | null }

/**
 * Seals a day and the days before it that no night has sealed. A day that has an object stays as it is,
 * so a repeat writes nothing.
 * @returns the object of the day; undefined if the day precedes the first sealed one
 */
export const sealNight = async (
  { date, result }: Night,
  runtime: Pick<Runtime, 'now'>,
): Promise<SealedDay | undefined> => {
  let last = (await findSealed(date)) ?? (await findSealedBefore(date))
  const first = last ? last.day : await firstDayOf(date)
  if (first > date) return undefined
  let sealed = 0
  while (last?.day !== date) {
    const day: Day = last ? dayAfter(last.day) : first
    last = await sealDay(day, last, day === date ? result : null, runtime)
    sealed += 1
  }
  measure({ DaysSealed: sealed })
  return last
}

/**
 * Returns the day that begins the chain of a day without a predecessor. Two nights at once, of which
 * neither finds an object, begin with the same day.
 */
const firstDayOf = async (date: Day): Promise<Day> => {
  const first = await nameFirstDay(date)
  return first < dayAfter(date, -GAP_DAYS_MAX) ? date : first
}

const sealDay = async (
  day: Day,
  previous: SealedDay | undefined,
  reconciliation: SealedResult | null,
  { now }: Pick<Runtime, 'now'>,
): Promise<SealedDay> => {
  const digests: Record<string, FileDigest> = {}
  for (const [name, { records }] of Object.entries(sources))
    digests[name] = await putLines(day, name, textsOf(records(day)))
  const late = await putLines(day, LATE, lateLines(previous))
  if (late.count > 0) log.error('late audit records', { day: previous?.day, records: late.count })
  const [restore, closing] = await Promise.all([findRestore(), findClosing(day)])
  const content: SealedContent = {
    ...{ day, sources: digests, late, reconciliation },
    generation: restore?.generation ?? 1,
    previous: previous ? { day: previous.day, sha256: previous.sha256 } : null,
    sealed_at: now(),
    balances: closing?.day === day ? closing.balances : null,
  }
  const text = `${canonical(content)}\n`
  // First: a crash in between leaves a digest without an object, which does no harm.
  await addSeal(day, hash('sha256', text))
  await putObject(day, text)
  const stored = await findSealed(day)
  if (!stored) throw new Error(`The audit object of ${day} is gone`)
  return stored
}

async function* textsOf(records: ReturnType<Source['records']>): AsyncGenerator<string> {
  for await (const { text } of linesOf(records)) yield text
}

/** Yields the records of a sealed day that its object lacks. */
async function* lateLines(previous: SealedDay | undefined): AsyncGenerator<string> {
  if (!previous) return
  const { day } = previous
  for (const [name, { records }] of Object.entries(sources)) {
    if (!previous.content?.sources[name]) continue
    const differences = differencesBetween(
      () => sealedLines(day, name, undefined),
      () => linesOf(records(day)),
    )
    for await (const { kind, line } of differences)
      if (kind === 'inserted') yield lateLine(day, name, line)
  }
}
